//! Durations, as humantime writes them, and limits that can be off.
//!
//! humantime takes a hundred thousand million years: every duration is moved into the range of its key.

use std::time::Duration;

use toml::de::DeValue;

use super::Judged;
use super::kind;

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
pub(in crate::config) struct DurationRange {
    pub(in crate::config) min: Duration,
    pub(in crate::config) max: Duration,
}

/// A duration as humantime writes it, moved into the range.
pub(in crate::config) fn duration(range: DurationRange) -> impl Fn(&DeValue<'_>) -> Judged<Duration> {
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
pub(in crate::config) fn time_limit(range: DurationRange) -> impl Fn(&DeValue<'_>) -> Judged<TimeLimit> {
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
