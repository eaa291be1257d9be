//! The task of `handoff submit`: from a file, or from options, with what is missing filled in.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use queue::{Field, Submission, format_time, limits};
use serde_json::{Value, json};
use wire::Raw;

use super::unreadable;
use crate::context::Context;
use crate::failure::Failure;
use crate::read;

/// The planner's fields, from one of two places.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// The task as JSON; `-` is standard input
    #[arg(conflicts_with_all = ["instruction", "scope", "accept"])]
    file: Option<PathBuf>,
    /// What is to be done
    #[arg(long, value_name = "TEXT", requires = "scope", requires = "accept", allow_hyphen_values = true)]
    instruction: Option<String>,
    /// A path that may change, relative to the project; may be given several times
    #[arg(long, value_name = "PATH")]
    scope: Vec<String>,
    /// What must hold when it is done; may be given several times
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    accept: Vec<String>,
    /// The kind of task: IMPLEMENT, TEST, DOCUMENT, CONSULT or REVIEW [default with options: IMPLEMENT]
    #[arg(long = "type", value_name = "TYPE", ignore_case = true)]
    task_type: Option<String>,
    /// writer, read-only or any [default with options: what the type needs]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// none, consult-before or review-after
    #[arg(long, value_name = "GATE")]
    gate: Option<String>,
    /// Why the gate is set
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    gate_reason: Option<String>,
    /// The agent that should do it, as a hint
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Where the work is done, a folder of the project [default with options: its root]
    #[arg(long, value_name = "DIR")]
    working_dir: Option<String>,
    /// The plan that the task belongs to
    #[arg(long, value_name = "REF")]
    plan_ref: Option<String>,
    /// The task that this one follows
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// The task's id [default: one that packets can use]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
}

impl Options {
    /// The task, complete as far as it can be completed.
    pub(super) fn build(&self, ctx: &Context) -> Result<Submission, Failure> {
        let text = match (&self.file, &self.instruction) {
            (Some(file), _) => read::text(ctx, file, limits::QUEUE_BYTES)?,
            (None, Some(instruction)) => self.described(instruction).to_string(),
            (None, None) => return Err(Failure::usage("no task is given: name a FILE, `-`, or --instruction")),
        };
        let mut task = Submission::parse(text.trim_start_matches('\u{feff}')).map_err(|error| unreadable(&error))?;
        self.override_fields(&mut task);
        fill(&mut task, ctx.now());
        Ok(task)
    }

    /// The fields that only options without a FILE have, and the defaults of such a task.
    fn described(&self, instruction: &str) -> Value {
        let task_type = self.task_type.as_deref().map_or_else(|| "IMPLEMENT".to_owned(), str::to_ascii_uppercase);
        json!({
            "task_type": task_type,
            "required_role": default_role(&task_type),
            "instruction": instruction,
            "working_dir": ".",
            "scope": self.scope,
            "acceptance_criteria": self.accept,
        })
    }

    /// Options beside a FILE win over what it says.
    fn override_fields(&self, task: &mut Submission) {
        let task_type = self.task_type.as_deref().map(str::to_ascii_uppercase);
        let given = [
            (Field::TaskId, self.id.as_deref()),
            (Field::TaskType, task_type.as_deref()),
            (Field::RequiredRole, self.role.as_deref()),
            (Field::PreferredAgent, self.agent.as_deref()),
            (Field::Gate, self.gate.as_deref()),
            (Field::GateReason, self.gate_reason.as_deref()),
            (Field::ParentTaskId, self.parent.as_deref()),
            (Field::WorkingDir, self.working_dir.as_deref()),
            (Field::PlanRef, self.plan_ref.as_deref()),
        ];
        for (field, value) in given {
            if let Some(value) = value {
                task.set_string(field, value);
            }
        }
    }
}

/// The role that a task of this type needs.
pub(crate) fn default_role(task_type: &str) -> &'static str {
    match task_type {
        "CONSULT" | "REVIEW" => "read-only",
        _ => "writer",
    }
}

/// Gives a task what is the same for every task, where it is missing.
pub(crate) fn fill(task: &mut Submission, now: Timestamp) {
    let filled = [
        (Field::TaskId, new_id(now)),
        (Field::CreatedAt, format_time(now)),
        (Field::CreatedBy, limits::CREATOR.to_owned()),
    ];
    for (field, value) in filled {
        if task.raw(field).is_none() {
            task.set_string(field, &value);
        }
    }
}

/// An id that packets can use (D74) and that sorts by time: `T-20261130-081203-k3x9`.
fn new_id(now: Timestamp) -> String {
    let suffix: String = std::iter::repeat_with(|| fastrand::char('a'..='z')).take(4).collect();
    format!("T-{}-{suffix}", now.strftime("%Y%m%d-%H%M%S"))
}

/// The planner's fields of a task as one JSON object, each value as it was written.
pub(super) fn json(task: &Submission) -> Result<String, Failure> {
    let document = queue::submit(None, task).map_err(Failure::usage)?;
    let mut members: BTreeMap<String, Raw> = serde_json::from_str(&document).map_err(Failure::usage)?;
    members.remove(Field::Status.name());
    serde_json::to_string(&members).map_err(Failure::usage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use team::is_path_part;

    #[test]
    fn a_new_id_can_be_a_goal_and_differs() {
        let now = Timestamp::UNIX_EPOCH;
        let ids: std::collections::HashSet<_> = (0..20).map(|_| new_id(now)).collect();
        assert!(ids.iter().all(|id| is_path_part(id) && id.starts_with("T-19700101-000000-")), "{ids:?}");
        assert!(ids.len() > 1);
    }
}
