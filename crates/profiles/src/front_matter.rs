//! The front matter that pi-subagents reads: a small format of its own, not YAML. Never put here what a key means.
//!
//! The block lies between a first line that begins with `---` and the next line that does. A key starts in the first
//! column and has letters, digits, `_` and `-`. Its value is the rest of the line without surrounding quotes, or, when
//! that is empty (or `|`, `>`), the indented lines below it. Everything else is skipped in silence.

use std::collections::BTreeMap;

/// The keys of a file; empty when there is no closed block. Of a key that stands twice the last one counts.
pub(crate) fn parse(text: &str) -> BTreeMap<String, String> {
    let text = text.replace("\r\n", "\n");
    let mut parser = Parser::default();
    if let Some(block) = block(&text) {
        block.split('\n').for_each(|line| parser.line(line));
    }
    parser.close();
    parser.keys
}

/// The items of a value that is comma separated, a list of `- item` lines, or both.
pub(crate) fn list(value: &str) -> Vec<String> {
    let items = value.split('\n').flat_map(|line| {
        let line = trim(line);
        let item = line.strip_prefix('-').filter(|rest| rest.starts_with(is_space)).map(trim);
        item.filter(|item| !item.is_empty()).unwrap_or(line).split(',')
    });
    items.map(trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// The members of a block value that is YAML for the package, without comments; `None` if a line needs a YAML reader.
pub(crate) fn members(block: &str) -> Option<BTreeMap<String, String>> {
    let is_plain = |line: &str| line.is_empty() || line.starts_with(is_space) || key_and_value(line).is_some();
    let lines: Vec<_> = trim(block).split('\n').filter(|line| !line.starts_with('#')).collect();
    if !lines.iter().all(|line| is_plain(line)) {
        return None;
    }
    let mut members = parse(&format!("---\n{}\n---", lines.join("\n")));
    for value in members.values_mut() {
        if let Some(at) = value.find(" #") {
            value.truncate(trim(&value[..at]).len());
        }
    }
    Some(members)
}

/// White space as JavaScript counts it.
pub(crate) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// `text` without white space at both ends, as JavaScript trims.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

fn block(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("---")?;
    let end = rest.find("\n---")?;
    let start = rest.chars().next().map_or(0, char::len_utf8);
    Some(rest.get(start..end).unwrap_or_default())
}

/// How the lines of a block value become its text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Lines as they are, up to the first that is not indented.
    Plain,
    /// `|`: the same, but empty lines belong to it.
    Literal,
    /// `>`: lines joined by spaces.
    Folded,
}

#[derive(Default)]
struct Parser<'a> {
    keys: BTreeMap<String, String>,
    open: Option<(&'a str, Style, Vec<&'a str>)>,
}

impl<'a> Parser<'a> {
    fn line(&mut self, line: &'a str) {
        if let Some((_, style, lines)) = &mut self.open
            && (line.starts_with(is_space) || (*style != Style::Plain && line.is_empty()))
        {
            lines.push(line);
            return;
        }
        self.close();
        let Some((key, value)) = key_and_value(line) else { return };
        let quoted = unquote(value);
        let style = match value {
            "|" | "|-" => Style::Literal,
            ">" | ">-" => Style::Folded,
            _ if quoted.is_empty() => Style::Plain,
            _ => {
                self.keys.insert(key.to_owned(), quoted.to_owned());
                return;
            }
        };
        self.open = Some((key, style, Vec::new()));
    }

    fn close(&mut self) {
        if let Some((key, style, lines)) = self.open.take() {
            let text = dedent(&lines);
            self.keys.insert(key.to_owned(), if style == Style::Folded { fold(&text) } else { text });
        }
    }
}

fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let is_key = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let rest = rest.trim_start_matches(is_space);
    // A line break of another kind ends the line for the package, which then finds no key in it.
    let one_line = !rest.contains(['\r', '\u{2028}', '\u{2029}']);
    (is_key && one_line).then(|| (key, trim(rest)))
}

fn unquote(value: &str) -> &str {
    let quote = value.chars().next().filter(|c| *c == '"' || *c == '\'');
    match quote {
        Some(quote) if value.ends_with(quote) => value.get(1..value.len().max(2) - 1).unwrap_or_default(),
        _ => value,
    }
}

/// Takes the indentation of the first line with text away from every line that has it.
fn dedent(lines: &[&str]) -> String {
    let indent = lines.iter().find_map(|line| {
        let text = line.trim_start_matches([' ', '\t']);
        (text.len() < line.len() && !text.is_empty() && !text.starts_with(is_space))
            .then(|| &line[..line.len() - text.len()])
    });
    let Some(indent) = indent else { return lines.join("\n") };
    let lines: Vec<_> = lines.iter().map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
    let text = lines.join("\n");
    text.strip_prefix('\n').map(str::to_owned).unwrap_or(text)
}

/// Joins lines as a folded YAML scalar does: a space between lines, a break for each empty line, and lines that are
/// indented further keep their breaks.
fn fold(block: &str) -> String {
    let mut text = String::new();
    let (mut previous_deeper, mut empty) = (false, 0);
    for line in block.split('\n').map(|line| line.trim_end_matches(is_space)) {
        if line.is_empty() {
            empty += usize::from(!text.is_empty());
            continue;
        }
        let deeper = line.starts_with(is_space);
        if !text.is_empty() {
            match empty + usize::from(deeper || previous_deeper) {
                0 => text.push(' '),
                breaks => text.extend(std::iter::repeat_n('\n', breaks)),
            }
        }
        text.push_str(line);
        (previous_deeper, empty) = (deeper, 0);
    }
    trim(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_read(text in "(---\n)?([a-z\"'>|:#-]|[ \t\r\n]|\\PC){0,60}(\n---)?") {
            for (key, value) in parse(&text) {
                prop_assert!(!key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)));
                prop_assert!(list(&value).iter().all(|item| !item.is_empty() && trim(item) == item));
            }
        }

        #[test]
        fn a_quoted_value_is_read_as_it_was_written(value in "[^\"'\r\n\u{2028}\u{2029}]{1,40}", quote in "[\"']") {
            let keys = parse(&format!("---\nkey: {quote}{value}{quote}\n---\n"));
            prop_assert_eq!(keys.get("key"), Some(&value));
        }

        #[test]
        fn a_list_is_read_from_a_line_or_a_block(items in prop::collection::vec("[a-z][a-z -]{0,8}[a-z]", 1..5)) {
            let line = parse(&format!("---\nkey: {}\n---", items.join(", ")));
            let block = parse(&format!("---\nkey:\n  - {}\n---", items.join("\n  - ")));
            prop_assert_eq!(&list(&line["key"]), &items);
            prop_assert_eq!(&list(&block["key"]), &items);
        }
    }
}
