//! One pass over a JSON text: is it strict JSON (RFC 8259), and where do the values begin and end?
//!
//! Values are never built here. Depth is bounded, so recursion is too (D40).

use std::ops::Range;

use crate::limits::NESTING_LEVELS;

/// The first place where a text stops being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Byte offset into the scanned text.
    pub(crate) at: usize,
    /// What is wrong there.
    pub(crate) what: &'static str,
}

type Scan<T> = Result<T, SyntaxError>;

/// A position in a text.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    pos: usize,
    depth: usize,
}

impl<'a> Scanner<'a> {
    /// Starts at byte `pos` of `text`.
    pub(crate) fn new(text: &'a str, pos: usize) -> Self {
        Self { bytes: text.as_bytes(), pos, depth: 0 }
    }

    /// Passes over white space.
    pub(crate) fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.pos += 1;
        }
    }

    /// Accepts the end of the text.
    pub(crate) fn end(&mut self) -> Scan<()> {
        self.space();
        if self.pos == self.bytes.len() { Ok(()) } else { self.fail("there is text after the value") }
    }

    /// Passes over one value that begins here and gives its range.
    pub(crate) fn value(&mut self) -> Scan<Range<usize>> {
        let start = self.pos;
        match self.peek() {
            Some(b'{') => self.object(|_, _| {})?,
            Some(b'[') => self.array(|_| {})?,
            Some(b'"') => self.string()?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word(b"true")?,
            Some(b'f') => self.word(b"false")?,
            Some(b'n') => self.word(b"null")?,
            Some(_) => return self.fail("a value is expected"),
            None => return self.fail("the text ends where a value is expected"),
        }
        Ok(start..self.pos)
    }

    /// Passes over an object and tells each member: the ranges of its key (with quotes) and of its value.
    pub(crate) fn object(&mut self, mut member: impl FnMut(Range<usize>, Range<usize>)) -> Scan<()> {
        self.open()?;
        if self.closes(b'}') {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            self.colon()?;
            let value = self.value()?;
            member(key, value);
            if self.next(b'}')? {
                return Ok(());
            }
        }
    }

    /// Passes over an array and tells the range of each item.
    pub(crate) fn array(&mut self, mut item: impl FnMut(Range<usize>)) -> Scan<()> {
        self.open()?;
        if self.closes(b']') {
            return Ok(());
        }
        loop {
            item(self.value()?);
            if self.next(b']')? {
                return Ok(());
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    fn fail<T>(&self, what: &'static str) -> Scan<T> {
        Err(SyntaxError { at: self.pos, what })
    }

    fn open(&mut self) -> Scan<()> {
        if self.depth == NESTING_LEVELS {
            return self.fail("more than 127 levels of nesting");
        }
        self.depth += 1;
        self.pos += 1;
        self.space();
        Ok(())
    }

    fn closes(&mut self, close: u8) -> bool {
        let closes = self.peek() == Some(close);
        if closes {
            self.pos += 1;
            self.depth -= 1;
        }
        closes
    }

    fn key(&mut self) -> Scan<Range<usize>> {
        let start = self.pos;
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(_) => return self.fail("a key in double quotes is expected"),
            None => return self.fail("the text ends inside an object"),
        }
        Ok(start..self.pos)
    }

    fn colon(&mut self) -> Scan<()> {
        self.space();
        if self.peek() != Some(b':') {
            return self.fail("a colon is expected after a key");
        }
        self.pos += 1;
        self.space();
        Ok(())
    }

    /// After an item: true at the end of the container, false (and at the next item) after a comma.
    fn next(&mut self, close: u8) -> Scan<bool> {
        self.space();
        if self.closes(close) {
            return Ok(true);
        }
        match self.peek() {
            Some(b',') => self.pos += 1,
            Some(_) => return self.fail("a comma or the closing bracket is expected"),
            None => return self.fail("the text ends inside an object or array"),
        }
        self.space();
        Ok(false)
    }

    fn word(&mut self, word: &[u8]) -> Scan<()> {
        if !self.bytes[self.pos..].starts_with(word) {
            return self.fail("a value is expected");
        }
        self.pos += word.len();
        Ok(())
    }

    fn number(&mut self) -> Scan<()> {
        if self.peek() == Some(b'-') {
            self.pos += 1;
        }
        match self.peek() {
            Some(b'0') => self.pos += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.pos += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.pos += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.pos += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Scan<()> {
        let start = self.pos;
        while let Some(b'0'..=b'9') = self.peek() {
            self.pos += 1;
        }
        if self.pos == start { self.fail("a digit is expected") } else { Ok(()) }
    }

    /// Plain bytes are passed in an inner loop over the slice: strings are most of a document.
    fn string(&mut self) -> Scan<()> {
        self.pos += 1;
        loop {
            let bytes = self.bytes;
            let mut at = self.pos;
            while at < bytes.len() && bytes[at] >= 0x20 && bytes[at] != b'"' && bytes[at] != b'\\' {
                at += 1;
            }
            self.pos = at;
            match self.peek() {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return self.fail("a raw control character in a string"),
                None => return self.fail("the text ends inside a string"),
            }
        }
    }

    fn escape(&mut self) -> Scan<()> {
        match self.bytes.get(self.pos + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.pos += 2;
                Ok(())
            }
            Some(b'u') => self.unicode_escape(),
            _ => self.fail("an unknown escape in a string"),
        }
    }

    /// A surrogate is valid only as half of a pair (D40).
    fn unicode_escape(&mut self) -> Scan<()> {
        match self.code_unit()? {
            0xd800..=0xdbff if self.bytes[self.pos..].starts_with(b"\\u") => {
                let at = self.pos;
                match self.code_unit()? {
                    0xdc00..=0xdfff => Ok(()),
                    _ => Err(SyntaxError { at, what: "a lone surrogate escape" }),
                }
            }
            0xd800..=0xdfff => self.fail("a lone surrogate escape"),
            _ => Ok(()),
        }
    }

    /// Passes over `\uXXXX`.
    fn code_unit(&mut self) -> Scan<u32> {
        let mut unit = 0;
        for offset in 2..6 {
            let digit = self.bytes.get(self.pos + offset).and_then(|b| char::from(*b).to_digit(16));
            let Some(digit) = digit else { return self.fail("four hexadecimal digits are expected") };
            unit = unit * 16 + digit;
        }
        self.pos += 6;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, valid: bool) {
        let mut scanner = Scanner::new(text, 0);
        scanner.space();
        let scanned = scanner.value().and_then(|_| scanner.end());
        assert_eq!(scanned.is_ok(), valid, "{text:?}: {scanned:?}");
    }

    #[test]
    fn numbers_of_any_size() {
        for text in ["0", "-0", "-0.0e-0", "1e400", "1E+99999999999", "12345678901234567890", "0.10"] {
            check(text, true);
        }
        for text in ["-", "01", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "-Infinity", "1_0"] {
            check(text, false);
        }
    }

    #[test]
    fn strings_and_escapes() {
        for text in [r#""\ud83e\udd80""#, r#""\u0000""#, "\"\u{7f}\u{2028}\"", r#""\/\b\f\n\r\t\"\\""#, "\"\""] {
            check(text, true);
        }
        for text in [
            r#""\ud83e""#,
            r#""\udd80""#,
            r#""\ud83e\u0041""#,
            r#""\ud83e\n""#,
            r#""\ud83ex""#,
            r#""\u12G4""#,
            r#""\u+123""#,
            r#""\x41""#,
            "\"a\tb\"",
            "\"a\nb\"",
            "\"",
            "\"\\",
            "'a'",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn structure() {
        for text in ["{}", "[ ]", " {\"a\" :\r\n[1 , {\"b\":null}]} ", "true", "\t\"x\"\r"] {
            check(text, true);
        }
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "{\"a\":1 \"b\":2}",
            "[1 2]",
            "{]",
            "[}",
            "tru",
            "nulll",
            "{} {}",
            "//x\n{}",
            "{\"a\":}",
            "[,1]",
            "\u{feff}{}",
            "\u{a0}{}",
            "\u{c}{}",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn depth_of_127_is_the_last_one_read() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        check(&nested(127), true);
        check(&nested(128), false);
        check(&format!("[{}, {}]", nested(126), nested(126)), true);
        check(&"[".repeat(100_000), false);
        check(&"{\"a\":".repeat(100_000), false);
    }
}
