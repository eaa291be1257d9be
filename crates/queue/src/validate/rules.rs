//! One rule for each field of the planner. Rules are independent: a fault ends only the checks that need the value (D46).

use std::borrow::Cow;

use super::path::{PathUse, check_path};
use super::{case_hint, timestamp, word_list};
use crate::json::{Raw, Type};
use crate::text::{Shown, has_line_break, is_blank, is_longer_than};
use crate::words::Word;
use crate::{Code, Document, Field, Gate, Planner, Problem, ProjectPaths, RequiredRole, TaskType, limits};

/// Reads the fields in the order of the table and collects what is wrong.
struct Reader<'a> {
    document: &'a Document,
    /// `None`: paths are judged as written only.
    paths: Option<&'a dyn ProjectPaths>,
    problems: Vec<Problem>,
}

pub(super) fn read(document: &Document, paths: Option<&dyn ProjectPaths>) -> Result<Planner, Vec<Problem>> {
    let mut reader = Reader { document, paths, problems: Vec::new() };
    reader.problems.extend(schema_version(document));
    let planner = reader.planner();
    match planner {
        Some(planner) if reader.problems.is_empty() => Ok(planner),
        _ => Err(reader.problems),
    }
}

/// What is wrong with `schema_version`, if anything (D45).
pub(crate) fn schema_version(document: &Document) -> Option<Problem> {
    let name = Field::SchemaVersion.name();
    let wanted = limits::SCHEMA_VERSION;
    let Some(raw) = document.value(Field::SchemaVersion) else {
        return Some(Problem::at(name, Code::MissingField, format!("is missing; add it with the integer {wanted}")));
    };
    let is_integer = raw.kind() == Type::Number && !raw.text().contains(['.', 'e', 'E']);
    if !is_integer {
        let found = if raw.kind() == Type::Number { "not a plain integer" } else { raw.kind().described() };
        return Some(Problem::at(name, Code::WrongType, format!("is {found}; it must be the integer {wanted}")));
    }
    if raw.text() == wanted.to_string() {
        return None;
    }
    let rest = format!("is {}; this program knows version {wanted} only", crate::text::clean(raw.text()));
    Some(Problem::at(name, Code::UnsupportedSchemaVersion, rest))
}

/// What a required field needs, to end a message with.
const fn wanted(field: Field) -> &'static str {
    match field {
        Field::TaskType => "the kind of work, such as `IMPLEMENT`",
        Field::RequiredRole => "`writer`, `read-only` or `any`",
        Field::Instruction => "a text that says what to do",
        Field::WorkingDir => "a folder inside the project, such as `.`",
        Field::Scope => "the paths that may change, such as `[\"src\"]`",
        Field::AcceptanceCriteria => "the checks that tell when the task is done, such as `[\"the tests pass\"]`",
        Field::CreatedAt => "a time like `2026-11-30T08:00:00Z`",
        Field::CreatedBy => "`claude-code`",
        _ => "one line of at most 200 characters",
    }
}

impl<'a> Reader<'a> {
    /// `None` only after a problem was noted.
    fn planner(&mut self) -> Option<Planner> {
        let task_id = self.required(Field::TaskId).and_then(|raw| self.identifier(Field::TaskId, raw));
        let task_type = self.required(Field::TaskType).and_then(|raw| self.word::<TaskType>(Field::TaskType, raw));
        let required_role = self.required_role(task_type);
        let preferred_agent = self.optional(Field::PreferredAgent, Self::string);
        let gate = self.gate(task_type);
        let gate_reason = self.gate_reason(gate);
        let parent_task_id = self.optional(Field::ParentTaskId, Self::identifier);
        let instruction = self.instruction();
        let working_dir = self.working_dir();
        let scope = self.list(Field::Scope, Self::scope_entry);
        let acceptance_criteria = self.list(Field::AcceptanceCriteria, Self::text_at);
        let plan_ref = self.optional(Field::PlanRef, Self::string);
        let created_at = self.created_at();
        self.created_by();
        Some(Planner {
            task_id: task_id?.into_owned(),
            task_type: task_type?,
            required_role: required_role?,
            preferred_agent: preferred_agent?.map(Cow::into_owned),
            gate: gate?,
            gate_reason: gate_reason?.map(Cow::into_owned),
            parent_task_id: parent_task_id?.map(Cow::into_owned),
            instruction: instruction?.into_owned(),
            working_dir: working_dir?.into_owned(),
            scope: scope?,
            acceptance_criteria: acceptance_criteria?,
            plan_ref: plan_ref?.map(Cow::into_owned),
            created_at: created_at?.into_owned(),
        })
    }

