//! The table of `status` and `watch`: one row a project, the sentence why and the command next in its last column.

use std::path::Path;

use jiff::Timestamp;
use wire::status::{MemberStatus, ProjectState, ProjectStatus, ReportState, Status, TaskStatus};

use crate::commands::next::suggestion;
use crate::text::{Line, Tone, wrapped};
use crate::time;

const HEAD: [&str; 6] = ["PROJECT", "STATE", "SINCE", "TASK", "SESSION", "WHY"];
/// A column of sentences that is narrower than this is put below its row instead.
const NARROW: usize = 24;
const GAP: usize = 2;

/// The whole table and the warnings below it. `width` is that of the terminal; without one, lines stay whole.
pub(crate) fn lines(status: &Status, now: Timestamp, width: Option<usize>, here: Option<&Path>) -> Vec<Line> {
    let rows: Vec<[Line; 5]> = status.projects.iter().map(|project| cells(project, now)).collect();
    let mut lines = Vec::new();
    if !rows.is_empty() {
        let widths: Vec<usize> = (0..5)
            .map(|column| {
                rows.iter().map(|row| row[column].width()).chain([HEAD[column].len()]).max().unwrap_or(0) + GAP
            })
            .collect();
        let indent: usize = widths.iter().sum();
        let head = HEAD.map(|name| Line::of(Tone::Dim, name));
        lines.push(row(&head[..5], &widths).join(&head[5]));
        for (project, cells) in status.projects.iter().zip(&rows) {
            let sentences = sentences(project, suggestion::local(project, &status.projects, here).as_deref(), now);
            lines.extend(with_sentences(row(cells, &widths), indent, sentences, width));
        }
    }
    lines.extend(warnings(status));
    lines
}

fn row(cells: &[Line], widths: &[usize]) -> Line {
    cells.iter().zip(widths).fold(Line::default(), |row, (cell, width)| row.join(&cell.clone().padded(*width)))
}

/// The row with its sentences beside it, or below it where there is no room.
fn with_sentences(row: Line, indent: usize, sentences: Vec<(Tone, String)>, width: Option<usize>) -> Vec<Line> {
    let below = width.is_some_and(|width| width < indent + NARROW);
    let indent = if below { 4 } else { indent };
    let room = width.map(|width| width.saturating_sub(indent).max(NARROW));
    let mut texts = sentences.into_iter().flat_map(|(tone, text)| {
        // A command is never broken: it is there to be copied.
        let parts = if tone == Tone::Strong { vec![text] } else { wrapped(&text, room) };
        parts.into_iter().map(move |part| Line::of(tone, &part))
    });
    let first = if below { None } else { texts.next() };
    let mut lines = vec![first.map_or(row.clone(), |first| row.join(&first))];
    lines.extend(texts.map(|text| Line::default().padded(indent).join(&text)));
    lines
}

fn cells(project: &ProjectStatus, now: Timestamp) -> [Line; 5] {
    [
        Line::of(Tone::Strong, &project.name),
        Line::of(tone(project.state), project.state.as_str()),
        Line::from(time::age(&project.since, now)),
        task(project),
        session(project, now),
    ]
}

fn tone(state: ProjectState) -> Tone {
    match state {
        ProjectState::Idle | ProjectState::Running => Tone::Good,
        ProjectState::Disabled => Tone::Dim,
        ProjectState::Blocked
        | ProjectState::Unreadable
        | ProjectState::Halted
        | ProjectState::Missing
        | ProjectState::Stuck => Tone::Bad,
        _ => Tone::Warning,
    }
}

fn task(project: &ProjectStatus) -> Line {
    if let Some(task) = &project.task {
        return Line::from(task.task_id.as_str());
    }
    match (&project.queue.task_id, project.queue.status) {
        (Some(id), Some(TaskStatus::Complete)) => Line::of(Tone::Dim, id).plain(" ").and(Tone::Good, "COMPLETE"),
        (Some(id), Some(TaskStatus::Error)) => Line::of(Tone::Dim, id).plain(" ").and(Tone::Bad, "ERROR"),
        (Some(id), _) => Line::from(id.as_str()),
        (None, _) => Line::of(Tone::Dim, "-"),
    }
}

