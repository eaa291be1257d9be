//! The planner's write, done for it: a new task into an existing document, or into a fresh one (D64).

use crate::edit::Edit;
use crate::json::{Member, Raw, pretty, quote, spaced};
use crate::{Code, Document, Field, Owner, Problem, QueueFull, Status, document, limits};

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
#[derive(Debug, Clone)]
pub struct Submission<'a> {
    members: Vec<Member<'a>>,
}

impl<'a> Submission<'a> {
    /// Reads a JSON object. `status` and the worker's fields in it are ignored, unknown members are carried over.
    ///
    /// # Errors
    /// `invalid_json`, `not_an_object` or `duplicate_key`.
    pub fn parse(json: &'a str) -> Result<Self, SubmitError> {
        let raw = Raw::parse(json).map_err(|error| SubmitError::Unreadable(document::invalid_json(json, error)))?;
        let Some(members) = raw.members() else {
            let message = format!("the task is {} where one JSON object is needed", raw.kind().described());
            return Err(SubmitError::Unreadable(Problem::whole(Code::NotAnObject, message)));
        };
        let mut seen = std::collections::HashSet::new();
        for member in &members {
            if !seen.insert(&member.key) {
                let rest = "stands in the task twice; remove one of the two";
                return Err(SubmitError::Unreadable(Problem::at(&*member.key, Code::DuplicateKey, rest)));
            }
        }
        Ok(Self { members })
    }

    fn get(&self, field: Field) -> Option<Raw<'a>> {
        self.members.iter().find(|member| member.key == field.name()).map(|member| member.value)
    }

    fn unknown(&self) -> impl Iterator<Item = &Member<'a>> {
        self.members.iter().filter(|member| Field::from_name(&member.key).is_none())
    }
}

/// PENDING with the new task. In an existing document planner fields that the task lacks are removed, unknown fields
/// stay, our fields become null where present (D64). Without one a new document is laid out.
///
/// # Errors
/// [`QueueFull`] when it would be too large to be read again.
pub fn submit(existing: Option<&Document>, task: &Submission<'_>) -> Result<String, QueueFull> {
    match existing {
        Some(document) => replace(document, task),
        None => fresh(task),
    }
}

/// A new document without a task.
#[must_use]
pub fn idle_document() -> String {
    lay_out(&[version(None), (quote(Field::Status.name()), quote(Status::Idle.as_str()))])
}

fn replace(document: &Document, task: &Submission<'_>) -> Result<String, QueueFull> {
    let mut edit = Edit::new(document);
    let version = version(task.get(Field::SchemaVersion)).1;
    edit = edit.set(Field::SchemaVersion, version).set(Field::Status, quote(Status::Pending.as_str()));
    for field in Field::of(Owner::Planner) {
        edit = match task.get(field) {
            Some(value) => edit.set(field, spaced(value.text())),
            None => edit.remove(field),
        };
    }
    edit = Field::of(Owner::Worker).fold(edit, Edit::clear);
    for member in task.unknown() {
        edit = edit.set_key(member.key.clone().into_owned(), spaced(member.value.text()));
    }
    edit.apply()
}

fn fresh(task: &Submission<'_>) -> Result<String, QueueFull> {
    let mut members =
        vec![version(task.get(Field::SchemaVersion)), (quote(Field::Status.name()), quote(Status::Pending.as_str()))];
    let planned =
        Field::of(Owner::Planner).filter_map(|field| Some((quote(field.name()), task.get(field)?.text().into())));
    members.extend(planned);
    members.extend(task.unknown().map(|member| (quote(&member.key), member.value.text().into())));
    let text = lay_out(&members);
    if text.len() > limits::QUEUE_BYTES { Err(QueueFull { size: text.len() }) } else { Ok(text) }
}

fn version(given: Option<Raw<'_>>) -> (String, String) {
    let value = given.map_or_else(|| limits::SCHEMA_VERSION.to_string(), |raw| raw.text().into());
    (quote(Field::SchemaVersion.name()), value)
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

    fn task(json: &str) -> Submission<'_> {
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
}
