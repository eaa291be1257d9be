//! What a client sent for a tool: every parameter with its type, and all faults at once. A parameter that is not known is a
//! fault: a slip in `gate` must not submit a task without its gate.

use std::ffi::OsStr;

use serde_json::{Map, Value};
use wire::error::ErrorCode;

use crate::exit::Exit;
use crate::failure::Failure;

/// The arguments of one call.
pub(super) struct Arguments {
    given: Map<String, Value>,
    known: Vec<String>,
}

/// A call with parameters that cannot be used.
pub(super) fn invalid(problems: impl IntoIterator<Item = String>) -> Failure {
    Failure::new(Exit::Usage, "the parameters are not valid").code("invalid_parameters").problems(problems)
}

impl Arguments {
    /// Null means that a parameter is left out.
    pub(super) fn new(given: &Map<String, Value>, known: Vec<String>) -> Self {
        let given = given.iter().filter(|(_, value)| !value.is_null());
        Self { given: given.map(|(key, value)| (key.clone(), value.clone())).collect(), known }
    }

    /// What is wrong with the names.
    pub(super) fn unknown(&self) -> Vec<String> {
        let names = self.given.keys().filter(|key| !self.known.contains(key));
        names.map(|key| format!("`{key}` is no parameter of this tool; leave it out")).collect()
    }

    /// A text.
    pub(super) fn text(&self, name: &str, problems: &mut Vec<String>) -> Option<&str> {
        let value = self.given.get(name)?;
        match value.as_str() {
            Some(text) if !text.trim().is_empty() => return Some(text),
            Some(_) => problems.push(format!("`{name}` is blank; leave it out or give it a value")),
            None => problems.push(format!("`{name}` must be a string")),
        }
        None
    }

    /// A whole number of at most `most`.
    pub(super) fn number(&self, name: &str, most: u64, problems: &mut Vec<String>) -> Option<u64> {
        let value = self.given.get(name)?;
        // Some clients write every number as a fraction.
        let whole = value.as_u64().or_else(|| value.as_f64().and_then(whole));
        let number = whole.filter(|number| *number <= most);
        if number.is_none() {
            problems.push(format!("`{name}` must be a whole number from 0 to {most}"));
        }
        number
    }

    /// The project, for tools whose other parameters are read by now.
    pub(super) fn project(&self, problems: &mut Vec<String>) -> Option<&OsStr> {
        self.text("project", problems).map(OsStr::new)
    }

    /// All of them but `project`.
    pub(super) fn fields(&self) -> Map<String, Value> {
        let is_field = |key: &str| key != "project" && self.known.iter().any(|known| known == key);
        self.given.iter().filter(|(key, _)| is_field(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// The refusal of a call with these problems.
    pub(super) fn invalid(&self, problems: impl IntoIterator<Item = String>) -> Failure {
        invalid(problems).hint(format!("the parameters are {}", self.known.join(", ")))
    }

    /// Refuses if anything is wrong.
    pub(super) fn require(&self, problems: Vec<String>) -> Result<(), Failure> {
        let all: Vec<String> = self.unknown().into_iter().chain(problems).collect();
        if all.is_empty() { Ok(()) } else { Err(self.invalid(all)) }
    }
}

fn whole(number: f64) -> Option<u64> {
    // Beyond 2^53 a fraction cannot tell neighbours apart.
    let fits = number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&number);
    fits.then(|| format!("{number:.0}").parse().ok()).flatten()
}

/// A failure about a task that does not exist.
pub(super) fn no_task(message: String) -> Failure {
    Failure::new(Exit::Refused, message).code(ErrorCode::NoTask.as_str())
}