    fn note(&mut self, field: Field, code: Code, rest: impl std::fmt::Display) {
        self.problems.push(Problem::at(field.name(), code, rest));
    }

    fn required(&mut self, field: Field) -> Option<Raw<'a>> {
        let raw = self.document.value(field);
        if raw.is_none() {
            self.note(field, Code::MissingField, format!("is missing; it needs {}", wanted(field)));
        }
        raw
    }

    /// `Some(None)` when absent or null.
    fn optional<T>(
        &mut self,
        field: Field,
        read: impl FnOnce(&mut Self, Field, Raw<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.document.value(field) {
            Some(raw) if !raw.is_null() => read(self, field, raw).map(Some),
            _ => Some(None),
        }
    }

    fn string(&mut self, field: Field, raw: Raw<'a>) -> Option<Cow<'a, str>> {
        let text = raw.as_str();
        if text.is_none() {
            self.note(field, Code::WrongType, format!("is {}; it must be a string", raw.kind().described()));
        }
        text
    }

    fn text(&mut self, field: Field, raw: Raw<'a>) -> Option<Cow<'a, str>> {
        let text = self.string(field, raw)?;
        if is_blank(&text) {
            self.note(field, Code::BlankField, format!("is blank; it needs {}", wanted(field)));
            return None;
        }
        Some(text)
    }

    /// The rules of `task_id` (D44).
    fn identifier(&mut self, field: Field, raw: Raw<'a>) -> Option<Cow<'a, str>> {
        let text = self.text(field, raw)?;
        if is_longer_than(&text, limits::TASK_ID_CHARS) {
            let rest =
                format!("has {} characters, at most {} are allowed", text.chars().count(), limits::TASK_ID_CHARS);
            self.note(field, Code::FieldTooLong, rest);
        }
        if has_line_break(&text) {
            self.note(field, Code::NotSingleLine, format!("is {}; it must be a single line", Shown(&text)));
        }
        Some(text)
    }

    fn word<W: Word>(&mut self, field: Field, raw: Raw<'a>) -> Option<W> {
        let text = self.string(field, raw)?;
        let word = W::from_text(&text);
        if word.is_none() {
            let rest = format!("is {}; it must be one of {}{}", Shown(&text), word_list::<W>(), case_hint::<W>(&text));
            self.note(field, Code::UnknownValue, rest);
        }
        word
    }

    fn required_role(&mut self, task_type: Option<TaskType>) -> Option<RequiredRole> {
        let field = Field::RequiredRole;
        let role: RequiredRole = self.required(field).and_then(|raw| self.word(field, raw))?;
        let wrong = match (task_type?.writes(), role) {
            (true, RequiredRole::ReadOnly) => Some("`writer` or `any`"),
            (false, RequiredRole::Writer) => Some("`read-only` or `any`"),
            _ => None,
        };
        if let (Some(wanted), Some(task_type)) = (wrong, task_type) {
            self.note(field, Code::RoleMismatch, format!("is `{role}`; a task of type `{task_type}` needs {wanted}"));
        }
        Some(role)
    }

    fn gate(&mut self, task_type: Option<TaskType>) -> Option<Gate> {
        let gate = self.optional(Field::Gate, Self::word::<Gate>)?.unwrap_or(Gate::None);
        if let Some(task_type) = task_type.filter(|task_type| gate != Gate::None && !task_type.writes()) {
            let rest =
                format!("is `{gate}`; a task of type `{task_type}` changes nothing and can have no gate: use `none`");
            self.note(Field::Gate, Code::GateNotAllowed, rest);
        }
        Some(gate)
    }

    fn gate_reason(&mut self, gate: Option<Gate>) -> Option<Option<Cow<'a, str>>> {
        let reason = self.optional(Field::GateReason, Self::string)?;
        if let Some(gate) = gate.filter(|gate| *gate != Gate::None)
            && reason.as_deref().is_none_or(is_blank)
        {
            let rest = format!("is missing or blank; say why the gate `{gate}` is needed");
            self.note(Field::GateReason, Code::GateReasonRequired, rest);
        }
        Some(reason)
    }

    fn instruction(&mut self) -> Option<Cow<'a, str>> {
        let field = Field::Instruction;
        let text = self.required(field).and_then(|raw| self.text(field, raw))?;
        if text.len() > limits::INSTRUCTION_BYTES {
            let rest = format!("has {} bytes, at most {} are allowed", text.len(), limits::INSTRUCTION_BYTES);
            self.note(field, Code::FieldTooLong, format!("{rest}; put the rest into a file and name it in `plan_ref`"));
        }
        Some(text)
    }

    fn working_dir(&mut self) -> Option<Cow<'a, str>> {
        let field = Field::WorkingDir;
        let raw = self.required(field)?;
        let path = check_path(field.name(), raw, PathUse::WorkingDir, self.paths);
        self.problems.extend(path.as_ref().err().cloned());
        path.ok()
    }

    /// A list with its entries; entries of a list that is too long are checked all the same (D46).
    fn list(
        &mut self,
        field: Field,
        mut item: impl FnMut(&mut Self, &str, Raw<'a>) -> Option<String>,
    ) -> Option<Vec<String>> {
        let raw = self.required(field)?;
        let Some(items) = raw.items() else {
            self.note(field, Code::WrongType, format!("is {}; it must be an array of strings", raw.kind().described()));
            return None;
        };
        if items.is_empty() {
            self.note(field, Code::TooFewItems, format!("is empty; it needs {}", wanted(field)));
        }
        if items.len() > limits::LIST_ITEMS {
            let rest = format!("has {} entries, at most {} are allowed", items.len(), limits::LIST_ITEMS);
            self.note(field, Code::TooManyItems, rest);
        }
        let entries = items.into_iter().take(limits::PROBLEMS_OF_A_LIST).enumerate();
        let read: Vec<_> = entries.map(|(index, raw)| item(self, &format!("{}[{index}]", field.name()), raw)).collect();
        read.into_iter().collect()
    }

    fn scope_entry(&mut self, name: &str, raw: Raw<'a>) -> Option<String> {
        let path = check_path(name, raw, PathUse::Scope, self.paths);
        self.problems.extend(path.as_ref().err().cloned());
        path.ok().map(Cow::into_owned)
    }

    fn text_at(&mut self, name: &str, raw: Raw<'a>) -> Option<String> {
        let problem = match raw.as_str() {
            None => Problem::at(name, Code::WrongType, format!("is {}; it must be a string", raw.kind().described())),
            Some(text) if is_blank(&text) => Problem::at(name, Code::BlankField, "is blank"),
            Some(text) => return Some(text.into_owned()),
        };
        self.problems.push(problem);
        None
    }

    fn created_at(&mut self) -> Option<Cow<'a, str>> {
        let field = Field::CreatedAt;
        let text = self.required(field).and_then(|raw| self.text(field, raw))?;
        if !timestamp::is_valid(&text) {
            let rest = format!("is {}, which is no date or time; write it like `2026-11-30T08:00:00Z`", Shown(&text));
            self.note(field, Code::InvalidTimestamp, rest);
        }
        Some(text)
    }

    fn created_by(&mut self) {
        let field = Field::CreatedBy;
        let Some(text) = self.required(field).and_then(|raw| self.string(field, raw)) else { return };
        if text != limits::CREATOR {
            let rest = format!("is {}; it must be `{}`", Shown(&text), limits::CREATOR);
            self.note(field, Code::WrongCreator, rest);
        }
    }
}
