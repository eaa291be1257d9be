//! What a session is told about a task it already has: the one reminder (D25) and the cancellation (D69, D76).
//!
//! Short texts without headings; a task's id is foreign text here as everywhere.

use super::foreign::{block, code, is_single_line};

/// How many run ids a reminder names.
const RUNS_SHOWN: usize = 16;

/// Why a report is asked for (D25).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reminder<'a> {
    /// The turn settled without a report, and no background run was ever seen.
    TurnEnded,
    /// All background runs have ended, and the session has been idle since.
    RunsEnded {
        /// The ids of those runs.
        run_ids: &'a [&'a str],
    },
}

/// The text of `task.remind`, Markdown.
#[must_use]
pub fn remind(task_id: &str, reminder: Reminder<'_>) -> String {
    let task = code(task_id);
    match reminder {
        Reminder::TurnEnded => format!(
            "The task {task} is still yours and has no report. If its work is not done yet, go on with it now: delegate it \
             with `subagent`. When it is done, call `subagent({{ action: \"status\" }})` and then `handoff_task_report`; if \
             it cannot be done, report `ERROR` with the reason. This is the only reminder: if the next turn ends without a \
             report and without a run under way, the task is closed as `ERROR`.\n"
        ),
        Reminder::RunsEnded { run_ids } => format!(
            "All runs of the task {task} have ended{}, and it still has no report. Read their results (`subagent({{ action: \
             \"status\", id: \"…\" }})` for each run), have the gate done if the task has one and it is still missing, then \
             call `handoff_task_report`; if the task cannot be done, report `ERROR` with the reason. Nothing else is handed \
             to this session until the report is in.\n",
            runs(run_ids)
        ),
    }
}

fn runs(run_ids: &[&str]) -> String {
    if run_ids.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = run_ids.iter().take(RUNS_SHOWN).map(|id| code(id)).collect();
    let more = run_ids.len().saturating_sub(RUNS_SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(" ({}{rest})", shown.join(", "))
}

/// Why a session is told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelCause<'a> {
    /// A person or a script asked for it (D76), with the reason they gave.
    Requested {
        /// What they wrote; may be empty.
        reason: &'a str,
    },
    /// No answer to `task.dispatch` within `task.accept_timeout` (D69).
    NotConfirmed,
    /// An acceptance that came after the task had been closed (D69).
    AcceptedTooLate,
}

/// The `reason` of `task.cancel`, Markdown that a client can show as it is.
#[must_use]
pub fn cancel(task_id: &str, cause: CancelCause<'_>) -> String {
    let task = code(task_id);
    let mut out = match cause {
        CancelCause::Requested { reason: "" } => format!("The task {task} was cancelled."),
        CancelCause::Requested { reason } if is_single_line(reason) => {
            format!("The task {task} was cancelled: {}.", code(reason))
        }
        CancelCause::Requested { reason } => {
            let mut out = format!("The task {task} was cancelled:");
            block(&mut out, reason);
            out
        }
        CancelCause::NotConfirmed => {
            format!("The task {task} was closed: this session did not confirm in time that it got it.")
        }
        CancelCause::AcceptedTooLate => {
            format!("The task {task} had already been closed when this session confirmed it.")
        }
    };
    if !out.ends_with('\n') {
        out.push(' ');
    }
    out.push_str("Stop working on it and end its runs; a report is no longer taken.\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reminder_names_the_task_and_the_runs_as_code() {
        let text = remind("T-`1`\n# x", Reminder::RunsEnded { run_ids: &["r-1", "r-2"] });
        assert!(text.contains("``T-`1`␊# x``"), "{text}");
        assert!(text.contains("(`r-1`, `r-2`)"), "{text}");
        let many = vec!["r"; RUNS_SHOWN + 3];
        assert!(remind("T", Reminder::RunsEnded { run_ids: &many }).contains(" and 3 more)"));
        assert!(!remind("T", Reminder::TurnEnded).contains('#'));
    }

    #[track_caller]
    fn check_cancel(cause: CancelCause<'_>, expected: &str) {
        let text = cancel("T-1", cause);
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("a report is no longer taken.\n"), "{text}");
    }

    #[test]
    fn a_cancellation_says_why() {
        check_cancel(CancelCause::Requested { reason: "" }, "The task `T-1` was cancelled. Stop");
        check_cancel(CancelCause::Requested { reason: "new plan" }, "The task `T-1` was cancelled: `new plan`. Stop");
        check_cancel(
            CancelCause::Requested { reason: "a\n# b" },
            "The task `T-1` was cancelled:\n\n```\na\n# b\n```\n",
        );
        check_cancel(CancelCause::NotConfirmed, "The task `T-1` was closed: this session did not confirm in time");
        check_cancel(CancelCause::AcceptedTooLate, "The task `T-1` had already been closed");
    }
}
