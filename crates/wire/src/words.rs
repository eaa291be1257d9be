//! Fixed words on the wire as enums: one table gives the variant, its spelling, its documentation and its schema.
//!
//! `closed` sets refuse any other word. `open` sets read an unknown word as their last variant, because a newer peer may
//! have more words and the rest of the message is still good. No enum of the protocol is defined here.

/// Defines a set of words.
macro_rules! words {
    ($(#[$meta:meta])* pub closed $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// The word as it stands on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <String as ::serde::Deserialize>::deserialize(deserializer)?;
                Self::from_word(&word).ok_or_else(|| ::serde::de::Error::unknown_variant(&word, Self::WORDS))
            }
        }

        $crate::words::words!(@common $name { $($variant = $word,)+ });
    };

    ($(#[$meta:meta])* pub open $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ } else $(#[$rest_doc:meta])* $rest:ident = $rest_word:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)+ $(#[$rest_doc])* $rest }

        impl $name {
            /// The word as it stands on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ Self::$rest => $rest_word }
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <String as ::serde::Deserialize>::deserialize(deserializer)?;
                Ok(Self::from_word(&word).unwrap_or(Self::$rest))
            }
        }

        $crate::words::words!(@common $name { $($variant = $word,)+ });
    };

    (@common $name:ident { $($variant:ident = $word:literal,)+ }) => {
        impl $name {
            /// Every word of the protocol, in the order of its document.
            pub const WORDS: &[&str] = &[$($word,)+];

            /// The member that `word` spells exactly.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({ "type": "string", "enum": Self::WORDS })
            }
        }
    };
}
pub(crate) use words;
