//! Where the heading stands in the text: a whole line, once, the last heading (D67). Pure.
//!
//! Only headings of the document itself count: one in a code fence, an HTML comment, a quote or a list item is content.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::LogError;

/// Whether a configured text can be a heading at all.
pub(super) fn is_heading(text: &str) -> bool {
    let whole = 0..text.trim_end().len();
    !text.contains(['\n', '\r']) && headings(text).first().is_some_and(|(range, _)| *range == whole)
}

/// The byte range of the heading's line, without its line end.
pub(super) fn find(text: &str, heading: &str) -> Result<Range<usize>, LogError> {
    let headings = headings(text);
    let matching: Vec<&Range<usize>> = headings
        .iter()
        .filter(|(range, whole)| *whole && text[range.clone()] == *heading)
        .map(|(range, _)| range)
        .collect();
    match matching.as_slice() {
        [] => Err(LogError::HeadingMissing(heading.to_owned())),
        [only] => match headings.last() {
            Some((last, _)) if last != *only => {
                let after = text[last.clone()].lines().next().unwrap_or_default().to_owned();
                Err(LogError::HeadingNotLast { heading: heading.to_owned(), after })
            }
            _ => Ok((*only).clone()),
        },
        more => Err(LogError::HeadingRepeated { heading: heading.to_owned(), count: more.len() }),
    }
}

/// The source of every heading of the document itself, without trailing white space, and whether it starts its line.
fn headings(text: &str) -> Vec<(Range<usize>, bool)> {
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 && matches!(tag, Tag::Heading { .. }) {
                    let length = text[range.clone()].trim_end().len();
                    let starts_line = range.start == 0 || text[..range.start].ends_with('\n');
                    found.push((range.start..range.start + length, starts_line));
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "## Work log";

    #[track_caller]
    fn check(text: &str, expected: Result<usize, &str>) {
        let found = find(text, HEADING).map(|range| range.start).map_err(|error| error.to_string());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{text}: {found}"),
            (found, expected) => panic!("{text}: {found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn the_heading_is_a_whole_line_once_and_last() {
        check("## Work log\n", Ok(0));
        check("## Work log", Ok(0));
        check("# Title\n\ntext\n\n## Work log\n- a\n", Ok(15));
        check("# Title\r\n\r\n## Work log\r\n- a\r\n", Ok(11));
        check("## Work log   \n- a\n", Ok(0));
        check("text\n## Work log\n", Ok(5));
        check("", Err("no line"));
        check("## work log\n", Err("no line"));
        check("### Work log\n", Err("no line"));
        check("## **Work log**\n", Err("no line"));
        check("## Work log ##\n", Err("no line"));
        check("  ## Work log\n", Err("no line"));
        check("Work log\n--------\n", Err("no line"));
        check("see ## Work log\n", Err("no line"));
        check("## Work log\n\n## Work log\n", Err("2 times"));
        check("## Work log\n- a\n\n# Notes\n", Err("`# Notes` follows"));
        check("## Work log\n- a\n\nNotes\n=====\n", Err("`Notes` follows"));
    }

    #[test]
    fn what_only_looks_like_a_heading_is_content() {
        check("```\n## Work log\n```\n", Err("no line"));
        check("~~~\n## Work log\n~~~\n## Work log\n", Ok(20));
        check("    ## Work log\n", Err("no line"));
        check("<!--\n## Work log\n-->\n", Err("no line"));
        check("> ## Work log\n", Err("no line"));
        check("- ## Work log\n", Err("no line"));
        check("## Work log\n- a\n\n> # quoted\n", Ok(0));
        check("## Work log\n- a\n  # in an item\n", Ok(0));
        check("## Work log\n\n```\n# in a fence\n", Ok(0));
        check("## Work log\n\\# escaped\n#hashtag\n", Ok(0));
    }

    #[test]
    fn a_configured_heading_must_be_one() {
        for good in ["## Work log", "# X", "###### deep ", "## Журнал"] {
            assert!(is_heading(good), "{good}");
        }
        for bad in ["", "Work log", "##Work", "## a\n## b", "> ## Work log", " ## Work log", "Work\n==="] {
            assert!(!is_heading(bad), "{bad}");
        }
    }
}
