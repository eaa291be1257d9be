//! What a session is told about a task it already has: the one reminder (D25) and the cancellation (D69, D76).
//!
//! Short texts without headings; a task's id and a reason are foreign text here as everywhere.

use super::foreign::code;

/// How many run ids a reminder names.
const RUNS_SHOWN: usize = 16;

/// The text of `task.remind`, Markdown.
///
/// `ended_runs` are the background runs that were seen for the task and have ended; none means that none was ever seen,
/// and then the turn itself ended without a report (D25).
#[must_use]
pub fn remind(task_id: &str, ended_runs: &[&str]) -> String {
    let task = code(task_id);
    if ended_runs.is_empty() {
        return format!(
            "The task {task} is still yours and has no report. If its work is not done yet, go on with it now: delegate it \
             with `subagent`. When it is done, call `subagent({{ action: \"status\" }})` and then `handoff_task_report`; if \
             it cannot be done, report `ERROR` with the reason. This is the only reminder: if the next turn ends without a \
             report and without a run under way, the task is closed as `ERROR`.\n"
        );
    }
    format!(
        "All runs of the task {task} have ended ({}), and it still has no report. Read their results (`subagent({{ action: \
         \"status\", id: \"…\" }})` for each run), have the gate done if the task has one and it is still missing, then call \
         `handoff_task_report`; if the task cannot be done, report `ERROR` with the reason. Nothing else is handed to this \
         session until the report is in.\n",
        runs(ended_runs)
    )
}

fn runs(ids: &[&str]) -> String {
    let shown: Vec<String> = ids.iter().take(RUNS_SHOWN).map(|id| code(id)).collect();
    let more = ids.len().saturating_sub(RUNS_SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

/// The `reason` of `task.cancel`, Markdown: one paragraph that a client can show as it is.
#[must_use]
pub fn cancel(task_id: &str, reason: &str) -> String {
    format!(
        "The task {} is no longer yours: {}. Stop working on it and end its runs; a report is no longer taken.\n",
        code(task_id),
        code(reason.trim().trim_end_matches('.'))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reminder_names_the_task_and_the_runs_as_code() {
        let text = remind("T-`1`\n# x", &["r-1", "r-2"]);
        assert!(text.contains("``T-`1`␊# x``"), "{text}");
        assert!(text.contains("(`r-1`, `r-2`)"), "{text}");
        assert!(remind("T", &["r"; RUNS_SHOWN + 3]).contains(" and 3 more)"));
        assert!(remind("T", &[]).contains("This is the only reminder"));
    }

    #[test]
    fn a_cancellation_says_why_in_one_paragraph() {
        let text = cancel("T-1", "new plan\n# not a heading.\n");
        assert!(text.starts_with("The task `T-1` is no longer yours: `new plan␊# not a heading`. Stop"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
}
