//! How text that is not ours is written into a message: as a fenced block or as inline code, never in any other way.
//!
//! Only these functions may write such text. They know Markdown's code constructs and nothing of tasks.

use std::fmt::Write as _;

/// Text in a code fence that nothing in it can close (D68), with a blank line before and after.
///
/// The fence is longer than any run of back-quotes in the text. Line breaks and tabs stay what they are (CRLF and a
/// lone CR become LF, as any Markdown reader would have it); other control characters are made visible.
pub(super) fn block(out: &mut String, text: &str) {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    open_paragraph(out);
    out.push_str(&fence);
    out.push('\n');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            _ => push_visible(out, c),
        }
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&fence);
    out.push_str("\n\n");
}

/// Text as one span of inline code, on one line: line breaks and all control characters are made visible.
pub(super) fn inline(out: &mut String, text: &str) {
    if text.is_empty() {
        out.push_str("(empty)");
        return;
    }
    let mark = "`".repeat(longest_run(text) + 1);
    // Markdown takes one space off both ends of a span, unless it is all spaces; a back-quote must not touch the mark.
    let edge = |c: char| c == '`' || c == ' ';
    let padded = text.starts_with(edge) && !text.trim_start_matches(' ').is_empty() || text.ends_with('`');
    let pad = if padded { " " } else { "" };
    let _infallible = write!(out, "{mark}{pad}");
    for c in text.chars() {
        push_visible(out, c);
    }
    let _infallible = write!(out, "{pad}{mark}");
}

/// [`inline`] as a value of its own.
pub(super) fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    inline(&mut out, text);
    out
}

/// `- Label: value` with the value as inline code.
pub(super) fn item(out: &mut String, label: &str, value: &str) {
    let _infallible = write!(out, "- {label}: ");
    inline(out, value);
    out.push('\n');
}

/// Whether [`inline`] shows the text without changing a line break of it.
pub(super) fn is_single_line(text: &str) -> bool {
    !text.contains(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// Ends the paragraph or list before, so that what follows starts a block of its own.
pub(super) fn open_paragraph(out: &mut String) {
    if out.is_empty() || out.ends_with("\n\n") {
        return;
    }
    out.push_str(if out.ends_with('\n') { "\n" } else { "\n\n" });
}

/// Controls as their Unicode pictures; what has none, or could hide or reorder text, as `\u{…}`.
fn push_visible(out: &mut String, c: char) {
    match c {
        '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(c))),
        '\u{7f}' => out.push('\u{2421}'),
        '\u{80}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' => {
            let _infallible = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        _ => out.push(c),
    }
}

/// The longest run of back-quotes.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_inline(text: &str, expected: &str) {
        assert_eq!(code(text), expected);
    }

    #[test]
    fn inline_code_survives_back_quotes_spaces_and_controls() {
        check_inline("plain", "`plain`");
        check_inline("", "(empty)");
        check_inline("a`b", "``a`b``");
        check_inline("`", "`` ` ``");
        check_inline("end`", "`` end` ``");
        check_inline(" both ", "`  both  `");
        check_inline("  ", "`  `");
        check_inline("two\nlines\r\n", "`two␊lines␍␊`");
        check_inline("\u{1b}[31m\u{202e}\u{85}", "`␛[31m\\u{202e}\\u{85}`");
    }

    #[track_caller]
    fn check_block(text: &str, expected: &str) {
        let mut out = String::from("before");
        block(&mut out, text);
        assert_eq!(out, format!("before\n\n{expected}\n\n"));
    }

    #[test]
    fn a_fence_is_longer_than_any_run_in_the_text() {
        check_block("x", "```\nx\n```");
        check_block("", "```\n```");
        check_block("```\n# no heading\n````", "`````\n```\n# no heading\n````\n`````");
        check_block("a\r\nb\rc\u{0}\n", "```\na\nb\nc␀\n```");
    }

    #[test]
    fn every_kind_of_line_break_makes_a_text_more_than_one_line() {
        for text in ["a\nb", "a\rb", "a\u{b}b", "a\u{c}b", "a\u{85}b", "a\u{2028}b", "a\u{2029}b"] {
            assert!(!is_single_line(text), "{text:?}");
        }
        assert!(is_single_line("a\tb"));
    }
}
