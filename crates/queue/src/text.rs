//! Small questions about text, and how foreign text is shown in messages. Nothing here knows a field of the protocol.

use std::fmt;

/// Values in messages are cut here, in Unicode scalar values.
const SHOWN_CHARS: usize = 60;

/// Whether nothing is left after removing Unicode white space (D5).
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Whether `text` holds one of the characters that end a line: U+000A–U+000D, U+0085, U+2028, U+2029 (D5).
pub(crate) fn has_line_break(text: &str) -> bool {
    text.contains(is_line_break)
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\u{a}'..='\u{d}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether `text` has more than `limit` Unicode scalar values; does not look further than it must.
pub(crate) fn is_longer_than(text: &str, limit: usize) -> bool {
    text.len() > limit && text.chars().nth(limit).is_some()
}

/// The first `limit` Unicode scalar values.
pub(crate) fn cut(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
}

/// Characters that move the cursor, break the line or turn the direction of what follows: never shown as they are.
fn is_unsafe_to_show(c: char) -> bool {
    c.is_control()
        || is_line_break(c)
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// `text` on one line: characters that are unsafe to show become spaces (D67).
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if is_unsafe_to_show(c) { ' ' } else { c }).collect()
}

/// `text` cut, with escapes for what is unsafe to show; for names inside messages.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(4 * SHOWN_CHARS));
    for c in cut(text, SHOWN_CHARS).chars() {
        if is_unsafe_to_show(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    if out.len() < text.len() && is_longer_than(text, SHOWN_CHARS) {
        out.push('…');
    }
    out
}

/// A value inside a message: in double quotes, cut and cleaned.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", clean(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_is_unicode_white_space_only() {
        for text in ["", " \t\n", "\u{a0}\u{2003}\u{3000}", "\u{85}"] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["a", "\u{200b}", "\u{feff}", "\0"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn lengths_are_scalar_values() {
        assert!(!is_longer_than("🦀🦀", 2));
        assert!(is_longer_than("🦀🦀🦀", 2));
        assert_eq!(cut("é🦀x", 2), "é🦀");
        assert_eq!(cut("ab", 2), "ab");
    }

    #[test]
    fn shown_text_cannot_move_the_cursor_or_turn_the_direction() {
        assert_eq!(Shown("a\u{1b}[2J\u{202e}b").to_string(), "\"a\\u{1b}[2J\\u{202e}b\"");
        assert_eq!(clean(&"x".repeat(61)), format!("{}…", "x".repeat(60)));
        assert_eq!(one_line("a\r\nb\u{2028}c"), "a  b c");
    }
}
