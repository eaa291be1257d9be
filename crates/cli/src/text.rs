//! Text for people: lines made of pieces with a tone, cleaned of what a foreign text could do to a terminal. Nothing is
//! written here.

use std::borrow::Cow;

use handoffd::logging::sanitize::one_line;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What a piece of text is, which decides its colour where there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    Plain,
    /// What the eye should find first.
    Strong,
    /// Beside the point.
    Dim,
    /// All is well.
    Good,
    /// Somebody should look.
    Warning,
    /// It failed.
    Bad,
}

/// One line. Its pieces are cleaned when they are added.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Line {
    pieces: Vec<(Tone, String)>,
}

impl Line {
    /// A line of one piece.
    pub(crate) fn of(tone: Tone, text: &str) -> Self {
        Self::default().and(tone, text)
    }

    /// With one more piece.
    pub(crate) fn and(mut self, tone: Tone, text: &str) -> Self {
        self.pieces.push((tone, one_line(text).into_owned()));
        self
    }

    /// With one more plain piece.
    pub(crate) fn plain(self, text: &str) -> Self {
        self.and(Tone::Plain, text)
    }

    /// With the pieces of another line.
    pub(crate) fn join(mut self, other: &Self) -> Self {
        self.pieces.extend(other.pieces.iter().cloned());
        self
    }

    /// With spaces up to a width, in columns of the terminal.
    pub(crate) fn padded(self, width: usize) -> Self {
        let missing = width.saturating_sub(self.width());
        self.plain(&" ".repeat(missing))
    }

    /// At most `width` columns of it, so that a terminal does not wrap it.
    pub(crate) fn cut(&self, width: usize) -> Self {
        let mut left = width;
        let mut short = Self::default();
        for (tone, text) in &self.pieces {
            let fits = |c: &char| {
                let columns = c.width().unwrap_or(0);
                let fits = columns <= left;
                left = if fits { left - columns } else { 0 };
                fits
            };
            let piece: String = text.chars().take_while(fits).collect();
            short.pieces.push((*tone, piece));
        }
        short
    }

    /// In columns of the terminal.
    pub(crate) fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text.width()).sum()
    }

    /// The pieces, clean.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Tone, &str)> {
        self.pieces.iter().map(|(tone, text)| (*tone, text.as_str()))
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::of(Tone::Plain, text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::of(Tone::Plain, &text)
    }
}

/// A foreign text of several lines, each with an indent.
pub(crate) fn block(indent: &str, text: &str) -> Vec<Line> {
    text.lines().map(|line| Line::from(format!("{indent}{line}"))).collect()
}

/// Words over lines of at most `width` columns; a word that is wider has a line of its own.
pub(crate) fn wrapped(text: &str, width: Option<usize>) -> Vec<String> {
    let text = one_line(text);
    let Some(width) = width else { return vec![text.into_owned()] };
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// JSON for a terminal: what `one_line` would take away stands as an escape, which means the same.
pub(crate) fn escaped_json(json: &str) -> Cow<'_, str> {
    let harmless = |c: char| c.is_ascii() || one_line(c.encode_utf8(&mut [0; 4])).chars().eq([c]);
    if json.chars().all(harmless) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 32);
    for c in json.chars() {
        if harmless(c) {
            escaped.push(c);
        } else {
            let mut units = [0; 2];
            escaped.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    Cow::Owned(escaped)
}

/// `1 restart`, `2 restarts`.
pub(crate) fn counted(count: u64, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_clean_and_knows_its_width() {
        let line = Line::of(Tone::Bad, "a\u{1b}[2J\nb\u{202e}c").plain("約");
        assert_eq!(line.pieces().map(|(_, text)| text).collect::<String>(), "a[2J bc約");
        assert_eq!(line.width(), 9);
        assert_eq!(line.cut(8).width(), 7, "no half of a wide character");
        assert_eq!(line.padded(12).width(), 12);
    }

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(wrapped("aa bb ccccccc d", Some(5)), ["aa bb", "ccccccc", "d"]);
        assert_eq!(wrapped("aa  bb", None), ["aa  bb"]);
    }

    #[test]
    fn json_for_a_terminal_means_the_same() {
        let json = "{\"a\":\"\u{202e}x\u{200b}\u{e0001}é\"}";
        let escaped = escaped_json(json);
        assert!(escaped.is_ascii() || escaped.contains('é'));
        assert!(!escaped.contains('\u{202e}') && !escaped.contains('\u{e0001}'));
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&escaped), value(json));
    }
}
