//! The planner's write, done for it: a new task into an existing document, or into a fresh one (D64).

use std::borrow::Cow;
use std::collections::HashSet;

use jiff::Timestamp;

use crate::edit::Edit;
use crate::json::{Raw, pretty, quote, spaced};
use crate::{Code, Document, Field, Owner, Problem, QueueFull, Status, document, format_time, limits};

/// Why a task could not be made into a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The task is not one JSON object with distinct keys.
    #[error("{}", .0.message)]
    Unreadable(Problem),
    /// The document would be too large.
    #[error(transparent)]
    Full(#[from] QueueFull),
}

/// A task as its planner gave it: members with distinct keys. It is not validated: do that with the document that
/// [`submit`] makes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// Decoded keys and JSON texts.
    members: Vec<(String, String)>,
}

impl Submission {
    /// Reads a JSON object. `status` and the worker's fields in it are ignored, unknown members are carried over.
    ///
    /// # Errors
    /// `invalid_json`, `not_an_object` or `duplicate_key`.
    pub fn parse(json: &str) -> Result<Self, SubmitError> {
        let raw = Raw::parse(json).map_err(|error| SubmitError::Unreadable(document::invalid_json(json, error)))?;
        let Some(members) = raw.members() else {
            let message = format!("the task is {} where one JSON object is needed", raw.kind().described());
            return Err(SubmitError::Unreadable(Problem::whole(Code::NotAnObject, message)));
        };
        let mut seen = HashSet::new();
        if let Some(twice) = members.iter().find(|member| !seen.insert(&member.key)) {
            let rest = "stands in the task twice; remove one of the two";
            return Err(SubmitError::Unreadable(Problem::at(&*twice.key, Code::DuplicateKey, rest)));
        }
        let owned = members.iter().map(|member| (member.key.clone().into_owned(), member.value.text().to_owned()));
        Ok(Self { members: owned.collect() })
    }

    /// The JSON text of a field.
    #[must_use]
    pub fn raw(&self, field: Field) -> Option<&str> {
        self.members.iter().find(|(key, _)| key == field.name()).map(|(_, value)| value.as_str())
    }

    /// The decoded value of a field that is a string.
    #[must_use]
    pub fn string(&self, field: Field) -> Option<Cow<'_, str>> {
        self.raw(field).and_then(|raw| Raw::trusted(raw).as_str())
    }

    /// Gives a field a string, in place of what it had.
    pub fn set_string(&mut self, field: Field, text: &str) {
        let value = quote(text);
        match self.members.iter_mut().find(|(key, _)| key == field.name()) {
            Some((_, old)) => *old = value,
            None => self.members.push((field.name().to_owned(), value)),
        }
    }

    /// The task again, under another id, as a follow-up of itself (`task.retry`).
    #[must_use]
    pub fn follow_up(mut self, task_id: &str, created_at: Timestamp) -> Self {
        if let Some(parent) = self.string(Field::TaskId).map(Cow::into_owned) {
            self.set_string(Field::ParentTaskId, &parent);
        }
        self.set_string(Field::TaskId, task_id);
        self.set_string(Field::CreatedAt, &format_time(created_at));
        self
    }

    /// The keys that the protocol does not name.
    pub fn unknown_keys(&self) -> impl Iterator<Item = &str> {
        self.unknown().map(|(key, _)| key.as_str())
    }

    fn unknown(&self) -> impl Iterator<Item = &(String, String)> {
        self.members.iter().filter(|(key, _)| Field::from_name(key).is_none())
    }

    fn version(&self) -> String {
        self.raw(Field::SchemaVersion).map_or_else(|| limits::SCHEMA_VERSION.to_string(), ToOwned::to_owned)
    }
}

/// PENDING with the new task. In an existing document planner fields that the task lacks are removed, unknown fields
/// stay, our fields become null where present (D64). Without one a new document is laid out.
///
/// # Errors
/// [`QueueFull`] when it would be too large to be read again.
pub fn submit(existing: Option<&Document>, task: &Submission) -> Result<String, QueueFull> {
    match existing {
        Some(document) => replace(document, task),
        None => fresh(task),
    }
}

/// A new document without a task.
#[must_use]
pub fn idle_document() -> String {
    lay_out(&[head(Field::SchemaVersion, limits::SCHEMA_VERSION.to_string()), status(Status::Idle)])
}

