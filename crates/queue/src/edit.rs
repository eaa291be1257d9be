//! The byte-preserving edit: sets, clears, adds and removes members and copies everything else (D3).
//!
//! What the members mean is decided elsewhere; nothing here knows a rule of the protocol.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::document::Span;
use crate::{Document, Field, limits};

/// The document would be larger than what can be read again (D12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the document would have {size} bytes, at most {} can be read again", limits::QUEUE_BYTES)]
pub struct QueueFull {
    /// The size that the document would have, in bytes.
    pub size: usize,
}

/// A list of changes to one document.
pub(crate) struct Edit<'d> {
    document: &'d Document,
    /// In the order in which new members are added.
    changes: Vec<(Cow<'d, str>, Change)>,
}

enum Change {
    Set(String),
    /// Null where present; an absent member stays absent (D13, D63).
    Clear,
    Remove,
}

impl<'d> Edit<'d> {
    pub(crate) const fn new(document: &'d Document) -> Self {
        Self { document, changes: Vec::new() }
    }

    /// Sets a field to a JSON text, adding it at the end if it is absent.
    pub(crate) fn set(self, field: Field, json: impl Into<String>) -> Self {
        self.set_key(field.name(), json)
    }

    /// Sets a member by its decoded key.
    pub(crate) fn set_key(mut self, key: impl Into<Cow<'d, str>>, json: impl Into<String>) -> Self {
        self.changes.push((key.into(), Change::Set(json.into())));
        self
    }

    /// Sets a field to null if it is present.
    pub(crate) fn clear(mut self, field: Field) -> Self {
        self.changes.push((field.name().into(), Change::Clear));
        self
    }

    /// Takes a field out of the document.
    pub(crate) fn remove(mut self, field: Field) -> Self {
        self.changes.push((field.name().into(), Change::Remove));
        self
    }

    /// The new document's bytes.
    ///
    /// # Errors
    /// [`QueueFull`] when they would be too many.
    pub(crate) fn apply(self) -> Result<String, QueueFull> {
        let text = self.write();
        if text.len() > limits::QUEUE_BYTES { Err(QueueFull { size: text.len() }) } else { Ok(text) }
    }

    fn write(&self) -> String {
        let source = self.document.text();
        let members = &self.document.members;
        let mut open: HashMap<&str, &Change> = self.changes.iter().map(|(key, change)| (&**key, change)).collect();
        let mut out = String::with_capacity(source.len() + 1024);
        out.push_str(&source[..self.document.body]);
        let mut is_first = true;
        for (at, member) in members.iter().enumerate() {
            let change = open.remove(&*self.document.key(member));
            if matches!(change, Some(Change::Remove)) {
                continue;
            }
            out.push_str(if is_first { "" } else { "," });
            out.push_str(lead(self.document, if is_first { 0 } else { at }));
            is_first = false;
            out.push_str(&source[member.key.start..member.value.start]);
            match change {
                Some(Change::Set(json)) => out.push_str(json),
                Some(Change::Clear) => out.push_str("null"),
                _ => out.push_str(&source[member.value.clone()]),
            }
            out.push_str(before_comma(self.document, at));
        }
        self.add(&open, is_first, &mut out);
        out.push_str(&source[members.last().map_or(self.document.body, |last| last.value.end)..]);
        out
    }

    /// Adds the members that the document does not have, in its own style.
    fn add(&self, open: &HashMap<&str, &Change>, mut is_first: bool, out: &mut String) {
        let style = Style::of(self.document);
        for (key, change) in &self.changes {
            let Change::Set(json) = change else { continue };
            if !open.contains_key(&**key) {
                continue;
            }
            out.push_str(if is_first { "" } else { "," });
            is_first = false;
            out.push_str(&style.lead);
            out.push_str(&crate::json::quote(key));
            out.push_str(style.colon);
            out.push_str(json);
        }
    }
}

/// The white space between the bracket or comma before a member and its key.
fn lead(document: &Document, at: usize) -> &str {
    let source = document.text();
    let member = &document.members[at];
    let from = match at.checked_sub(1).map(|before| &document.members[before]) {
        None => document.body,
        Some(before) => before.value.end + before_comma(document, at - 1).len() + 1,
    };
    &source[from..member.key.start]
}

/// The white space between a member's value and the comma after it; empty for the last member.
fn before_comma(document: &Document, at: usize) -> &str {
    let Some(next) = document.members.get(at + 1) else { return "" };
    let from = document.members[at].value.end;
    let gap = &document.text()[from..next.key.start];
    gap.split_once(',').map_or("", |(before, _)| before)
}

/// How the last member is laid out.
struct Style<'d> {
    lead: Cow<'d, str>,
    colon: &'d str,
}

