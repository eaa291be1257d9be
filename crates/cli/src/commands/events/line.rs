//! One event as one line for people.

use std::path::Path;

use wire::event::{Event, EventKind};
use wire::session::EndStatus;

use crate::text::{Line, Tone};
use crate::time;

/// The line: time of day, project, what happened.
pub(crate) fn of(event: &Event) -> Line {
    let name = event.project.as_deref().map_or("-", name);
    let line = Line::of(Tone::Dim, &time::of_day(&event.at)).plain(" ").and(Tone::Strong, name).plain(" ");
    let (tone, text) = what(&event.what);
    line.and(tone, &text)
}

/// A project by its folder's name.
fn name(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

fn what(kind: &EventKind) -> (Tone, String) {
    use EventKind as Kind;
    let plain = |text: String| (Tone::Plain, text);
    match kind {
        Kind::ProjectState { state, why, .. } => plain(with(format!("is {state}"), why.as_deref())),
        Kind::TaskPending { task_id } => plain(format!("{task_id} waits")),
        Kind::TaskRejected { task_id, problems } => {
            let problems: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
            (Tone::Bad, format!("{} rejected: {}", task_id.as_deref().unwrap_or("a task"), problems.join("; ")))
        }
        Kind::DispatchSent { task_id, attempt, .. } if *attempt > 1 => plain(format!("{task_id} sent, try {attempt}")),
        Kind::DispatchSent { task_id, .. } => plain(format!("{task_id} sent")),
        Kind::DispatchAccepted { task_id, .. } => plain(format!("{task_id} is in the session")),
        Kind::ReportRefused { task_id, problems, .. } => {
            (Tone::Warning, format!("report of {task_id} refused, {} problems", problems.len()))
        }
        Kind::TaskEnded { task_id, status: EndStatus::Complete, verdict, .. } => {
            (Tone::Good, with(format!("{task_id} COMPLETE"), verdict.as_deref()))
        }
        Kind::TaskEnded { task_id, error, .. } => (Tone::Bad, with(format!("{task_id} ERROR"), error.as_deref())),
        Kind::Run { run, .. } => plain(format!("run {} of {}: {}", run.run_id, run.agent, run.state.as_str())),
        Kind::Session { session_id, change, ownership } => {
            let place = ownership.map(|place| format!(" ({place})")).unwrap_or_default();
            plain(format!("session {session_id} {change}{place}"))
        }
        Kind::Packet { task_id, agent_id, packet_id, change, reason, .. } => {
            let why = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            plain(format!("packet {packet_id} of {task_id} {change}, member {agent_id}{why}"))
        }
        Kind::LogFailed { task_id, error, .. } => {
            (Tone::Bad, format!("no line for {task_id} in the work log: {error}"))
        }
        Kind::Lock { change, holder } => plain(with(format!("lock {change}"), holder.as_deref())),
        Kind::Notice { text, .. } => (Tone::Warning, text.clone()),
        Kind::Gap { from, to } => (Tone::Warning, format!("events {from} to {to} were left out: this reader is slow")),
        Kind::Other => plain("something that this version does not know".to_owned()),
    }
}

fn with(text: String, more: Option<&str>) -> String {
    match more {
        Some(more) => format!("{text}: {more}"),
        None => text,
    }
}
