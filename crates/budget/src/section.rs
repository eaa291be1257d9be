//! Protected sections: where they begin and end in a text.
//!
//! A section begins at a line that is, but for white space around it, exactly one of [`PROTECTED_HEADERS`], and ends
//! before the next heading of level 1 or 2, or with the text. It is a rule of lines and no Markdown parser: code fences and
//! underlined headings mean nothing here. A decorated header does not match, since otherwise any prose could claim to be
//! exempt from the budget.

use std::ops::Range;

/// The header of the constraints, as a Chinese prompt is rendered.
pub const SECTION_HEADER_CONSTRAINTS: &str = "## 約束";
/// The header of the audience, as a Chinese prompt is rendered.
pub const SECTION_HEADER_AUDIENCE: &str = "## 受眾";
/// The header of the constraints, as an English prompt is rendered.
pub const SECTION_HEADER_CONSTRAINTS_EN: &str = "## Constraints";
/// The header of the audience, as an English prompt is rendered.
pub const SECTION_HEADER_AUDIENCE_EN: &str = "## Audience";

/// The headers whose sections no stage may touch.
pub const PROTECTED_HEADERS: [&str; 4] =
    [SECTION_HEADER_CONSTRAINTS, SECTION_HEADER_AUDIENCE, SECTION_HEADER_CONSTRAINTS_EN, SECTION_HEADER_AUDIENCE_EN];

/// The protected sections of a text, in order, header lines included. Sections that follow each other directly are
/// separate items.
pub fn protected_sections(text: &str) -> Vec<&str> {
    sections(text).into_iter().map(|section| &text[section]).collect()
}

fn sections(text: &str) -> Vec<Range<usize>> {
    let mut sections: Vec<Range<usize>> = Vec::new();
    let mut inside = false;
    for line in lines(text) {
        let words = text[line.clone()].trim();
        if is_header(words) {
            sections.push(line);
            inside = true;
        } else if is_heading(words) {
            inside = false;
        } else if let Some(section) = sections.last_mut().filter(|_| inside) {
            section.end = line.end;
        }
    }
    sections
}

/// A piece of a text. All pieces in order are the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// What a stage may shorten. It begins with the text or with a heading of level 1 or 2.
    Open(&'a str),
    /// What no stage may touch.
    Protected(&'a str),
}

/// A text as its pieces, none of them empty.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut done = 0;
    for section in sections(text) {
        pieces.extend((done < section.start).then(|| Piece::Open(&text[done..section.start])));
        done = section.end;
        pieces.push(Piece::Protected(&text[section]));
    }
    pieces.extend((done < text.len()).then(|| Piece::Open(&text[done..])));
    pieces
}

/// Whether a line without the white space around it begins a protected section.
pub(crate) fn is_header(words: &str) -> bool {
    PROTECTED_HEADERS.contains(&words)
}

/// Whether a line without the white space around it is a heading of level 1 or 2: one or two `#`, then white space or
/// nothing.
fn is_heading(words: &str) -> bool {
    let rest = words.trim_start_matches('#');
    let level = words.len() - rest.len();
    (1..=2).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// The lines of a text with their ends, which are a line feed, a carriage return, or both.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let end = match rest.find(['\n', '\r']) {
            None => text.len(),
            Some(at) if rest[at..].starts_with("\r\n") => start + at + 2,
            Some(at) => start + at + 1,
        };
        let line = start..end;
        start = end;
        Some(line)
    })
}
