//! A TOML document read key by key, so that every problem is found in one go and has a line.
//!
//! A key is known because it was asked for; what nobody asked for is reported as unknown. No key is named here, and
//! no value is judged here: that is `value`.

use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::problem::{Finding, Warning};
use super::read::Invalid;
use super::suggest::nearest;
use super::value::Judged;

/// Collects what is found while a file is read.
pub(super) struct Findings<'a> {
    file: &'a Path,
    text: &'a str,
    /// What makes the file invalid.
    problems: Vec<Finding>,
    /// What is only told.
    warnings: Vec<Finding>,
    /// Every dotted key that was asked for, in order, `project` without index.
    pub(super) asked: Vec<String>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(file: &'a Path, text: &'a str) -> Self {
        Self { file, text, problems: Vec::new(), warnings: Vec::new(), asked: Vec::new() }
    }

    /// Parses the document; syntax errors become problems, and the tables that could be read still count.
    pub(super) fn parse(&mut self) -> toml::Spanned<DeTable<'a>> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for error in errors {
            let line = error.span().map(|span| self.line(&span));
            let message = error.message().lines().collect::<Vec<_>>().join("; ");
            self.problems.push(Finding { file: self.file.to_path_buf(), line, key: None, message });
        }
        table
    }

    /// Ends the reading: the value with what is told, or all problems; both in the order of the file.
    pub(super) fn conclude<T>(mut self, value: T) -> Result<(T, Vec<Warning>), Invalid> {
        self.problems.sort_by_key(|finding| finding.line);
        self.warnings.sort_by_key(|finding| finding.line);
        if self.problems.is_empty() {
            return Ok((value, self.warnings));
        }
        Err(Invalid { problems: self.problems, warnings: self.warnings })
    }

    pub(super) fn problem(&mut self, key: &str, at: &Range<usize>, message: &str) {
        let finding = self.finding(key, at, message);
        self.problems.push(finding);
    }

    pub(super) fn warning(&mut self, key: &str, at: &Range<usize>, message: &str) {
        let finding = self.finding(key, at, message);
        self.warnings.push(finding);
    }

    pub(super) fn line(&self, at: &Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..at.start).unwrap_or_default();
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    fn finding(&self, key: &str, at: &Range<usize>, message: &str) -> Finding {
        Finding {
            file: self.file.to_path_buf(),
            line: Some(self.line(at)),
            key: Some(key.to_owned()),
            message: format!("`{key}` {message}"),
        }
    }
}

/// One table of the document, or nothing where the document has none; both are read in the same way.
pub(super) struct Section<'t> {
    /// Dotted name for messages, empty for the document itself.
    name: String,
    /// The same without indices, for the list of known keys.
    pattern: String,
    table: Option<&'t DeTable<'t>>,
    /// Where the table begins.
    pub(super) span: Range<usize>,
    asked: Vec<&'static str>,
}

impl<'t> Section<'t> {
    pub(super) fn root(table: &'t toml::Spanned<DeTable<'t>>) -> Self {
        Self::new(String::new(), String::new(), Some(table.get_ref()), table.span())
    }

    fn new(name: String, pattern: String, table: Option<&'t DeTable<'t>>, span: Range<usize>) -> Self {
        Self { name, pattern, table, span, asked: Vec::new() }
    }

    /// Reads one key with the judge of its values. `None`: absent, or a problem was noted.
    pub(super) fn get<T>(
        &mut self,
        findings: &mut Findings<'_>,
        key: &'static str,
        judge: impl FnOnce(&DeValue<'_>) -> Judged<T>,
    ) -> Option<T> {
        let (value, name) = self.ask(findings, key);
        let value = value?;
        match judge(value.get_ref()) {
            Judged::Good(good) => Some(good),
            Judged::Adjusted(good, remark) => {
                findings.warning(&name, &value.span(), &remark);
                Some(good)
            }
            Judged::Bad(message) => {
                findings.problem(&name, &value.span(), &message);
                None
            }
        }
    }

    /// A table below this one; an absent one is an empty section.
    pub(super) fn section(&mut self, findings: &mut Findings<'_>, key: &'static str) -> Self {
        let (value, name) = self.note(key);
        let pattern = joined(&self.pattern, key);
        match value.map(|value| (value.get_ref(), value.span())) {
            Some((DeValue::Table(table), span)) => Self::new(name, pattern, Some(table), span),
            Some((other, span)) => {
                findings.problem(&name, &span, &format!("must be a table, `[{key}]`, not {}", kind(other)));
                Self::new(name, pattern, None, span)
            }
            None => Self::new(name, pattern, None, 0..0),
        }
    }

    /// The tables of a `[[key]]` list; where there is none the list is empty.
    pub(super) fn sections(&mut self, findings: &mut Findings<'_>, key: &'static str) -> Vec<Self> {
        let (value, name) = self.note(key);
        let Some(value) = value else { return Vec::new() };
        let pattern = joined(&self.pattern, key);
        let DeValue::Array(items) = value.get_ref() else {
            findings.problem(&name, &value.span(), &format!("must be written `[[{key}]]`, once for each"));
            return Vec::new();
        };
        let mut sections = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let name = format!("{name}[{index}]");
            match item.get_ref() {
                DeValue::Table(table) => sections.push(Self::new(name, pattern.clone(), Some(table), item.span())),
                other => findings.problem(&name, &item.span(), &format!("must be a table, not {}", kind(other))),
            }
        }
        sections
    }

    /// Notes that a key must be there, after it was asked for and found absent.
    pub(super) fn missing(&self, findings: &mut Findings<'_>, key: &'static str) {
        findings.problem(&joined(&self.name, key), &self.span, "is missing");
    }

    /// Whether the document has this key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.is_some_and(|table| table.contains_key(key))
    }

    /// The dotted name of a key of this section.
    pub(super) fn name_of(&self, key: &str) -> String {
        joined(&self.name, key)
    }

    /// Ends the section: every key that was not asked for is told, with the nearest one that exists.
    pub(super) fn finish(self, findings: &mut Findings<'_>) {
        let Some(table) = self.table else { return };
        let mut unknown: Vec<_> = table.keys().filter(|key| !self.asked.contains(&key.get_ref().as_ref())).collect();
        unknown.sort_by_key(|key| key.span().start);
        for key in unknown {
            let hint = match nearest(key.get_ref(), self.asked.iter().copied()) {
                Some(known) => format!("is not a known key; did you mean `{}`?", joined(&self.name, known)),
                None => format!("is not a known key; known here: {}", self.asked.join(", ")),
            };
            findings.warning(&joined(&self.name, key.get_ref()), &key.span(), &hint);
        }
    }

    fn ask(
        &mut self,
        findings: &mut Findings<'_>,
        key: &'static str,
    ) -> (Option<&'t toml::Spanned<DeValue<'t>>>, String) {
        findings.asked.push(joined(&self.pattern, key));
        self.note(key)
    }

    fn note(&mut self, key: &'static str) -> (Option<&'t toml::Spanned<DeValue<'t>>>, String) {
        self.asked.push(key);
        (self.table.and_then(|table| table.get(key)), joined(&self.name, key))
    }
}

/// The kind of a value in words.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn joined(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}
