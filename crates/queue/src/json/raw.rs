//! Views of values inside a text that the scanner has accepted. They borrow, and keep every byte.

use std::borrow::Cow;

use super::scan::{Scanner, SyntaxError};

/// One JSON value without white space around it, known to be valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a str);

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    /// The key, decoded.
    pub(crate) key: Cow<'a, str>,
    /// The value.
    pub(crate) value: Raw<'a>,
}

/// The JSON type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    /// The type with its article, for messages.
    pub(crate) const fn described(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

impl<'a> Raw<'a> {
    /// Checks a whole text that holds one value; white space around it and a byte-order mark before it are allowed.
    pub(crate) fn parse(text: &'a str) -> Result<Self, SyntaxError> {
        let mut scanner = Scanner::new(text, super::start(text));
        scanner.space();
        let range = scanner.value()?;
        scanner.end()?;
        Ok(Self(&text[range]))
    }

    /// A slice that the scanner gave as the range of a value.
    pub(crate) const fn trusted(text: &'a str) -> Self {
        Self(text)
    }

    /// The bytes of the value as they stand.
    pub(crate) const fn text(self) -> &'a str {
        self.0
    }

    /// The type, told by the first byte.
    pub(crate) fn kind(self) -> Type {
        match self.0.as_bytes().first() {
            Some(b'{') => Type::Object,
            Some(b'[') => Type::Array,
            Some(b'"') => Type::String,
            Some(b't' | b'f') => Type::Bool,
            Some(b'n') => Type::Null,
            _ => Type::Number,
        }
    }

    pub(crate) fn is_null(self) -> bool {
        self.kind() == Type::Null
    }

    /// The boolean, if it is one.
    pub(crate) fn as_bool(self) -> Option<bool> {
        (self.kind() == Type::Bool).then(|| self.0 == "true")
    }

    /// The decoded string, if it is one.
    pub(crate) fn as_str(self) -> Option<Cow<'a, str>> {
        if self.kind() != Type::String {
            return None;
        }
        let inner = &self.0[1..self.0.len() - 1];
        if inner.contains('\\') { Some(Cow::Owned(decode(inner))) } else { Some(Cow::Borrowed(inner)) }
    }

    /// The items, if it is an array.
    pub(crate) fn items(self) -> Option<Vec<Self>> {
        if self.kind() != Type::Array {
            return None;
        }
        let mut items = Vec::new();
        Scanner::new(self.0, 0).array(|item| items.push(Self(&self.0[item]))).ok()?;
        Some(items)
    }

    /// The members in order, repeated keys included, if it is an object.
    pub(crate) fn members(self) -> Option<Vec<Member<'a>>> {
        if self.kind() != Type::Object {
            return None;
        }
        let mut members = Vec::new();
        let visit = |key: std::ops::Range<usize>, value: std::ops::Range<usize>| {
            let key = Self(&self.0[key]).as_str().unwrap_or_default();
            members.push(Member { key, value: Self(&self.0[value]) });
        };
        Scanner::new(self.0, 0).object(visit).ok()?;
        Some(members)
    }
}

/// Decodes the inside of a string that the scanner accepted, so every escape is complete and every surrogate paired.
fn decode(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (c, length) = unescape(&rest[at..]);
        out.push(c);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out
}

/// The character of the escape that `text` begins with, and the escape's length in bytes.
fn unescape(text: &str) -> (char, usize) {
    let plain = match text.as_bytes().get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unescape_unit(text),
        Some(other) => char::from(*other),
        None => char::REPLACEMENT_CHARACTER,
    };
    (plain, 2)
}

fn unescape_unit(text: &str) -> (char, usize) {
    let unit = |from: usize| text.get(from..from + 4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let first = unit(2).unwrap_or(0xfffd);
    let second = if (0xd800..0xdc00).contains(&first) { unit(8) } else { None };
    let mut units = vec![first];
    units.extend(second);
    let c = char::decode_utf16(units).next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER);
    (c, if second.is_some() { 12 } else { 6 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_decode() {
        for (text, expected) in [
            (r#""plain""#, "plain"),
            (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
            (r#""a\u0000\u00e9\u2028""#, "a\0é\u{2028}"),
            (r#""\ud83e\udd80x""#, "🦀x"),
            (r#""é\u0041ü""#, "éAü"),
        ] {
            assert_eq!(Raw::parse(text).unwrap().as_str().unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn members_keep_order_bytes_and_repeats() {
        let raw = Raw::parse(" {\"b\" : 1.50, \"\\u0061\":[ ] ,\"b\":{}} ").unwrap();
        let members: Vec<_> =
            raw.members().unwrap().into_iter().map(|m| (m.key.into_owned(), m.value.text())).collect();
        assert_eq!(members, [("b".into(), "1.50"), ("a".into(), "[ ]"), ("b".into(), "{}")]);
        assert_eq!(raw.items(), None);
    }
}
