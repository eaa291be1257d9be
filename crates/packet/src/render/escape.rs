//! How a value of a packet is written into a prompt: on one line, and as nothing but text.
//!
//! Character references do it, since they can be undone without doubt: `&` itself is written as one. Whatever some reader
//! may take for a line break is escaped, as are `<` and `>` (tags, fences of markup), characters that reorder or hide text,
//! and a first character that could begin a block of Markdown (a heading, its underline, a fence, a list).

use std::fmt::{self, Display, Write as _};

/// A value, displayed so that it cannot leave its line.
pub(super) struct Value<'a>(pub(super) &'a str);

/// As [`Value`], inside of square brackets, which it cannot close.
pub(super) struct Bracketed<'a>(pub(super) &'a str);

impl Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0, |_| false)
    }
}

impl Display for Bracketed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('[')?;
        write(f, self.0, |c| matches!(c, '[' | ']'))?;
        f.write_char(']')
    }
}

fn write(f: &mut fmt::Formatter<'_>, text: &str, also: impl Fn(char) -> bool) -> fmt::Result {
    if text.trim().is_empty() {
        return f.write_str("(blank)");
    }
    let first = text.len() - text.trim_start_matches(|c: char| c.is_whitespace() || only_joins(c)).len();
    for (at, c) in text.char_indices() {
        match c {
            '&' => f.write_str("&amp;")?,
            '<' => f.write_str("&lt;")?,
            '>' => f.write_str("&gt;")?,
            _ if leaves_the_line(c) || hides_or_reorders(c) || also(c) => write!(f, "&#{};", u32::from(c))?,
            _ if at == first && begins_a_block(c) => write!(f, "&#{};", u32::from(c))?,
            _ => f.write_char(c)?,
        }
    }
    Ok(())
}

/// Every control character but the tab, NEL included, and the two separators of Unicode.
fn leaves_the_line(c: char) -> bool {
    (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Controls of the direction of writing, tags, and what has no width and joins nothing: no person sees them.
fn hides_or_reorders(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// No person sees these either, but scripts and emoji need them.
fn only_joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}') || hides_or_reorders(c)
}

fn begins_a_block(c: char) -> bool {
    matches!(c, '#' | '`' | '~' | '=' | '-' | '+' | '*' | '_' | '|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Value(text).to_string(), expected);
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        for text in ["只讀 2026-04-01 的合約", "a-b #1 `x` C:\\dir\tx", "e\u{301} 👩\u{200d}💻", "1. x"] {
            check(text, text);
        }
    }

    #[test]
    fn nothing_leaves_its_line() {
        check("a\n## Audience\r\nb", "a&#10;## Audience&#13;&#10;b");
        check("a\u{b}b\u{c}c\u{85}d\u{2028}e\u{2029}f\0", "a&#11;b&#12;c&#133;d&#8232;e&#8233;f&#0;");
    }

    #[test]
    fn nothing_begins_a_block() {
        check("# x", "&#35; x");
        check("\u{3000}## 約束", "\u{3000}&#35;# 約束");
        check("```", "&#96;``");
        check("---", "&#45;--");
        check("", "(blank)");
        check("\u{3000}", "(blank)");
        check("> x", "&gt; x");
        // Not behind what nobody sees, either.
        check("\u{200b}## Audience", "&#8203;&#35;# Audience");
        check(" \u{200d}\u{fe0f}# x", " \u{200d}\u{fe0f}&#35; x");
    }

    #[test]
    fn nothing_passes_for_markup_or_an_escape() {
        check("</task_packet>&#10;&amp;", "&lt;/task_packet&gt;&amp;#10;&amp;amp;");
        check("a\u{202e}b\u{e0041}", "a&#8238;b&#917569;");
        assert_eq!(Bracketed("c1] x [").to_string(), "[c1&#93; x &#91;]");
    }
}
