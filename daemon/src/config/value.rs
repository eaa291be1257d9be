//! Judges of single values: what may stand behind a key, in words that say how to write it.
//!
//! No key is named here; the reader puts key and line in front of each message.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use toml::de::DeValue;

use super::reader::kind;
use crate::env::Env;

/// Most entries of `context.files` (D68).
pub const MAX_CONTEXT_FILES: usize = 16;
/// Longest project name, in characters.
pub const MAX_NAME: usize = 64;
/// Longest work-log heading, in characters.
pub const MAX_HEADING: usize = 200;

/// The verdict on one value.
#[derive(Debug, PartialEq)]
pub(super) enum Judged<T> {
    /// Taken as written.
    Good(T),
    /// Taken after a change that the message tells.
    Adjusted(T, String),
    /// Refused; the message completes "`key` …".
    Bad(String),
}

impl<T> Judged<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Judged<U> {
        match self {
            Self::Good(value) => Judged::Good(change(value)),
            Self::Adjusted(value, remark) => Judged::Adjusted(change(value), remark),
            Self::Bad(message) => Judged::Bad(message),
        }
    }
}

impl<T> From<Result<T, String>> for Judged<T> {
    fn from(result: Result<T, String>) -> Self {
        result.map_or_else(Self::Bad, Self::Good)
    }
}

/// A limit of time that can be off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// No limit.
    Off,
    /// The limit.
    After(Duration),
}

impl TimeLimit {
    /// The limit, `None` when it is off.
    #[must_use]
    pub fn duration(self) -> Option<Duration> {
        match self {
            Self::Off => None,
            Self::After(duration) => Some(duration),
        }
    }
}

/// Shortest and longest duration that a key takes; others are moved to the nearer end, with a warning.
#[derive(Debug, Clone, Copy)]
pub(super) struct DurationRange {
    pub(super) min: Duration,
    pub(super) max: Duration,
}

/// A duration as humantime writes it, moved into the range.
pub(super) fn duration(range: DurationRange) -> impl Fn(&DeValue<'_>) -> Judged<Duration> {
    move |value| {
        let Some(text) = value.as_str() else {
            return Judged::Bad(format!(
                "must be a duration in quotes, such as \"30s\" or \"1h 30m\", not {}",
                kind(value)
            ));
        };
        match humantime::parse_duration(text) {
            Ok(given) => clamped(given, range),
            Err(error) => Judged::Bad(format!("is not a duration such as \"30s\" or \"1h 30m\": {error}")),
        }
    }
}

/// A duration, or `"off"`.
pub(super) fn time_limit(range: DurationRange) -> impl Fn(&DeValue<'_>) -> Judged<TimeLimit> {
    move |value| match value.as_str() {
        Some("off") => Judged::Good(TimeLimit::Off),
        _ => duration(range)(value).map(TimeLimit::After),
    }
}

fn clamped(given: Duration, range: DurationRange) -> Judged<Duration> {
    let used = given.clamp(range.min, range.max);
    if used == given {
        return Judged::Good(used);
    }
    let (min, max) = (humantime::format_duration(range.min), humantime::format_duration(range.max));
    let text = humantime::format_duration(used);
    Judged::Adjusted(used, format!("must be from {min} to {max}; {text} is used"))
}

/// `true` or `false`.
pub(super) fn boolean(value: &DeValue<'_>) -> Judged<bool> {
    value.as_bool().ok_or_else(|| format!("must be true or false, not {}", kind(value))).into()
}

/// An integer, moved into the range.
pub(super) fn count(min: u32, max: u32) -> impl Fn(&DeValue<'_>) -> Judged<u32> {
    move |value| match integer(value) {
        Some(given) => {
            let used = given.clamp(min.into(), max.into());
            let kept = u32::try_from(used).unwrap_or(max);
            if used == given {
                Judged::Good(kept)
            } else {
                Judged::Adjusted(kept, format!("must be from {min} to {max}; {kept} is used"))
            }
        }
        None => Judged::Bad(format!("must be an integer from {min} to {max}, not {}", kind(value))),
    }
}

