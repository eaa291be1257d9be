//! The canonical form of a value for fingerprints: keys sorted, no white space, numbers as written, strings decoded and
//! written again with the fewest escapes (D10). One pass, so that deep nesting costs no re-scanning.

use super::raw::Raw;

/// The canonical text of a value that the scanner accepted.
pub(crate) fn canonical(value: Raw<'_>) -> String {
    let text = value.text();
    let mut out = String::with_capacity(text.len());
    Walk { text, pos: 0 }.value(&mut out);
    out
}

/// Reads a known-valid text. Recursion is bounded by the scanner's depth limit.
struct Walk<'a> {
    text: &'a str,
    pos: usize,
}

impl<'a> Walk<'a> {
    fn value(&mut self, out: &mut String) {
        match self.peek() {
            Some(b'{') => self.object(out),
            Some(b'[') => self.array(out),
            Some(b'"') => {
                let string = self.string();
                push_string(string, out);
            }
            _ => out.push_str(self.plain()),
        }
    }

    fn array(&mut self, out: &mut String) {
        out.push('[');
        self.skip();
        while let Some(byte) = self.peek() {
            match byte {
                b']' => break,
                b',' => {
                    out.push(',');
                    self.skip();
                }
                _ => self.value(out),
            }
            self.space();
        }
        self.pos += 1;
        out.push(']');
    }

    /// Members are sorted by key; repeated keys keep their order, so that a change of either shows.
    fn object(&mut self, out: &mut String) {
        let mut members = Vec::new();
        self.skip();
        while let Some(b'"' | b',') = self.peek() {
            if self.peek() == Some(b',') {
                self.skip();
                continue;
            }
            let mut key = String::new();
            let string = self.string();
            push_string(string, &mut key);
            self.space();
            self.skip();
            let mut value = String::new();
            self.value(&mut value);
            self.space();
            members.push((key, value));
        }
        self.pos += 1;
        members.sort_by(|a, b| a.0.cmp(&b.0));
        out.push('{');
        for (index, (key, value)) in members.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(key);
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    /// Passes over one byte of punctuation and the white space after it.
    fn skip(&mut self) {
        self.pos += 1;
        self.space();
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.pos += 1;
        }
    }

    fn string(&mut self) -> Raw<'a> {
        let start = self.pos;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        while at < bytes.len() && bytes[at] != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        self.pos = (at + 1).min(bytes.len());
        Raw::trusted(&self.text[start..self.pos])
    }

    fn plain(&mut self) -> &'a str {
        let start = self.pos;
        self.pos += 1;
        while let Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') = self.peek() {
            self.pos += 1;
        }
        &self.text[start..self.pos]
    }
}

/// A string without a backslash is canonical already: only the quote, the backslash and control characters need an
/// escape, and the scanner lets none of them in unescaped.
fn push_string(string: Raw<'_>, out: &mut String) {
    match string.as_str() {
        Some(std::borrow::Cow::Owned(decoded)) => out.push_str(&super::quote(&decoded)),
        _ => out.push_str(string.text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(canonical(Raw::parse(text).unwrap()), expected, "{text}");
    }

    #[test]
    fn forms() {
        check(" { \"b\" : [ 1.50 , -0, { } , [ ] ],\r\n\"a\":\"\\u0041\\/\" } ", r#"{"a":"A/","b":[1.50,-0,{},[]]}"#);
        check(r#"{"k":1,"\u006b":2,"a":{"z":1,"y":2}}"#, r#"{"a":{"y":2,"z":1},"k":1,"k":2}"#);
        check(r#""\u000a\ud83e\udd80\u007f""#, "\"\\n🦀\u{7f}\"");
        check("\"{[,:]}\"", "\"{[,:]}\"");
        check("1e400", "1e400");
    }
}
