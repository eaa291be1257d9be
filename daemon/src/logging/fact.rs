//! A fact: what one event of `tracing` says, clean, masked and bounded from the moment it is read.
//!
//! No fact holds foreign text as it came. How a fact looks on paper is the matter of `form`.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Write as _};

use serde_json::Value;
use tracing::Level;
use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};

use crate::clock::Wall;
use crate::logging::sanitize;

/// The longest text of a field, in bytes; what is longer ends in `…`.
const LONGEST: usize = 2048;
/// How much more is read, so that a credential that lies across the limit is seen whole.
const MARGIN: usize = 512;
/// The most fields of one fact; more are left out.
const MOST_FIELDS: usize = 32;

/// What one event says.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) at: Wall,
    pub(super) level: Level,
    pub(super) target: &'static str,
    /// The place in the program that states this fact; none for facts about the log itself.
    pub(super) site: Option<Identifier>,
    pub(super) said: Said,
    pub(super) repeated: Option<Repeated>,
}

/// How often a fact was stated again without being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeated {
    pub(super) count: u64,
    pub(super) within_ms: u64,
    pub(super) how: How,
}

/// In which sense the counted facts were the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The same in every word.
    Same,
    /// From the same place for the same project, with other details.
    Alike,
}

/// The words of an event or of a span.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) project: Option<String>,
    pub(super) task: Option<String>,
    pub(super) message: String,
    pub(super) fields: Vec<(&'static str, Value)>,
}

impl Said {
    /// Takes over what a span around this one says, unless it is said here.
    pub(super) fn within(&mut self, outer: &Self) {
        self.project = self.project.take().or_else(|| outer.project.clone());
        self.task = self.task.take().or_else(|| outer.task.clone());
        for (name, value) in &outer.fields {
            if !self.fields.iter().any(|(own, _)| own == name) {
                self.put(name, value.clone());
            }
        }
    }

    fn text(&mut self, field: &Field, text: &str) {
        match field.name() {
            "message" => text.clone_into(&mut self.message),
            "project" => self.project = Some(text.to_owned()),
            "task" => self.task = Some(text.to_owned()),
            name => self.put(name, Value::from(text)),
        }
    }

    fn put(&mut self, name: &'static str, value: Value) {
        let has_room = self.fields.len() < MOST_FIELDS;
        match self.fields.iter_mut().find(|(own, _)| *own == name) {
            Some((_, old)) => *old = value,
            None if has_room => self.fields.push((name, value)),
            None => {}
        }
    }
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, &tidy(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = bounded(format_args!("{value:?}"));
        self.text(field, &tidy(&text));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        let text = bounded(format_args!("{}", Chain(value)));
        self.text(field, &tidy(&text));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field.name(), Value::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field.name(), Value::from(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field.name(), Value::from(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field.name(), Value::from(value));
    }
}

/// An error with what caused it, `cannot open x: permission denied`.
struct Chain<'a>(&'a (dyn Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

/// One line, masked, at most [`LONGEST`] bytes and an ellipsis.
fn tidy(text: &str) -> Cow<'_, str> {
    let head = head(text);
    let clean = match sanitize::one_line(head) {
        Cow::Borrowed(same) => secrets::mask(same),
        Cow::Owned(line) => Cow::Owned(secrets::mask(&line).into_owned()),
    };
    if head.len() == text.len() && clean.len() <= LONGEST {
        return clean;
    }
    let mut short = clean.into_owned();
    short.truncate(short.floor_char_boundary(LONGEST));
    short.push('…');
    Cow::Owned(short)
}

/// The part of a long text that is looked at. It ends before a word that is cut in two: half a credential is not
/// recognised any more and would be shown.
fn head(text: &str) -> &str {
    if text.len() <= LONGEST + MARGIN {
        return text;
    }
    let head = &text[..text.floor_char_boundary(LONGEST + MARGIN)];
    let margin = head.floor_char_boundary(LONGEST);
    let space = head[margin..].rfind(char::is_whitespace).map(|at| margin + at);
    &head[..space.or_else(|| head.rfind(ends_credential)).unwrap_or(0)]
}

fn ends_credential(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || "_-.~+/=:@".contains(c))
}

/// Formats without ever holding much more than the part that will be looked at.
fn bounded(text: fmt::Arguments<'_>) -> String {
    let mut out = Bounded(String::new());
    // An error means that the limit was reached, or that a value refused to be shown: what was written stands.
    out.write_fmt(text).ok();
    out.0
}

struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const ENOUGH: usize = LONGEST + MARGIN + 64;
        let room = ENOUGH.saturating_sub(self.0.len());
        self.0.push_str(&text[..text.floor_char_boundary(room)]);
        if text.len() <= room { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_borrowed() {
        assert!(matches!(tidy("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn a_long_text_is_cut_with_an_ellipsis() {
        let text = "word ".repeat(10_000);
        let short = tidy(&text);
        assert!(short.ends_with('…') && short.len() <= LONGEST + '…'.len_utf8());
    }

    #[test]
    fn a_credential_across_the_limit_leaks_no_part() {
        let secret = format!("ghp{}{}", "_", "Q7".repeat(20));
        for start in LONGEST - 60..LONGEST + MARGIN + 80 {
            for tail in ["", &" tail".repeat(400)] {
                let text = format!("{} {secret}{tail}", "x".repeat(start));
                let cut = tidy(&bounded(format_args!("{text}"))).into_owned();
                assert!(!cut.contains("Q7"), "start {start}: {}", &cut[cut.len() - 80..]);
                assert!(!tidy(&text).contains("Q7"), "start {start}");
            }
        }
    }

    #[test]
    fn formatting_stops_at_the_limit() {
        let huge = "z".repeat(1 << 20);
        assert!(bounded(format_args!("{huge:?}")).len() < 2 * LONGEST);
    }

    #[test]
    fn inner_words_win_over_outer_ones() {
        let outer = Said {
            project: Some("p".to_owned()),
            task: Some("old".to_owned()),
            fields: vec![("a", Value::from(1)), ("b", Value::from(1))],
            ..Said::default()
        };
        let mut inner = Said { task: Some("new".to_owned()), fields: vec![("a", Value::from(2))], ..Said::default() };
        inner.within(&outer);
        assert_eq!((inner.project.as_deref(), inner.task.as_deref()), (Some("p"), Some("new")));
        assert_eq!(inner.fields, [("a", Value::from(2)), ("b", Value::from(1))]);
    }
}
