//! The form of the report: every field of `handoff_task_report` with its type and limits, how COMPLETE and ERROR differ,
//! and what gets refused (D26–D29, D39, D49–D59). A change of a check there must be told here.

use std::fmt::Write as _;

use queue::{AcceptanceRole, Gate, Planner, Thinking, limits};

use super::duties::word;
use super::handoff::Handoff;
use super::task::heading;

/// Writes the closing sections.
pub(super) fn write(out: &mut String, handoff: &Handoff<'_>) {
    heading(out, "The report");
    out.push_str("The arguments of `handoff_task_report`, with every field:\n\n");
    skeleton(out, handoff.planner);
    fields(out, handoff.planner);
    room(out, handoff.report_room);
    heading(out, "COMPLETE or ERROR");
    out.push_str(OUTCOMES);
    refusals(out, handoff.planner);
}

fn skeleton(out: &mut String, planner: &Planner) {
    let evidence = evidence(planner.gate);
    let files = match planner.task_type.role() {
        AcceptanceRole::Writer => "[\"path/to/file\"]",
        AcceptanceRole::ReadOnly => "[]",
    };
    let _infallible = write!(
        out,
        r#"```json
{{
  "status": "COMPLETE",
  "worker": {{ "agent": "…", "run_id": "…", "status": "COMPLETE", "result": "…", "model": "…", "thinking": "…" }},
  "gate_evidence": {evidence},
  "async_status": {{ "checked": true, "pending_run_ids": [], "failed_run_ids": [] }},
  "files_changed": {files},
  "tests_run": ["command: outcome"],
  "result": "…",
  "error": null
}}
```

"#
    );
}

fn evidence(gate: Gate) -> String {
    if gate == Gate::None {
        return "[]".to_owned();
    }
    format!(
        r#"[
    {{ "gate": "{}", "agent": "…", "run_id": "…", "status": "COMPLETE", "result": "…", "independent": true, "model": "…", "thinking": "…" }}
  ]"#,
        gate.as_str()
    )
}

fn fields(out: &mut String, planner: &Planner) {
    out.push_str("- `status`: `COMPLETE` or `ERROR`.\n");
    let _infallible = writeln!(
        out,
        "- `worker`: the agent that did the task. `agent` is its exact name, letter case included; `run_id` the id that \
         the launch returned (a foreground run has none: use any short text, another one for each run); `status` is \
         `COMPLETE` or `ERROR`; `result` what it answered, of which the first {} characters are kept; `model` one line of \
         1 to {} characters, as the run's status shows it; `thinking` one of {}. `null` only in an `ERROR` report, when no \
         worker ran.",
        limits::CUT_CHARS,
        limits::MODEL_CHARS,
        Thinking::ALL.map(|level| format!("`{}`", level.as_str())).join(", ")
    );
    match planner.gate {
        Gate::None => out.push_str("- `gate_evidence`: an empty list, for this task has no gate.\n"),
        gate => {
            let _infallible = writeln!(
                out,
                "- `gate_evidence`: a list of exactly one entry, with `gate` `{}`, `independent` `true`, and the fields of \
                 `worker` for the gate's run. Its `result` begins with the verdict, which is what the planner reads first.",
                gate.as_str()
            );
        }
    }
    out.push_str(
        "- `async_status`: what the last `subagent({ action: \"status\" })` said of the runs of this task: `checked` `true`, \
         and the ids of those that are still live and of those that failed, as two lists of texts.\n",
    );
    out.push_str(match planner.task_type.role() {
        AcceptanceRole::Writer => {
            "- `files_changed`: a list of every file that was changed, made or deleted: paths relative to the project's \
             root, inside the scope.\n"
        }
        AcceptanceRole::ReadOnly => "- `files_changed`: an empty list, for this task is read-only.\n",
    });
    out.push_str(
        "- `tests_run`: a list of texts, one for each command that was run as a check, with its outcome; empty if none.\n\
         - `result`: a text for the planner: what was done, how each acceptance criterion is met, what is left open.\n\
         - `error`: `null`, or in an `ERROR` report the reason as a text.\n",
    );
}

/// The queue file has a limit of 256 KiB, which the report must leave intact (D12).
fn room(out: &mut String, bytes: usize) {
    let _infallible = writeln!(
        out,
        "\nA report is stored in the project's queue file and must fit into it: this time it may have about {} KiB. Sum up, \
         and leave out listings that can be read from the files themselves.",
        bytes / 1024
    );
}

const OUTCOMES: &str = "\
`COMPLETE` says that the work and its gate are finished, not that everybody likes the outcome: a review that disapproves \
is still `COMPLETE`, with its verdict. `ERROR` says that the task could not be done; then `error` gives the reason, \
`worker` may be `null`, and only the report's own form is checked, so it may tell of failed runs and of files outside the \
scope. A failed run of this task cannot be undone: report `ERROR`, and the planner decides whether to start over. Never \
claim a run, a model or a check that was not there: reports are compared with the runs that were seen.
";

fn refusals(out: &mut String, planner: &Planner) {
    out.push_str("\n`COMPLETE` is refused\n\n");
    let role = word(planner.task_type.role());
    let _infallible = writeln!(
        out,
        "- if `worker` names no agent of this project, one without `acceptanceRole: {role}`, or a run that did not end \
         `COMPLETE`;\n\
         - if `model` or `thinking` is not valid, or not what the agent's profile pins;"
    );
    if planner.gate != Gate::None {
        out.push_str(
            "- if the gate's evidence is missing, is the worker's own agent or run, names an agent without \
             `acceptanceRole: read-only`, or a run that did not end `COMPLETE`;\n",
        );
    }
    out.push_str("- if a run of this task is live or failed, or what you claim of a run is not what was seen of it;\n");
    out.push_str(match planner.task_type.role() {
        AcceptanceRole::Writer => "- if a changed file lies outside the scope, also through a link;\n",
        AcceptanceRole::ReadOnly => "- if any changed file is named;\n",
    });
    out.push_str(
        "- if `result` is blank, `error` is not `null`, or a field is missing or of another type;\n\
         - if the planner has changed the task meanwhile.\n\n\
         A refusal lists every fault with its field; the task stays yours, so mend the report and send it again. Stop and \
         tell the person when the answer is `queue_changed`, `cancelled`, `dispatch_ended` or `no_such_dispatch`: the task \
         is then no longer yours. On `cannot_write` and `queue_unreadable` send the same report again after a while, on \
         `report_too_large` a shorter one.\n",
    );
}
