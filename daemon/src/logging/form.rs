//! The forms of a line: pretty for a terminal, plain for files and systemd, JSON for programs.
//!
//! Project and task come before the message, so that foreign words in a message can never pass for them.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::Value;
use tracing::Level;

use super::fact::{Fact, How, Repeated};

/// The forms, after `auto` was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// For a terminal.
    Pretty(Paint),
    /// With the time, for files and pipes.
    Plain,
    /// With `<N>` for the priority and without the time, for a service manager that adds its own.
    Priority,
    /// One JSON object.
    Json,
}

/// Whether escape sequences are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Colours,
    Nothing,
}

impl Form {
    /// The line for `fact`, with its line feed.
    pub(super) fn line(self, fact: &Fact) -> String {
        let mut line = String::with_capacity(160);
        match self {
            Self::Pretty(paint) => pretty(&mut line, fact, paint),
            Self::Plain => {
                // Writing to a string cannot fail.
                write!(line, "{} {:<5} ", fact.at, fact.level).ok();
                plain(&mut line, fact);
            }
            Self::Priority => {
                write!(line, "<{}>", priority(fact.level)).ok();
                plain(&mut line, fact);
            }
            Self::Json => json(&mut line, fact),
        }
        line.push('\n');
        line
    }
}

/// The project that a line of a log file, plain or JSON, is about.
#[must_use]
pub fn project_of_line(line: &str) -> Option<String> {
    subject(line, "project")
}

/// The task that a line of a log file, plain or JSON, is about.
#[must_use]
pub fn task_of_line(line: &str) -> Option<String> {
    subject(line, "task")
}

/// Project and task stand before the message, in this order; nothing behind them counts.
fn subject(line: &str, wanted: &str) -> Option<String> {
    if line.starts_with('{') {
        let object: Value = serde_json::from_str(line).ok()?;
        return object.get(wanted)?.as_str().map(str::to_owned);
    }
    let after_time = line.split_once(' ')?.1;
    let mut rest = after_time.split_once(' ')?.1.trim_start();
    for name in ["project", "task"] {
        let Some((value, behind)) = rest.strip_prefix(name).and_then(|rest| word(rest.strip_prefix('=')?)) else {
            continue;
        };
        if name == wanted {
            return Some(value);
        }
        rest = behind;
    }
    None
}

/// The word at the beginning, as `push_word` writes it, and what follows it.
fn word(text: &str) -> Option<(String, &str)> {
    if !text.starts_with('"') {
        let (word, rest) = text.split_once(' ')?;
        return Some((word.to_owned(), rest));
    }
    let mut texts = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let word = texts.next()?.ok()?;
    Some((word, text[texts.byte_offset()..].trim_start()))
}

fn pretty(line: &mut String, fact: &Fact, paint: Paint) {
    let styled = |line: &mut String, style: Style, text: &str| match paint {
        Paint::Colours => write!(line, "{style}{text}{style:#}").ok(),
        Paint::Nothing => write!(line, "{text}").ok(),
    };
    styled(line, Style::new().dimmed(), &fact.at.local_time_of_day());
    line.push(' ');
    styled(line, style_of(fact.level), &format!("{:<5}", fact.level));
    for name in [&fact.said.project, &fact.said.task].into_iter().flatten() {
        line.push(' ');
        styled(line, Style::new().bold(), name);
    }
    write!(line, " {}", fact.said.message).ok();
    let mut fields = String::new();
    push_fields(&mut fields, fact);
    styled(line, Style::new().dimmed(), &fields);
    push_repeated(line, fact.repeated);
}

fn plain(line: &mut String, fact: &Fact) {
    for (name, value) in [("project", &fact.said.project), ("task", &fact.said.task)] {
        if let Some(value) = value {
            write!(line, "{name}=").ok();
            push_word(line, value);
            line.push(' ');
        }
    }
    let message = fact.said.message.as_str();
    if ["project=", "task="].iter().any(|name| message.starts_with(name)) {
        write!(line, "{}", Value::from(message)).ok();
    } else {
        line.push_str(message);
    }
    push_fields(line, fact);
    push_repeated(line, fact.repeated);
}

fn push_fields(line: &mut String, fact: &Fact) {
    for (name, value) in &fact.said.fields {
        write!(line, " {name}=").ok();
        match value {
            Value::String(text) => push_word(line, text),
            other => drop(write!(line, "{other}")),
        }
    }
}

/// A value bare when it is one word, else quoted as JSON.
fn push_word(line: &mut String, text: &str) {
    let bare = !text.is_empty() && !text.contains([' ', '"', '=', '\\', '\u{a0}']);
    if bare {
        line.push_str(text);
    } else {
        write!(line, "{}", Value::from(text)).ok();
    }
}

fn push_repeated(line: &mut String, repeated: Option<Repeated>) {
    if let Some(Repeated { count, within_ms, how }) = repeated {
        let like = if how == How::Alike { " like it" } else { "" };
        write!(line, " ({count} more{like} in {} s)", within_ms.div_ceil(1000).max(1)).ok();
    }
}

fn json(line: &mut String, fact: &Fact) {
    let row = Row {
        at: fact.at.to_string(),
        level: fact.level.as_str().to_ascii_lowercase(),
        project: fact.said.project.as_deref(),
        task: fact.said.task.as_deref(),
        message: &fact.said.message,
        fields: fact.said.fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        target: fact.target,
        repeated: fact.repeated.map(|repeated| repeated.count),
        within_ms: fact.repeated.map(|repeated| repeated.within_ms),
    };
    // Texts, numbers and flat maps: there is nothing that could fail.
    line.push_str(&serde_json::to_string(&row).unwrap_or_default());
}

#[derive(Serialize)]
struct Row<'a> {
    at: String,
    level: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    message: &'a str,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    fields: serde_json::Map<String, Value>,
    target: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeated: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    within_ms: Option<u64>,
}

fn style_of(level: Level) -> Style {
    match level {
        Level::ERROR => AnsiColor::Red.on_default().bold(),
        Level::WARN => AnsiColor::Yellow.on_default(),
        Level::INFO => AnsiColor::Green.on_default(),
        Level::DEBUG => AnsiColor::Blue.on_default(),
        _ => AnsiColor::Magenta.on_default(),
    }
}

/// The syslog priority that `sd-daemon(3)` describes.
pub(crate) fn priority(level: Level) -> u8 {
    match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        _ => 7,
    }
}
