//! Writing JSON: quoting a string, and laying a raw value out anew without touching its numbers and strings.

/// `text` as a JSON string with the fewest escapes.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A raw value without white space. It holds no line break then: a string cannot hold one unescaped.
pub(crate) fn compact(raw: &str) -> String {
    relayout(raw, |_, _, _| {})
}

/// A raw value on one line, with a space after each comma and colon.
pub(crate) fn spaced(raw: &str) -> String {
    relayout(raw, |out, token, _| {
        if matches!(token, b',' | b':') {
            out.push(' ');
        }
    })
}

/// A raw value over several lines. `newline` ends each line and is followed by `indent` once for each level, the
/// value's own level being `level`.
pub(crate) fn pretty(raw: &str, newline: &str, indent: &str, level: usize) -> String {
    relayout(raw, |out, token, depth| match token {
        b'{' | b'[' | b',' | b'}' | b']' => {
            out.push_str(newline);
            out.push_str(&indent.repeat(level + depth));
        }
        b':' => out.push(' '),
        _ => {}
    })
}

/// Copies the tokens of a valid value. `gap` is asked to write what stands after an opening bracket, comma or colon
/// and before a closing bracket; it is told the depth inside which that happens. Empty containers stay closed up.
fn relayout(raw: &str, gap: impl Fn(&mut String, u8, usize)) -> String {
    let bytes = raw.as_bytes();
    let mut out = String::with_capacity(raw.len() + raw.len() / 8);
    let mut depth = 0_usize;
    let mut opened = None;
    let mut pos = 0;
    while pos < bytes.len() {
        let (start, token) = (pos, bytes[pos]);
        pos = token_end(bytes, start);
        if matches!(token, b' ' | b'\t' | b'\n' | b'\r') {
            continue;
        }
        let closes = matches!(token, b'}' | b']');
        if closes {
            depth = depth.saturating_sub(1);
        }
        match opened.take() {
            Some(open) if !closes => gap(&mut out, open, depth),
            None if closes => gap(&mut out, token, depth),
            _ => {}
        }
        out.push_str(&raw[start..pos]);
        match token {
            b'{' | b'[' => {
                depth += 1;
                opened = Some(token);
            }
            b',' | b':' => gap(&mut out, token, depth),
            _ => {}
        }
    }
    out
}

/// Where the token at `start` ends: strings, numbers and words are one token, all else one byte.
fn token_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    match bytes[start] {
        b'"' => {
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            (at + 1).min(bytes.len())
        }
        b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
            while at < bytes.len() && matches!(bytes[at], b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')
            {
                at += 1;
            }
            at
        }
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &str = "{ \"a, b\" : [ 1.50 ,\r\n\"x\\\"}\" , [ ] ] ,\"c\":{ }, \"d\":{\"e\":null}}";

    #[test]
    fn layouts() {
        assert_eq!(compact(RAW), r#"{"a, b":[1.50,"x\"}",[]],"c":{},"d":{"e":null}}"#);
        assert_eq!(spaced(RAW), r#"{"a, b": [1.50, "x\"}", []], "c": {}, "d": {"e": null}}"#);
        let expected = "{\n    \"a, b\": [\n      1.50,\n      \"x\\\"}\",\n      []\n    ],\n    \"c\": {},\n    \
                        \"d\": {\n      \"e\": null\n    }\n  }";
        assert_eq!(pretty(RAW, "\n", "  ", 1), expected);
    }

    #[test]
    fn scalars_are_copied() {
        for text in ["-1e+400", "true", "null", "\"a b\\\\\"", "[]"] {
            assert_eq!(compact(text), text);
            assert_eq!(pretty(text, "\n", "  ", 3), text);
        }
    }
}
