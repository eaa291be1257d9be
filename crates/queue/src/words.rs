//! The fixed words of the queue protocol. All are case-sensitive.

/// A closed list of words.
pub(crate) trait Word: Copy + 'static {
    /// Every word, in the order of the protocol.
    const WORDS: &'static [Self];

    /// The word as it stands in the file.
    fn word(self) -> &'static str;

    /// The value that `text` names exactly.
    fn from_text(text: &str) -> Option<Self> {
        Self::WORDS.iter().copied().find(|word| word.word() == text)
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* #[doc = concat!("`", $text, "`")] $variant,)* }

        impl $name {
            /// Every value, in the order of the protocol.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word as it stands in the file.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The value that `word` names exactly.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                <Self as Word>::from_text(word)
            }
        }

        impl Word for $name {
            const WORDS: &'static [Self] = Self::ALL;

            fn word(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// The state of the one task in the file.
    Status {
        /// No task:
        Idle = "IDLE",
        /// The planner wants it done:
        Pending = "PENDING",
        /// A dispatch owns it:
        Running = "RUNNING",
        /// Ended with accepted evidence:
        Complete = "COMPLETE",
        /// Ended otherwise:
        Error = "ERROR",
    }
}

words! {
    /// What kind of work a task is.
    TaskType {
        /// Writes:
        Implement = "IMPLEMENT",
        /// Writes:
        Test = "TEST",
        /// Writes:
        Document = "DOCUMENT",
        /// Reads only:
        Consult = "CONSULT",
        /// Reads only:
        Review = "REVIEW",
    }
}

words! {
    /// The role that the planner asks for; it must fit the task type (D9).
    RequiredRole {
        /// Fits tasks that write:
        Writer = "writer",
        /// Fits tasks that only read:
        ReadOnly = "read-only",
        /// Fits every task:
        Any = "any",
    }
}

words! {
    /// An independent look at the work. A gate's COMPLETE means that it took place, not that it approved.
    Gate {
        /// No gate:
        None = "none",
        /// Advice before the work:
        ConsultBefore = "consult-before",
        /// A review after the work:
        ReviewAfter = "review-after",
    }
}

impl TaskType {
    /// The role that the worker's profile must have (D9, D27).
    #[must_use]
    pub const fn role(self) -> crate::AcceptanceRole {
        match self {
            Self::Implement | Self::Test | Self::Document => crate::AcceptanceRole::Writer,
            Self::Consult | Self::Review => crate::AcceptanceRole::ReadOnly,
        }
    }

    /// Whether tasks of this type change files.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self.role(), crate::AcceptanceRole::Writer)
    }
}
