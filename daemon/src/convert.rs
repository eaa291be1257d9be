//! Values of the domain crates as wire types, and back: one function each, by hand (style: boundary structs).

use queue::{Observed, Problem, Run, RunState};
use wire::run::RunState as WireState;

/// A problem on the wire.
#[must_use]
pub fn problem(problem: &Problem) -> wire::error::Problem {
    wire::error::Problem {
        field: problem.field.clone(),
        code: problem.code.as_str().to_owned(),
        message: problem.message.clone(),
    }
}

/// A run from the wire.
#[must_use]
pub fn run(run: wire::run::Run) -> Run {
    Run {
        run_id: run.run_id,
        agent: run.agent,
        background: run.background,
        state: match run.state {
            WireState::Running => RunState::Running,
            WireState::Complete => RunState::Complete,
            WireState::Failed => RunState::Failed,
            WireState::Stopped => RunState::Stopped,
            WireState::Rejected => RunState::Rejected,
        },
        model: run.model,
        thinking: run.thinking,
        result: run.result,
        parent_run_id: run.parent_run_id,
        pid: run.pid,
    }
}

/// A run on the wire.
#[must_use]
pub fn wire_run(run: &Run) -> wire::run::Run {
    wire::run::Run {
        run_id: run.run_id.clone(),
        agent: run.agent.clone(),
        background: run.background,
        state: match run.state {
            RunState::Running => WireState::Running,
            RunState::Complete => WireState::Complete,
            RunState::Failed => WireState::Failed,
            RunState::Stopped => WireState::Stopped,
            RunState::Rejected => WireState::Rejected,
        },
        model: run.model.clone(),
        thinking: run.thinking.clone(),
        result: run.result.clone(),
        parent_run_id: run.parent_run_id.clone(),
        pid: run.pid,
    }
}

/// What a report says was observed, with the runs that were seen before: the report's own words win (D49).
#[must_use]
pub fn observed(told: Option<wire::run::Observed>, seen: &[Run]) -> Option<Observed> {
    let (all, runs) = match told {
        Some(told) => (told.all, told.runs.into_iter().map(run).collect::<Vec<_>>()),
        None if seen.is_empty() => return None,
        None => (false, Vec::new()),
    };
    let mut merged: Vec<Run> = seen.to_vec();
    for run in runs {
        match merged.iter_mut().find(|known| known.run_id == run.run_id) {
            Some(known) if !known.state.is_live() && run.state.is_live() => {}
            Some(known) => *known = run,
            None => merged.push(run),
        }
    }
    Some(Observed { all, runs: merged })
}

/// A moment of the state machine as the time library has it.
#[must_use]
pub fn timestamp(wall: lifecycle::Wall) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(wall.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// RFC 3339 with milliseconds, as every file and message of ours has it (D13).
#[must_use]
pub fn time(wall: lifecycle::Wall) -> String {
    queue::format_time(timestamp(wall))
}
