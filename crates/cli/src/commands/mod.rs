//! The commands, one file each: its arguments, whose documentation is the help, and what it does.

use queue::Problem;
use serde_json::{Value, json};

pub(crate) mod attach;
pub(crate) mod cancel;
mod changed;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod disable;
pub(crate) mod doctor;
pub(crate) mod enable;
pub(crate) mod events;
pub(crate) mod history;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod lint;
pub(crate) mod log;
pub(crate) mod logs;
pub(crate) mod mcp;
pub(crate) mod next;
pub(crate) mod packet;
pub(crate) mod pause;
pub(crate) mod projects;
pub(crate) mod prompt;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod retry;
pub(crate) mod schema;
pub(crate) mod service;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod submit;
pub(crate) mod take;
pub(crate) mod team;
pub(crate) mod unlock;
pub(crate) mod wait;
pub(crate) mod watch;

/// Problems as they stand in JSON everywhere: `{field, code, message}`.
fn problems_json(problems: &[Problem]) -> Vec<Value> {
    let one =
        |problem: &Problem| json!({"field": problem.field, "code": problem.code.as_str(), "message": problem.message});
    problems.iter().map(one).collect()
}
