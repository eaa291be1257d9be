//! What the session has to do with the task: delegate, have the gate done, look at the runs, report.
//!
//! The order and the words follow the queue protocol ("Lifecycle") and what a report is checked for (D26–D28, D50). The
//! report's own form stands in `report`.

use std::fmt::Write as _;

use queue::{AcceptanceRole, Gate};

use super::agents;
use super::foreign::{code, inline};
use super::handoff::Handoff;
use super::task::heading;

/// How many names of agents are listed; a project may have hundreds.
const NAMES_SHOWN: usize = 24;

/// Writes the numbered steps.
pub(super) fn write(out: &mut String, handoff: &Handoff<'_>) {
    heading(out, "What you have to do");
    let gate = handoff.planner.gate;
    let mut steps = Vec::with_capacity(5);
    if gate == Gate::ConsultBefore {
        steps.push(consult_before(handoff));
    }
    steps.push(delegate(handoff));
    if gate == Gate::ReviewAfter {
        steps.push(review_after(handoff));
    }
    steps.push(CHECK_RUNS.to_owned());
    steps.push(FINISH.to_owned());
    for (index, step) in steps.iter().enumerate() {
        let _infallible = writeln!(out, "{}. {step}", index + 1);
    }
    out.push_str(WAITING);
}

const CHECK_RUNS: &str = "**Ask for the runs.** When all of them have ended, call `subagent({ action: \"status\" })`, \
    then `subagent({ action: \"status\", id: \"…\" })` for each run you are going to name: it tells the run's state, model \
    and thinking level. The first form lists live runs only, and for some seconds after a launch not even those, so an \
    empty list right after a launch proves nothing.";

const FINISH: &str = "**Report.** Read the result yourself against the acceptance criteria, then call \
    `handoff_task_report` as described below. Report once; call it again only when a call was refused.";

const WAITING: &str = "
A sub-agent sees nothing of this message but what you write into its `task`. Runs work in the background unless you say \
otherwise: after a launch, end your turn, and you are woken when the run ends; do not poll. If a background launch is \
refused, launch the same with `async: false`. If your turn ends with no run under way and no report accepted, you are \
reminded once; after that the task is closed as `ERROR`.
";

fn delegate(handoff: &Handoff<'_>) -> String {
    let role = handoff.planner.task_type.role();
    let kind = match role {
        AcceptanceRole::Writer => "do the work",
        AcceptanceRole::ReadOnly => "answer it",
    };
    let mut step = format!(
        "**Delegate.** Have one sub-agent {kind}: `subagent({{ agent: \"…\", task: \"…\" }})`. Its profile must have \
         `acceptanceRole: {}`. ",
        word(role)
    );
    names(&mut step, handoff, role);
    step.push_str(" Into `task` write the instruction, ");
    if handoff.planner.working_dir != "." {
        let _infallible =
            write!(step, "the working directory {} (set it as `cwd`, too), ", code(&handoff.planner.working_dir));
    }
    step.push_str("the scope, every acceptance criterion, and what it needs of the context files. ");
    step.push_str(match role {
        AcceptanceRole::Writer => "Tell it to change nothing outside the scope.",
        AcceptanceRole::ReadOnly => "Tell it to change no file at all.",
    });
    step
}

fn consult_before(handoff: &Handoff<'_>) -> String {
    let mut step =
        "**Consult first.** Before any work starts, ask another agent than the one that will do the work for \
        its opinion of the task: a run of its own, of a profile with `acceptanceRole: read-only`. Give it the task and \
        the gate's reason, and do not tell it which answer you expect. "
            .to_owned();
    names(&mut step, handoff, AcceptanceRole::ReadOnly);
    step.push_str(" Hand its advice on to the worker.");
    step
}

fn review_after(handoff: &Handoff<'_>) -> String {
    let mut step =
        "**Have it reviewed.** When the work is finished, have it reviewed by another agent than the worker: \
        a run of its own, of a profile with `acceptanceRole: read-only`. Give it the acceptance criteria, the changed \
        files and the gate's reason, do not tell it which answer you expect, and ask for a verdict in the first line. "
            .to_owned();
    names(&mut step, handoff, AcceptanceRole::ReadOnly);
    step.push_str(
        " A verdict that disapproves is passed on as it is. You may have the work corrected and reviewed again; then the \
         last review counts.",
    );
    step
}

/// The agents to choose from, or what it means that there are none (no builtin agent has a role, D56).
fn names(out: &mut String, handoff: &Handoff<'_>, role: AcceptanceRole) {
    let names = agents::with_role(handoff.agents, role);
    if names.is_empty() {
        let _infallible = write!(
            out,
            "No agent here has that role, so `COMPLETE` would be refused: unless a profile with `acceptanceRole: {}` turns \
             up, report `ERROR` and say that it is missing.",
            word(role)
        );
        return;
    }
    out.push_str("Agents here that qualify: ");
    for (index, name) in names.iter().take(NAMES_SHOWN).enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        inline(out, name);
    }
    if names.len() > NAMES_SHOWN {
        let _infallible = write!(out, " and {} more", names.len() - NAMES_SHOWN);
    }
    out.push('.');
}

/// The role as profiles spell it.
pub(super) const fn word(role: AcceptanceRole) -> &'static str {
    match role {
        AcceptanceRole::Writer => "writer",
        AcceptanceRole::ReadOnly => "read-only",
    }
}
