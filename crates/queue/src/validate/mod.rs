//! Validation of a PENDING task: all problems at once, in the order of the protocol's table (D4–D9, D40–D48).
//!
//! The rules of single fields are in `rules`, those of paths in `path`, those of dates in `timestamp`.

mod path;
mod rules;
mod timestamp;

pub(crate) use path::{PathUse, check_path, leaves_as_written, lexical};
pub(crate) use rules::schema_version;

use crate::words::Word;
use crate::{Document, Planner, Problem, ProjectPaths};

/// Every problem of the planner's fields and of `schema_version`; empty when the task may be dispatched.
#[must_use]
pub fn validate(document: &Document, paths: &dyn ProjectPaths) -> Vec<Problem> {
    planner(document, paths).err().unwrap_or_default()
}

/// The planner's fields, if they are valid.
///
/// # Errors
/// Every problem, in the order of the protocol's table.
pub fn planner(document: &Document, paths: &dyn ProjectPaths) -> Result<Planner, Vec<Problem>> {
    rules::read(document, Some(paths))
}

/// The planner's fields of a task that was found valid before: paths are not asked about again.
///
/// # Errors
/// Every problem that can be seen without the project's folder.
pub fn planner_unresolved(document: &Document) -> Result<Planner, Vec<Problem>> {
    rules::read(document, None)
}

/// The words of a closed list in back-quotes, for messages.
pub(crate) fn word_list<W: Word>() -> String {
    let words: Vec<_> = W::WORDS.iter().map(|word| format!("`{}`", word.word())).collect();
    words.join(", ")
}

/// Points at the word that `text` is but for letter case and white space around it.
pub(crate) fn case_hint<W: Word>(text: &str) -> String {
    let near = W::WORDS.iter().find(|word| word.word().eq_ignore_ascii_case(text.trim()));
    near.map_or_else(String::new, |word| format!(" (did you mean `{}`?)", word.word()))
}
