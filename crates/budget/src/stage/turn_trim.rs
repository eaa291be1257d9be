//! `TurnTrim`: a text keeps its beginning and its protected sections.

use crate::section::{Piece, is_header, pieces};

/// A text with at most the first `keep` characters of what is not protected. A line says how much is gone, at the place
/// where it is gone. Protected sections stay whole, where they were.
pub(crate) fn trimmed(text: &str, keep: usize) -> String {
    Cut::new(text).after(keep)
}

/// A text that is about to be cut, looked at once for several tries.
pub(crate) struct Cut<'a> {
    pieces: Vec<Piece<'a>>,
    /// Characters that are not protected.
    pub(crate) open: usize,
}

impl<'a> Cut<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let pieces = pieces(text);
        let open = pieces.iter().map(|piece| open_chars(*piece)).sum();
        Self { pieces, open }
    }

    /// The text with at most `keep` characters of what is not protected. Costs as much as what is kept.
    pub(crate) fn after(&self, keep: usize) -> String {
        let mut out = String::new();
        let mut left = Some(keep);
        for piece in &self.pieces {
            match (piece, left) {
                (Piece::Protected(section), _) => out.push_str(section),
                (Piece::Open(_), None) => {}
                (Piece::Open(part), Some(room)) => match part.char_indices().nth(room) {
                    None => {
                        out.push_str(part);
                        left = Some(room - part.chars().count());
                    }
                    Some((end, _)) => {
                        let head = head(part, end);
                        let gone = self.open - (keep - room) - head.chars().count();
                        push_cut(&mut out, head, gone);
                        left = None;
                    }
                },
            }
        }
        out
    }
}

fn open_chars(piece: Piece<'_>) -> usize {
    match piece {
        Piece::Open(part) => part.chars().count(),
        Piece::Protected(_) => 0,
    }
}

/// The beginning of a text. A last line that the cut would turn into the header of a protected section
/// (`## Constraints, old`) is left out.
fn head(part: &str, end: usize) -> &str {
    let head = &part[..end];
    let last_line = head.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let head = if is_header(head[last_line..].trim()) { &head[..last_line] } else { head };
    if head.trim().is_empty() { "" } else { head }
}

/// Appends what is left of a part that is cut. Right behind a protected section the remark is a heading, so that it does
/// not become the section's last line.
fn push_cut(out: &mut String, head: &str, gone: usize) {
    let heading = if head.is_empty() && !out.is_empty() { "## " } else { "" };
    out.push_str(head);
    if !head.is_empty() && !head.ends_with(['\n', '\r']) {
        out.push('\n');
    }
    out.push_str(&format!("{heading}[trimmed {gone} chars]\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, keep: usize, expected: &str) {
        assert_eq!(trimmed(text, keep), expected);
    }

    #[test]
    fn a_short_text_stays() {
        check("abc", 3, "abc");
        check("", 0, "");
        check("ab\n## Constraints\n- a long one", 3, "ab\n## Constraints\n- a long one");
    }

    #[test]
    fn characters_are_counted_and_never_split() {
        check("約束是什麼", 2, "約束\n[trimmed 3 chars]\n");
    }

    #[test]
    fn protected_sections_stay_in_their_place() {
        check("one two\n## Constraints\n- c\n# Rest\nmore", 3, "one\n[trimmed 16 chars]\n## Constraints\n- c\n");
        check(
            "a\n## 約束\n- c\n## Rest\nmore\n## Audience\n- x",
            4,
            "a\n## 約束\n- c\n##\n[trimmed 11 chars]\n## Audience\n- x",
        );
    }

    #[test]
    fn the_remark_never_joins_a_section() {
        check("a\n## Constraints\n- c\n# Rest", 2, "a\n## Constraints\n- c\n## [trimmed 6 chars]\n");
        check("a\n## Constraints\n- c\n  # Rest", 4, "a\n## Constraints\n- c\n## [trimmed 8 chars]\n");
    }

    #[test]
    fn a_cut_makes_no_header() {
        check("## Constraints, old ones\nx", 14, "[trimmed 26 chars]\n");
        check("a\n ## Audience of it", 14, "a\n[trimmed 18 chars]\n");
    }
}
