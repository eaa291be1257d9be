//! The rule that a message is a JSON object and never a list, for every struct of the protocol, nested ones included.
//!
//! A derived `Deserialize` also takes `["a", 1]` for `{"name": "a", "size": 1}`. On the wire that would make the order of
//! our members part of the protocol, so each message struct derives with `#[serde(remote = "Self")]` and is listed in
//! [`objects!`], which puts [`ObjectOnly`] in front of the derived code. No message type may be defined here.

use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;

/// Passes only JSON objects on to a derived struct.
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

/// Knows objects only, so that anything else is "invalid type: …, expected an object".
struct ObjectVisitor<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for ObjectVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        self.0.visit_map(map)
    }
}

/// Gives structs that derive with `#[serde(remote = "Self")]` their `Serialize` and `Deserialize`.
macro_rules! objects {
    ($($name:ident),+ $(,)?) => {$(
        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                // The derived, inherent function; it wins over the one of the trait.
                Self::deserialize($crate::object::ObjectOnly(deserializer))
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }
    )+};
}
pub(crate) use objects;