impl<'d> Style<'d> {
    fn of(document: &'d Document) -> Self {
        let Some(last) = document.members.len().checked_sub(1) else {
            return Self { lead: "".into(), colon: ": " };
        };
        let Span { key, value } = &document.members[last];
        let colon = &document.text()[key.end..value.start];
        let colon = if colon.contains(['\n', '\r']) { ": " } else { colon };
        Self { lead: Self::lead(lead(document, last), last, colon), colon }
    }

    /// One line break at most, with the indentation after it. A single member on one line does not tell what follows
    /// a comma; its colon does.
    fn lead(found: &'d str, last: usize, colon: &str) -> Cow<'d, str> {
        match found.rfind(['\n', '\r']) {
            Some(at) => {
                let indent = &found[at + 1..];
                let newline = if found[..=at].ends_with("\r\n") { "\r\n" } else { &found[at..=at] };
                format!("{newline}{indent}").into()
            }
            None if last == 0 && colon.ends_with(' ') => " ".into(),
            None => found.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, edit: impl FnOnce(Edit<'_>) -> Edit<'_>, expected: &str) {
        let document = Document::parse(source.as_bytes()).unwrap();
        let written = edit(Edit::new(&document)).apply().unwrap();
        assert_eq!(written, expected);
        Document::parse(written.as_bytes()).unwrap();
    }

    fn add(edit: Edit<'_>) -> Edit<'_> {
        edit.set(Field::Error, "1").set(Field::Result, "2")
    }

    #[test]
    fn new_members_take_the_style_of_the_last() {
        check("{\"status\":\"IDLE\"}", add, "{\"status\":\"IDLE\",\"error\":1,\"result\":2}");
        check("{\"status\": \"IDLE\"}", add, "{\"status\": \"IDLE\", \"error\": 1, \"result\": 2}");
        check("{ \"status\" : \"IDLE\" }", add, "{ \"status\" : \"IDLE\", \"error\" : 1, \"result\" : 2 }");
        check("{\"a\":1, \"status\":\"IDLE\"}\n", add, "{\"a\":1, \"status\":\"IDLE\", \"error\":1, \"result\":2}\n");
        check("{\n\t\"status\": \"IDLE\"\n}", add, "{\n\t\"status\": \"IDLE\",\n\t\"error\": 1,\n\t\"result\": 2\n}");
        check(
            "\u{feff}{\r\n  \"a\": 1,\r\n\r\n  \"status\": \"IDLE\"\r\n}\r\n",
            add,
            "\u{feff}{\r\n  \"a\": 1,\r\n\r\n  \"status\": \"IDLE\",\r\n  \"error\": 1,\r\n  \"result\": 2\r\n}\r\n",
        );
        check("{\r \"status\":\r\"IDLE\"\r}", add, "{\r \"status\":\r\"IDLE\",\r \"error\": 1,\r \"result\": 2\r}");
    }

    #[test]
    fn values_are_set_in_place_whatever_the_spelling_of_the_key() {
        check(
            " {\"x\" :1e400 ,\"\\u0073tatus\"\t:\n\"IDLE\" , \"error\":[1,\n2] ,\"y\":\"\\/\"} ",
            |edit| edit.set(Field::Status, "\"ERROR\"").clear(Field::Error).clear(Field::Report),
            " {\"x\" :1e400 ,\"\\u0073tatus\"\t:\n\"ERROR\" , \"error\":null ,\"y\":\"\\/\"} ",
        );
    }

    #[test]
    fn members_are_removed_with_their_comma() {
        let source = "{\n  \"task_id\": 1,\n  \"status\": \"IDLE\",\n  \"scope\": 2,\n  \"gate\": 3\n}\n";
        check(
            source,
            |edit| edit.remove(Field::TaskId).remove(Field::Gate),
            "{\n  \"status\": \"IDLE\",\n  \"scope\": 2\n}\n",
        );
        check(
            source,
            |edit| edit.remove(Field::Scope).remove(Field::PlanRef),
            "{\n  \"task_id\": 1,\n  \"status\": \"IDLE\",\n  \"gate\": 3\n}\n",
        );
    }

    #[test]
    fn too_large_is_refused_with_the_size() {
        let source = format!("{{\"status\":\"IDLE\",\"x\":\"{}\"}}", "x".repeat(limits::QUEUE_BYTES - 24));
        let document = Document::parse(source.as_bytes()).unwrap();
        assert_eq!(document.text().len(), limits::QUEUE_BYTES);
        assert!(Edit::new(&document).set(Field::Status, "\"idle\"").apply().is_ok());
        let full = Edit::new(&document).set(Field::Status, "\"ERROR\"").apply().unwrap_err();
        assert_eq!(full.size, limits::QUEUE_BYTES + 1);
    }
}
