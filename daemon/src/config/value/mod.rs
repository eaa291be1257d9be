//! Judges of single values: what may stand behind a key, in words that say how to write it.
//!
//! No key is named here; the reader puts key and line in front of each message. Here is the verdict itself and what is
//! common to many values; the rest by kind: `number`, `path`, `text`, `time`.

mod number;
mod path;
mod text;
mod time;

use toml::de::DeValue;

pub(super) use self::number::{count, size};
pub use self::path::MAX_CONTEXT_FILES;
pub(super) use self::path::{absolute_path, command, context_files, work_log_path};
pub use self::text::{MAX_HEADING, MAX_NAME, check_name};
pub(super) use self::text::{heading, project_name};
pub use self::time::TimeLimit;
pub(super) use self::time::{DurationRange, duration, time_limit};
use super::reader::kind;

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

/// `true` or `false`.
pub(super) fn boolean(value: &DeValue<'_>) -> Judged<bool> {
    value.as_bool().ok_or_else(|| format!("must be true or false, not {}", kind(value))).into()
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

/// Text on one line that is not blank.
pub(super) fn text<'v>(value: &'v DeValue<'_>) -> Result<&'v str, String> {
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
pub(super) fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() <= 80 => format!("{text:?}"),
        DeValue::Integer(integer) => integer.as_str().to_owned(),
        other => kind(other).to_owned(),
    }
}