fn replace(document: &Document, task: &Submission) -> Result<String, QueueFull> {
    let mut edit = Edit::new(document)
        .set(Field::SchemaVersion, task.version())
        .set(Field::Status, quote(Status::Pending.as_str()));
    for field in Field::of(Owner::Planner) {
        edit = match task.raw(field) {
            Some(value) => edit.set(field, spaced(value)),
            None => edit.remove(field),
        };
    }
    edit = Field::of(Owner::Worker).fold(edit, Edit::clear);
    edit = task.unknown().fold(edit, |edit, (key, value)| edit.set_key(key.clone(), spaced(value)));
    edit.apply()
}

fn fresh(task: &Submission) -> Result<String, QueueFull> {
    let mut members = vec![head(Field::SchemaVersion, task.version()), status(Status::Pending)];
    members.extend(Field::of(Owner::Planner).filter_map(|field| Some(head(field, task.raw(field)?.to_owned()))));
    members.extend(task.unknown().map(|(key, value)| (quote(key), value.clone())));
    let text = lay_out(&members);
    if text.len() > limits::QUEUE_BYTES { Err(QueueFull { size: text.len() }) } else { Ok(text) }
}

fn head(field: Field, value: String) -> (String, String) {
    (quote(field.name()), value)
}

fn status(status: Status) -> (String, String) {
    head(Field::Status, quote(status.as_str()))
}

/// Members (JSON texts of key and value) as an object over several lines, two spaces a level.
fn lay_out(members: &[(String, String)]) -> String {
    let members: Vec<_> =
        members.iter().map(|(key, value)| format!("  {key}: {}", pretty(value, "\n", "  ", 1))).collect();
    format!("{{\n{}\n}}\n", members.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(json: &str) -> Submission {
        Submission::parse(json).unwrap()
    }

    #[test]
    fn a_fresh_document_is_tidy() {
        let text =
            submit(None, &task(r#"{"scope":["a","b"],"task_id":"T","x":{},"status":"IDLE","result":"no"}"#)).unwrap();
        let expected = "{\n  \"schema_version\": 3,\n  \"status\": \"PENDING\",\n  \"task_id\": \"T\",\n  \
                        \"scope\": [\n    \"a\",\n    \"b\"\n  ],\n  \"x\": {}\n}\n";
        assert_eq!(text, expected);
        assert_eq!(idle_document(), "{\n  \"schema_version\": 3,\n  \"status\": \"IDLE\"\n}\n");
    }

    #[test]
    fn an_existing_document_keeps_what_is_not_the_tasks() {
        let source = "{\"x\" : 1.0,\"task_id\":\"old\",\"plan_ref\":\"p\",\"status\":\"ERROR\",\"error\":\"e\",\"updated_by\":\"pi\"}";
        let document = Document::parse(source.as_bytes()).unwrap();
        let text = submit(Some(&document), &task("{\"task_id\":\"new\",\"scope\":[\"a\",\n\"b\"]}")).unwrap();
        let expected = "{\"x\" : 1.0,\"task_id\":\"new\",\"status\":\"PENDING\",\"error\":null,\"updated_by\":null,\
                        \"schema_version\":3,\"scope\":[\"a\", \"b\"]}";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_task_with_two_meanings_is_refused() {
        for (json, code) in [
            (r#"{"task_id":"a","task\u005fid":"b"}"#, Code::DuplicateKey),
            ("[]", Code::NotAnObject),
            ("{", Code::InvalidJson),
        ] {
            let SubmitError::Unreadable(problem) = Submission::parse(json).unwrap_err() else { panic!("{json}") };
            assert_eq!(problem.code, code, "{json}");
        }
    }

    #[test]
    fn a_follow_up_names_its_parent() {
        let task =
            task("{\"task_id\":\"T-1\",\"created_at\":\"x\",\"n\":1.50}").follow_up("T-2", Timestamp::UNIX_EPOCH);
        assert_eq!(task.string(Field::TaskId).unwrap(), "T-2");
        assert_eq!(task.string(Field::ParentTaskId).unwrap(), "T-1");
        assert_eq!(task.string(Field::CreatedAt).unwrap(), "1970-01-01T00:00:00.000Z");
        assert!(submit(None, &task).unwrap().contains("\"n\": 1.50"));
    }
}
