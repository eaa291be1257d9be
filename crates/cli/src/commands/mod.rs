//! The commands, one file each: its arguments, whose documentation is the help, and what it does.

use queue::Problem;
use serde_json::{Value, json};

pub(crate) mod completions;
pub(crate) mod init;
pub(crate) mod lint;
pub(crate) mod projects;
pub(crate) mod report;
pub(crate) mod schema;
pub(crate) mod submit;
pub(crate) mod wait;

/// Problems as they stand in JSON everywhere: `{field, code, message}`.
fn problems_json(problems: &[Problem]) -> Vec<Value> {
    let one =
        |problem: &Problem| json!({"field": problem.field, "code": problem.code.as_str(), "message": problem.message});
    problems.iter().map(one).collect()
}
