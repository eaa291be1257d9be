//! What a call is answered. Some clients give a model the text, others (Claude Code, when there is one) only the structured
//! content; of a refusal most give the text alone. So the text says everything, and the structured content holds the text.

use mcp::Outcome;
use serde_json::{Map, Value, json};

use handoffd::logging::sanitize::one_line;

use crate::daemon::is_absent;
use crate::failure::Failure;

/// The most of one answer, in characters: a model has to read it, and clients cut what is longer without a word.
const MOST: usize = 40_000;

/// A good answer on its way.
#[derive(Debug, Default)]
pub(super) struct Told {
    lines: Vec<String>,
    members: Map<String, Value>,
}

impl Told {
    /// With one more sentence. Its text may be foreign.
    pub(super) fn line(&mut self, line: impl AsRef<str>) -> &mut Self {
        self.lines.push(line.as_ref().to_owned());
        self
    }

    /// With one more member for programs.
    pub(super) fn member(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// As the server gives it.
    pub(super) fn into_outcome(self) -> Outcome {
        let text = clean_text(&self.lines.join("\n"));
        let members = self.members.into_iter().map(|(key, value)| (key, clean(value)));
        // The words first: some clients show a person only the beginning.
        let first = [("ok".to_owned(), true.into()), ("text".to_owned(), text.clone().into())];
        Outcome::Told { text, result: first.into_iter().chain(members).collect() }
    }
}

/// A daemon that cannot be spoken with, and what that means: two sentences.
pub(super) fn without_daemon(absent: &Failure) -> String {
    let remedies = absent.hints.join("; ");
    format!("{absent}. Nothing is taken up and nothing goes on until it answers; ask the person: {remedies}.")
}

/// A failure as its caller can mend it: what is wrong, one by one, and what to do.
pub(super) fn refused(failure: &Failure) -> Outcome {
    let code = match failure.code {
        Some(code) => code,
        None if is_absent(failure) => "daemon_not_running",
        None => "refused",
    };
    let mut lines = vec![format!("{code}: {}", failure.message)];
    lines.extend(failure.problems.iter().map(|problem| format!("- {problem}")));
    lines.extend(failure.hints.iter().map(|hint| format!("Hint: {hint}")));
    let text = clean_text(&lines.join("\n"));
    let members = json!({
        "ok": false, "text": text, "code": code, "message": failure.message, "problems": failure.problems,
        "hints": failure.hints,
    });
    let result = match clean(members) {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    Outcome::Objected { text, result }
}

/// Each line without characters that hide or reorder text; what is over the limit is left out, and that is said.
fn clean_text(text: &str) -> String {
    let clean = |line: &str| {
        let body = line.trim_start_matches(' ');
        format!("{}{}", &line[..line.len() - body.len()], one_line(body).trim_end())
    };
    let text = text.lines().map(clean).collect::<Vec<_>>().join("\n");
    match text.char_indices().nth(MOST) {
        None => text,
        Some((end, _)) => format!("{}\n[cut here: the answer is longer than {MOST} characters]", &text[..end]),
    }
}

/// The same for every text in a value; lines stay lines.
fn clean(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean_text(&text)),
        Value::Array(items) => items.into_iter().map(clean).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, clean(value))).collect(),
        other => other,
    }
}
