//! The rule that a struct is a JSON object and never a list, for every struct of a packet (D31).
//!
//! A derived `Deserialize` also takes `["c1", "text"]` for `{"id": "c1", "text": "text"}`. So each struct is declared
//! through [`object!`], which puts [`ObjectOnly`] in front of the derived code.

use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;

/// Passes only objects on to a derived struct.
pub(crate) struct ObjectOnly<D>(pub(crate) D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ObjectOnly<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(ObjectVisitor(visitor))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Knows objects only. Anything else is "invalid type: …, expected struct Constraint", say, as the derived code words it.
struct ObjectVisitor<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for ObjectVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        self.0.visit_map(map)
    }
}

/// Declares a struct that is read from an object only, without unknown and without repeated keys.
///
/// The derived reader belongs to a twin inside of the function, so that nobody can call it and get past [`ObjectOnly`].
macro_rules! object {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, ::serde::Serialize)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)+
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(::serde::Deserialize)]
                #[serde(deny_unknown_fields)]
                struct $name {
                    $($(#[$field_meta])* $field: $type,)+
                }

                let twin: $name = ::serde::Deserialize::deserialize($crate::object::ObjectOnly(deserializer))?;
                Ok(Self { $($field: twin.$field,)+ })
            }
        }
    };
}
pub(crate) use object;
