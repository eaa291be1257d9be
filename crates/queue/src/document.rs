//! The document as it was read: its bytes, where its members are, and its status. It is never changed in place.
//!
//! Only documents that can be judged exist as a [`Document`]; everything else is a [`Problem`] (D1, D41).

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::json::{self, Raw, Scanner, SyntaxError};
use crate::text::Shown;
use crate::words::Word;
use crate::{Code, DispatchId, Field, Fingerprint, Owner, Problem, Status, limits};

/// A readable `tasks.json`: one object, no repeated key, a valid `status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    text: String,
    /// Just after the opening brace.
    pub(crate) body: usize,
    pub(crate) members: Vec<Span>,
    /// For each [`Field`], the member that holds it.
    fields: [Option<usize>; Field::ALL.len()],
    status: Status,
}

/// Where a top-level member stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// The key with its quotes, as spelled.
    pub(crate) key: Range<usize>,
    pub(crate) value: Range<usize>,
}

impl Document {
    /// Reads a document of at most 256 KiB; a caller that reads from a file needs to pass no more than one byte more.
    ///
    /// # Errors
    /// The first problem of `too_large not_utf8 invalid_json not_an_object duplicate_key`, then those of `status`
    /// (D41). `not_regular_file` is the caller's to find.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        if bytes.len() > limits::QUEUE_BYTES {
            let message = format!("the file is larger than {} bytes; shorten it", limits::QUEUE_BYTES);
            return Err(Problem::whole(Code::TooLarge, message));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let message = format!("the file is not UTF-8 from byte {} on; save it as UTF-8", error.valid_up_to());
            Problem::whole(Code::NotUtf8, message)
        })?;
        Self::from_text(text.to_owned())
    }

    /// Reads a document from text; the size is the caller's business.
    pub(crate) fn from_text(text: String) -> Result<Self, Problem> {
        let (body, members) = scan(&text)?;
        let fields = index(&text, &members)?;
        let raw = fields[Field::Status as usize].map(|at| Raw::trusted(&text[members[at].value.clone()]));
        let status = read_status(raw)?;
        Ok(Self { text, body, members, fields, status })
    }

    /// The bytes as they were read, byte-order mark and final newline included.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The state of the task in the file.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
    }

    /// The value of a field as it stands in the file.
    #[must_use]
    pub fn raw(&self, field: Field) -> Option<&str> {
        self.value(field).map(Raw::text)
    }

    /// The decoded value of a field that is a string.
    #[must_use]
    pub fn string(&self, field: Field) -> Option<Cow<'_, str>> {
        self.value(field).and_then(Raw::as_str)
    }

    /// The dispatch that owns the task, if its `updated_by` is one of ours (D13).
    #[must_use]
    pub fn dispatch_id(&self) -> Option<DispatchId> {
        self.string(Field::UpdatedBy).and_then(|text| DispatchId::from_updated_by(&text))
    }

    /// Whether `updated_by` is `handoffd` or names a dispatch of ours (D64).
    #[must_use]
    pub fn is_written_by_us(&self) -> bool {
        self.dispatch_id().is_some() || self.string(Field::UpdatedBy).is_some_and(|text| text == limits::WRITER)
    }

    /// The fingerprint of the planner's fields (D10).
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self)
    }

    /// The planner's fields that are present, in the order of the protocol's table, each value as it stands in the file.
    pub fn planner_fields(&self) -> impl Iterator<Item = (Field, &str)> {
        Field::of(Owner::Planner).filter_map(|field| Some((field, self.raw(field)?)))
    }

    /// The planner's fields as one JSON object on one line: white space removed, numbers and escapes as written.
    #[must_use]
    pub fn planner_json(&self) -> String {
        let members: Vec<_> =
            self.planner_fields().map(|(field, raw)| format!("\"{}\":{}", field.name(), json::compact(raw))).collect();
        format!("{{{}}}", members.join(","))
    }

    /// The decoded keys that the protocol does not name, in the order of the file.
    pub fn unknown_keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.members.iter().map(|member| self.key(member)).filter(|key| Field::from_name(key).is_none())
    }

    pub(crate) fn value(&self, field: Field) -> Option<Raw<'_>> {
        let at = self.fields[field as usize]?;
        Some(Raw::trusted(&self.text[self.members[at].value.clone()]))
    }

    /// The decoded key of a member.
    pub(crate) fn key(&self, member: &Span) -> Cow<'_, str> {
        decoded_key(&self.text, member)
    }
}

fn decoded_key<'a>(text: &'a str, member: &Span) -> Cow<'a, str> {
    Raw::trusted(&text[member.key.clone()]).as_str().unwrap_or_default()
}

/// Checks the whole text and finds the members of its object.
fn scan(text: &str) -> Result<(usize, Vec<Span>), Problem> {
    let start = json::start(text);
    let mut scanner = Scanner::new(text, start);
    scanner.space();
    let top = text[start..].trim_start_matches([' ', '\t', '\n', '\r']);
    let mut members = Vec::new();
    let scanned = if top.starts_with('{') {
        scanner.object(|key, value| members.push(Span { key, value }))
    } else {
        scanner.value().map(|_| ())
    };
    scanned.and_then(|()| scanner.end()).map_err(|error| invalid_json(text, error))?;
    if top.starts_with('{') {
        Ok((text.len() - top.len() + 1, members))
    } else {
        let kind = Raw::trusted(top).kind().described();
        let message = format!("the file holds {kind} where one JSON object is needed");
        Err(Problem::whole(Code::NotAnObject, message))
    }
}

/// A syntax error with line and column, both counted from one, the column in characters.
pub(crate) fn invalid_json(text: &str, error: SyntaxError) -> Problem {
    let before = &text.as_bytes()[..error.at.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    let message = format!("not valid JSON at line {line} column {column}: {}", error.what);
    Problem::whole(Code::InvalidJson, message)
}

/// Finds our fields, and the first repeated key, whatever its spelling.
fn index(text: &str, members: &[Span]) -> Result<[Option<usize>; Field::ALL.len()], Problem> {
    let mut fields = [None; Field::ALL.len()];
    let mut seen = HashSet::with_capacity(members.len());
    for (at, member) in members.iter().enumerate() {
        let key = decoded_key(text, member);
        if let Some(field) = Field::from_name(&key) {
            fields[field as usize] = Some(at);
        }
        if seen.contains(&key) {
            let rest = "stands in the document twice, so its meaning is unknown; remove one of the two";
            return Err(Problem::at(key.into_owned(), Code::DuplicateKey, rest));
        }
        seen.insert(key);
    }
    Ok(fields)
}

fn read_status(raw: Option<Raw<'_>>) -> Result<Status, Problem> {
    let name = Field::Status.name();
    let words = crate::validate::word_list::<Status>();
    let Some(raw) = raw else {
        return Err(Problem::at(name, Code::MissingField, format!("is missing; add it with one of {words}")));
    };
    let Some(text) = raw.as_str() else {
        let rest = format!("is {}; it must be one of {words}", raw.kind().described());
        return Err(Problem::at(name, Code::WrongType, rest));
    };
    Status::from_text(&text).ok_or_else(|| {
        let hint = crate::validate::case_hint::<Status>(&text);
        let rest = format!("is {}; it must be one of {words}{hint}", Shown(&text));
        Problem::at(name, Code::UnknownValue, rest)
    })
}
