//! The id of a request, and how it is found in a line that is too long to be kept.

use serde_json::Value;

/// What an answer names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    Number(i64),
    Text(String),
}

impl Id {
    /// An id as MCP allows it: a whole number or a text.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => number.as_i64().map(Self::Number),
            Value::String(text) => Some(Self::Text(text.clone())),
            _ => None,
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Number(number) => Value::from(*number),
            Self::Text(text) => Value::from(text.as_str()),
        }
    }
}

/// Finds the member `id` of the outermost object while its bytes go by. It keeps a few hundred bytes whatever comes, and
/// assumes nothing: what is not JSON has no id.
#[derive(Debug, Default)]
pub(crate) struct IdFinder {
    depth: usize,
    string: Option<Escape>,
    token: Vec<u8>,
    is_id: bool,
    found: Option<Id>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    Begun,
}

/// Bytes of an id.
const LONGEST: usize = 300;

impl IdFinder {
    /// The next bytes of the line.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    /// The id, if one went by.
    pub(crate) fn found(self) -> Option<Id> {
        self.found
    }

    fn byte(&mut self, byte: u8) {
        if let Some(escape) = self.string {
            self.string = match (escape, byte) {
                (Escape::Begun, _) => Some(Escape::None),
                (Escape::None, b'\\') => Some(Escape::Begun),
                (Escape::None, b'"') => None,
                (Escape::None, _) => Some(Escape::None),
            };
            self.keep(byte);
            return;
        }
        match byte {
            b'"' => self.string = Some(Escape::None),
            b'{' | b'[' => {
                self.keep(byte);
                self.depth += 1;
                return;
            }
            b'}' | b']' => {
                self.end_member();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => return self.end_member(),
            b':' if self.depth == 1 => {
                self.is_id = self.token.trim_ascii() == br#""id""#;
                self.token.clear();
                return;
            }
            _ => {}
        }
        self.keep(byte);
    }

    /// Only what lies directly in the outermost object can be the key or the value.
    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= LONGEST {
            self.token.push(byte);
        }
    }

    fn end_member(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.is_id && self.token.len() <= LONGEST {
            self.found = serde_json::from_slice(&self.token).ok().as_ref().and_then(Id::of);
        }
        self.is_id = false;
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: impl Into<Option<Id>>) {
        let mut finder = IdFinder::default();
        line.as_bytes().chunks(3).for_each(|chunk| finder.feed(chunk));
        assert_eq!(finder.found(), expected.into(), "{line}");
    }

    #[test]
    fn an_id_is_found_wherever_it_stands() {
        check(r#"{"id":7,"method":"x"}"#, Id::Number(7));
        check(r#" { "params" : {"id":1,"a":[{"id":2}]} , "id" : "a\"}b" }"#, Id::Text("a\"}b".into()));
        check(r#"{"a":"\\","id":-3}"#, Id::Number(-3));
        check(r#"{"id":5,"params":{"packet":"never ends"#, Id::Number(5));
        check(r#"{"id":1,"id":2}"#, Id::Number(2));
    }

    #[test]
    fn what_is_no_id_is_none() {
        check(r#"{"params":{"id":1}}"#, None);
        check(r#"{"x":"\"id\":1"}"#, None);
        check(r#"["id",1]"#, None);
        check(r#"{"id":1.5}"#, None);
        check(r#"{"id":null}"#, None);
        check(r#"{"id":{"id":1}}"#, None);
        check(r#"{"id":[1]}"#, None);
        check(&format!(r#"{{"id":"{}"}}"#, "x".repeat(LONGEST)), None);
        check("}}}}]]]]\"", None);
        check("", None);
    }
}
