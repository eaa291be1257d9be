//! An object of the report and its members by name. It notes what is absent or of a wrong type, and nothing more.

use std::borrow::Cow;

use crate::json::{Member, Raw};
use crate::text::is_blank;
use crate::{Code, Problem, limits};

/// An object with the path that leads to it.
pub(super) struct Object<'a> {
    /// Empty for the report itself, else with a final dot.
    prefix: String,
    members: Vec<Member<'a>>,
}

impl<'a> Object<'a> {
    /// `None` when the value is not an object.
    pub(super) fn read(path: &str, raw: Raw<'a>) -> Option<Self> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        Some(Self { prefix, members: raw.members()? })
    }

    /// A member; of repeated ones the last.
    pub(super) fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.members.iter().rev().find(|member| member.key == key).map(|member| member.value)
    }

    /// A member that is not null.
    pub(super) fn given(&self, key: &str) -> Option<Raw<'a>> {
        self.get(key).filter(|raw| !raw.is_null())
    }

    /// A member's string, if it is one.
    pub(super) fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key).and_then(Raw::as_str)
    }

    /// A member's path from the report on.
    pub(super) fn path(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    pub(super) fn problem(&self, key: &str, code: Code, rest: impl std::fmt::Display) -> Problem {
        Problem::at(self.path(key), code, rest)
    }

    pub(super) fn required(&self, key: &str, problems: &mut Vec<Problem>) -> Option<Raw<'a>> {
        let raw = self.get(key);
        if raw.is_none() {
            problems.push(self.problem(key, Code::MissingField, "is missing"));
        }
        raw
    }

    pub(super) fn required_string(&self, key: &str, problems: &mut Vec<Problem>) -> Option<Cow<'a, str>> {
        let raw = self.required(key, problems)?;
        let text = raw.as_str();
        if text.is_none() {
            problems.push(wrong_type(&self.path(key), raw, "a string"));
        }
        text
    }

    /// A string that says something.
    pub(super) fn required_text(&self, key: &str, problems: &mut Vec<Problem>) -> Option<Cow<'a, str>> {
        let text = self.required_string(key, problems)?;
        if is_blank(&text) {
            problems.push(self.problem(key, Code::BlankField, "is blank"));
            return None;
        }
        Some(text)
    }
}

/// `raw` at `path` is not what is wanted there.
pub(super) fn wrong_type(path: &str, raw: Raw<'_>, wanted: &str) -> Problem {
    Problem::at(path, Code::WrongType, format!("is {}; it must be {wanted}", raw.kind().described()))
}

/// The strings of an array; what is not a string is noted with its index.
pub(super) fn strings<'a>(path: &str, raw: Raw<'a>, problems: &mut Vec<Problem>) -> Vec<Cow<'a, str>> {
    let Some(items) = raw.items() else {
        problems.push(wrong_type(path, raw, "an array of strings"));
        return Vec::new();
    };
    let mut texts = Vec::new();
    let most = problems.len() + limits::PROBLEMS_OF_A_LIST;
    for (index, item) in items.into_iter().enumerate() {
        match item.as_str() {
            Some(text) => texts.push(text),
            None if problems.len() < most => problems.push(wrong_type(&format!("{path}[{index}]"), item, "a string")),
            None => break,
        }
    }
    texts
}
