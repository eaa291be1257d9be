//! The identity of one dispatch. It travels inside RUNNING as `updated_by` (D13), so one write makes the binding durable.

use std::fmt;

/// 128 random bits, written as 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DispatchId(u128);

impl DispatchId {
    /// What stands before the digits in `updated_by`.
    const OWNER: &str = "handoffd/";

    /// An id from 128 bits that the caller drew at random.
    #[must_use]
    pub const fn from_random(bits: u128) -> Self {
        Self(bits)
    }

    /// Parses exactly 32 lower-case hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if plain { u128::from_str_radix(text, 16).ok().map(Self) } else { None }
    }

    /// The value of `updated_by` while this dispatch owns the task (D13).
    #[must_use]
    pub fn updated_by(self) -> String {
        format!("{}{self}", Self::OWNER)
    }

    /// The dispatch that an `updated_by` names, if it is one of ours.
    #[must_use]
    pub fn from_updated_by(value: &str) -> Option<Self> {
        value.strip_prefix(Self::OWNER).and_then(Self::parse)
    }
}

impl fmt::Display for DispatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for DispatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updated_by_round_trips() {
        let id = DispatchId::from_random(0xfeed_0001);
        assert_eq!(DispatchId::from_updated_by(&id.updated_by()), Some(id));
    }

    #[test]
    fn only_our_own_spelling_is_ours() {
        for text in ["handoffd", "handoffd/", "pi", "handoffd/ABCDEF", "handoffd/0000000000000000000000000000000G"] {
            assert_eq!(DispatchId::from_updated_by(text), None, "{text}");
        }
        assert_eq!(DispatchId::parse("+0000000000000000000000000000001"), None);
    }
}