/// A number of bytes: an integer, or text with the unit `B`, `KiB`, `MiB` or `GiB`; moved into the range.
pub(super) fn size(min: u64, max: u64) -> impl Fn(&DeValue<'_>) -> Judged<u64> {
    move |value| {
        let given = match value {
            DeValue::String(text) => parse_size(text),
            other => integer(other).and_then(|n| u64::try_from(n).ok()),
        };
        let Some(given) = given else {
            return Judged::Bad(format!("must be a size such as \"10MiB\" or a number of bytes, not {}", shown(value)));
        };
        let used = given.clamp(min, max);
        if used == given {
            return Judged::Good(used);
        }
        Judged::Adjusted(used, format!("must be from {min} to {max} bytes; {used} is used"))
    }
}

fn parse_size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let factor = match text[digits..].trim_start() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor)
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// One of the words of an enum.
pub(super) fn word<T: Copy>(words: &'static [(&'static str, T)]) -> impl Fn(&DeValue<'_>) -> Judged<T> {
    move |value| {
        let found = value.as_str().and_then(|text| words.iter().find(|(word, _)| *word == text));
        let list = || words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        found
            .map(|(_, meaning)| *meaning)
            .ok_or_else(|| format!("must be one of {}, not {}", list(), shown(value)))
            .into()
    }
}

/// An absolute path; a leading `~/` is the home.
pub(super) fn absolute_path(env: &Env) -> impl Fn(&DeValue<'_>) -> Judged<PathBuf> {
    move |value| {
        let text = match text(value) {
            Ok(text) => text,
            Err(message) => return Judged::Bad(message),
        };
        match env.expand_home(Path::new(text)) {
            Some(path) if path.is_absolute() => Judged::Good(path),
            Some(_) => Judged::Bad(format!("must be an absolute path or begin with `~/`, not {}", shown(value))),
            None => Judged::Bad("begins with `~`, but no home folder is known".to_owned()),
        }
    }
}

/// A program and its arguments; the empty list turns the hook off. There is no shell.
pub(super) fn command(env: &Env) -> impl Fn(&DeValue<'_>) -> Judged<Vec<String>> {
    move |value| {
        let DeValue::Array(items) = value else {
            let example = "a list, such as [\"notify-send\", \"handoff\"]: it is run without a shell";
            return Judged::Bad(format!("must be {example}, not {}", kind(value)));
        };
        let mut words = Vec::new();
        for item in items.iter() {
            match item.get_ref().as_str() {
                Some(text) if !text.contains('\0') => words.push(text.to_owned()),
                _ => return Judged::Bad(format!("must hold strings only, not {}", shown(item.get_ref()))),
            }
        }
        let Some(program) = words.first_mut() else { return Judged::Good(words) };
        if program.trim().is_empty() {
            return Judged::Bad("must begin with a program".to_owned());
        }
        match env.expand_home(Path::new(&*program)).map(PathBuf::into_os_string) {
            Some(path) => *program = path.into_string().unwrap_or_else(|_| program.clone()),
            None => return Judged::Bad("begins with `~`, but no home folder is known".to_owned()),
        }
        Judged::Good(words)
    }
}

/// At most 16 project-relative paths (D68), repeats dropped.
pub(super) fn context_files(value: &DeValue<'_>) -> Judged<Vec<String>> {
    let DeValue::Array(items) = value else {
        return Judged::Bad(format!("must be a list of paths, not {}", kind(value)));
    };
    if items.len() > MAX_CONTEXT_FILES {
        return Judged::Bad(format!("has {} entries, at most {MAX_CONTEXT_FILES} are allowed", items.len()));
    }
    let mut files: Vec<String> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match inside_project(item.get_ref()) {
            Ok(path) if files.contains(&path) => {}
            Ok(path) => files.push(path),
            Err(message) => return Judged::Bad(format!("entry {index} {message}")),
        }
    }
    Judged::Good(files)
}