fn session(project: &ProjectStatus, now: Timestamp) -> Line {
    let waiting = match project.standby {
        0 => String::new(),
        standby => format!(" +{standby}"),
    };
    let Some(session) = &project.session else { return Line::of(Tone::Dim, "-").plain(&waiting) };
    let word = if session.idle { "idle" } else { "busy" };
    let seen = format!(", {word}, seen {} ago", time::age(&session.last_seen, now));
    Line::from(session.host.as_str()).and(Tone::Dim, &seen).plain(&waiting)
}

/// A cancel is no remedy for a task that does well, only the way to stop it.
fn label(next: &str) -> &'static str {
    if next.contains("handoff cancel") { "to stop it" } else { "next" }
}

/// What stands in the last column, one after the other.
fn sentences(project: &ProjectStatus, next: Option<&str>, now: Timestamp) -> Vec<(Tone, String)> {
    let mut sentences: Vec<(Tone, String)> = project.why.iter().map(|why| (Tone::Plain, why.clone())).collect();
    if let Some(task) = &project.task {
        let runs = &task.runs;
        if runs.running + runs.complete + runs.failed > 0 {
            let text = format!("runs: {} at work, {} done, {} failed", runs.running, runs.complete, runs.failed);
            sentences.push((Tone::Plain, text));
        }
        if task.report == ReportState::Refused {
            sentences.push((Tone::Warning, "its last report was refused".to_owned()));
        }
        if let Some(until) = &task.until {
            sentences.push((Tone::Plain, format!("until {}", time::moment(until, now))));
        }
    }
    sentences.extend(project.members.iter().map(|member| (Tone::Plain, about(member))));
    // Of an unreadable file, the problem is the reason.
    let problems = project.queue.problems.iter().filter(|problem| project.why.as_ref() != Some(&problem.message));
    sentences.extend(problems.map(|problem| (Tone::Bad, problem.message.clone())));
    sentences.extend(project.warnings.iter().map(|warning| (Tone::Warning, warning.clone())));
    sentences.extend(next.map(|next| (Tone::Strong, format!("{}: {next}", label(next)))));
    sentences
}

/// A team member in one sentence.
fn about(member: &MemberStatus) -> String {
    let role = member.role.as_deref().unwrap_or("no record");
    let goal = member.goal.as_deref().map(|goal| format!(" of {goal}")).unwrap_or_default();
    let round = member.round.map(|round| format!(" r{round}")).unwrap_or_default();
    let why = member.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let waiting = match member.waiting {
        0 => String::new(),
        1 => ", 1 packet waits".to_owned(),
        count => format!(", {count} packets wait"),
    };
    format!("member {} ({role}{goal}{round}){why}{waiting}", member.agent_id)
}

fn warnings(status: &Status) -> Vec<Line> {
    let daemon = &status.daemon;
    let mut warnings = Vec::new();
    if daemon.outdated {
        warnings.push(format!(
            "the daemon runs an older build ({}) than the one on disk: `handoff service restart`, or start it again by hand",
            daemon.version
        ));
    } else if daemon.version != crate::VERSION {
        warnings.push(format!("the daemon is {}, this is handoff {}", daemon.version, crate::VERSION));
    }
    if let Some(error) = &daemon.config.error {
        warnings.push(format!("the configuration on disk is refused, the one before is in force: {error}"));
    }
    warnings.extend(daemon.warnings.iter().cloned());
    let line = |warning: String| Line::of(Tone::Warning, "Warning:").plain(" ").plain(&warning);
    warnings.into_iter().map(line).collect()
}
