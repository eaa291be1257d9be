//! The closed lists of words: roles, kinds of assertions, grades of evidence. Each is read exactly as it is spelled, as a
//! JSON string and nothing else (D31).

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};
use std::fmt;

/// Defines an enum whose values are words.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// Every value, in the order of the specification.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];
            /// Every word, in the same order.
            pub const WORDS: &[&str] = &[$($word,)+];

            /// The word as it is written.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The value of this very word: no other case, no space around it.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Word;

                impl Visitor<'_> for Word {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_str<E: Error>(self, word: &str) -> Result<$name, E> {
                        $name::from_word(word).ok_or_else(|| E::unknown_variant(word, $name::WORDS))
                    }
                }

                deserializer.deserialize_str(Word)
            }
        }
    };
}

words! {
    /// A stage of a team.
    Role, "a role as a string" {
        /// Splits the goal up and hands it on.
        Planner = "planner",
        /// Does the work.
        Executor = "executor",
        /// Judges the work.
        Verifier = "verifier",
        /// Helps; has no stage of its own and so no edge.
        Utility = "utility",
    }
}

impl Role {
    /// The one role that this role may send packets to ("Legal edges"): planner → executor → verifier → executor.
    #[must_use]
    pub const fn sends_to(self) -> Option<Self> {
        match self {
            Self::Planner | Self::Verifier => Some(Self::Executor),
            Self::Executor => Some(Self::Verifier),
            Self::Utility => None,
        }
    }

    /// The role that this role owes a packet when its work on one is done: who executes owes its product to who verifies. A
    /// verifier sends one only if a repair is needed, and nothing is addressed to the others.
    #[must_use]
    pub const fn owes(self) -> Option<Self> {
        match self {
            Self::Executor => Some(Self::Verifier),
            Self::Planner | Self::Verifier | Self::Utility => None,
        }
    }
}

words! {
    /// What an acceptance assertion demands.
    AssertionKind, "a kind of assertion as a string" {
        /// The turn must call this tool at least once.
        MustUseTools = "must_use_tools",
        /// The turn must not call this tool.
        MustNotUseTools = "must_not_use_tools",
        /// The final answer must have this substring.
        OutputContains = "output_contains",
        /// The final answer must not have this substring.
        OutputNotContains = "output_not_contains",
    }
}

impl AssertionKind {
    /// The kind that demands the contrary.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::MustUseTools => Self::MustNotUseTools,
            Self::MustNotUseTools => Self::MustUseTools,
            Self::OutputContains => Self::OutputNotContains,
            Self::OutputNotContains => Self::OutputContains,
        }
    }

    /// Whether two values of this kind mean the same: tools in any ASCII case, substrings byte for byte. Nothing is
    /// trimmed.
    #[must_use]
    pub fn same_value(self, one: &str, other: &str) -> bool {
        match self {
            Self::MustUseTools | Self::MustNotUseTools => one.eq_ignore_ascii_case(other),
            Self::OutputContains | Self::OutputNotContains => one == other,
        }
    }
}

words! {
    /// How well the upstream role's observations are evidenced. The three are never mixed up: no record of a tool call is
    /// not the record of no call.
    #[derive(Default)]
    Fidelity, "a fidelity as a string" {
        /// Native tool events and the MCP audit.
        Full = "full",
        /// The MCP audit alone.
        McpOnly = "mcp_only",
        /// No tool evidence at all.
        #[default]
        None = "none",
    }
}