/// A project-relative path of a file, which is neither git's nor one of our own files (D30).
pub(super) fn work_log_path(value: &DeValue<'_>) -> Judged<String> {
    const OURS: [&str; 2] = ["tasks.json", "handoff.toml"];
    let path = match inside_project(value) {
        Ok(path) => path,
        Err(message) => return Judged::Bad(message),
    };
    let parts: Vec<&str> = path.split('/').collect();
    let last = parts.last().copied().unwrap_or_default();
    let taken = OURS.contains(&last) || last.starts_with("pi-claude-handoff.lock") || last.starts_with(".tasks.json.");
    if taken || parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return Judged::Bad(format!("cannot be `{path}`: that file has another use"));
    }
    Judged::Good(path)
}

/// A whole Markdown heading line, such as `## Work log` (D30).
pub(super) fn heading(value: &DeValue<'_>) -> Judged<String> {
    let judge = || {
        let text = text(value)?;
        let level = text.chars().take_while(|c| *c == '#').count();
        let titled = text[level..].starts_with(' ') && !text[level..].trim().is_empty();
        if !(1..=6).contains(&level) || !titled || text.trim_end() != text {
            return Err(format!("must be a whole heading line, such as \"## Work log\", not {}", shown(value)));
        }
        if text.chars().count() > MAX_HEADING {
            return Err(format!("is longer than {MAX_HEADING} characters"));
        }
        Ok(text.to_owned())
    };
    judge().into()
}

/// The short name of a project; see [`check_name`].
pub(super) fn project_name(value: &DeValue<'_>) -> Judged<String> {
    text(value).and_then(|text| check_name(text).map(|()| text.to_owned())).into()
}

/// Checks a project's short name: 1 to 64 characters, none of them a slash or a control character, not beginning
/// with `-` or `.` (those would read as an option or a path), no white space at the ends.
///
/// # Errors
/// What is wrong, completing "the name …".
pub fn check_name(name: &str) -> Result<(), String> {
    let length = name.chars().count();
    if !(1..=MAX_NAME).contains(&length) {
        return Err(format!("must have 1 to {MAX_NAME} characters, not {length}"));
    }
    if name.contains('/') || name.starts_with(['-', '.', '~']) || name.trim() != name {
        return Err("must not contain `/`, begin with `-`, `.` or `~`, or have white space at its ends".to_owned());
    }
    if name.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(())
}

/// A path as written, without its `.` parts; inside the project lexically. What it leads to is checked when it is
/// opened.
fn inside_project(value: &DeValue<'_>) -> Result<String, String> {
    let text = text(value)?;
    let path = Path::new(text);
    if path.is_absolute() || text.starts_with("~/") {
        return Err(format!("must be a path inside the project, not {}", shown(value)));
    }
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy()),
            Component::CurDir => {}
            _ => return Err(format!("must not leave the project: {}", shown(value))),
        }
    }
    if parts.is_empty() || text.ends_with('/') {
        return Err(format!("must name a file, not {}", shown(value)));
    }
    Ok(parts.join("/"))
}

/// Text on one line that is not blank.
fn text<'v>(value: &'v DeValue<'_>) -> Result<&'v str, String> {
    let text = value.as_str().ok_or_else(|| format!("must be a string, not {}", kind(value)))?;
    if text.trim().is_empty() {
        return Err("must not be blank".to_owned());
    }
    if text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err("must be one line without control characters".to_owned());
    }
    Ok(text)
}

/// A value for a message: short strings as written (escaped), the kind of everything else.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() <= 80 => format!("{text:?}"),
        DeValue::Integer(integer) => integer.as_str().to_owned(),
        other => kind(other).to_owned(),
    }
}
