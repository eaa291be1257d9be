//! Foreign text made fit for one line of a terminal or log: no control characters, nothing that reorders or hides text.
//!
//! Masking of credentials is not done here but in the crate `secrets`.

use std::borrow::Cow;

/// `text` on one line: line breaks and tabs become spaces; control, direction and invisible characters are left out.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| !is_break(c) && !is_unwanted(c);
    match text.find(|c| !is_plain(c)) {
        None => Cow::Borrowed(text),
        Some(first) => {
            let mut clean = String::with_capacity(text.len());
            clean.push_str(&text[..first]);
            for c in text[first..].chars() {
                match c {
                    c if is_break(c) => clean.push(' '),
                    c if is_unwanted(c) => {}
                    c => clean.push(c),
                }
            }
            Cow::Owned(clean)
        }
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_unwanted(c: char) -> bool {
    c.is_control() || is_direction(c) || is_invisible(c)
}

/// Characters that change the order in which a terminal shows the others.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters of no width, with which two texts that look the same can differ.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(one_line(text), expected);
    }

    #[test]
    fn one_line_stays_one_line() {
        check("a\nb\r\nc\td\u{2028}e", "a b  c d e");
    }

    #[test]
    fn nothing_commands_the_terminal_or_hides() {
        check("\u{1b}[31mred\u{7}\u{9b}2J", "[31mred2J");
        check("abc\u{202e}cba\u{2066}x\u{2069}", "abccbax");
        check("pass\u{200b}word\u{feff}\u{e0041}", "password");
    }

    #[test]
    fn other_scripts_pass_unchanged() {
        let text = "größe 日本語 עברית العربية 👍";
        assert!(matches!(one_line(text), Cow::Borrowed(same) if same == text));
    }

    proptest! {
        #[test]
        fn cleaning_is_final(text in any::<String>()) {
            let clean = one_line(&text).into_owned();
            prop_assert!(!clean.chars().any(|c| c.is_control() || is_break(c) || is_unwanted(c)));
            prop_assert_eq!(one_line(&clean), clean.as_str());
        }
    }
}
