//! Questions to the journal: what became of a dispatch, when a task ran before, which log lines are missing (D22, D65, D67).
//!
//! Answers are read from the files newest first when they are asked for; nothing but [`Dispatches`] stays in memory.
//! Blocking: for jobs, not for the loop.

use std::collections::VecDeque;
use std::path::Path;

use lifecycle::{Facts, Wall};
use queue::DispatchId;
use wire::journal::{Ended, Entry, Head, Row};

use crate::clock;
use crate::journal::{self, Journal};

/// Rows that are looked at for questions that may have no answer.
const FAR_ENOUGH: usize = 20_000;
/// Dispatches of one project that are remembered.
const REMEMBERED: usize = 32;
/// Lines that a recovery compares with the work log.
const REPLAYED: usize = 64;

/// The newest rows of the journal, newest first, as far as a question should look.
fn rows(journal: &Journal) -> impl Iterator<Item = String> + use<> {
    let newest = journal::newest_first(journal.path());
    if let Err(error) = &newest {
        tracing::warn!(%error, "the journal cannot be read");
    }
    newest.into_iter().flatten().map_while(Result::ok).take(FAR_ENOUGH)
}

fn rows_of(journal: &Journal, project: &Path) -> impl Iterator<Item = (Head, String)> + use<> {
    let project = project.to_string_lossy().into_owned();
    rows(journal)
        .filter_map(|line| Head::parse(&line).ok().map(|head| (head, line)))
        .filter(move |(head, _)| head.project.as_deref() == Some(project.as_str()))
}

/// What the journal knows of a dispatch that another daemon started (D22).
#[must_use]
pub fn facts(journal: &Journal, project: &Path, dispatch: DispatchId) -> Facts {
    let id = dispatch.to_string();
    let mut facts = Facts::default();
    for (head, line) in rows_of(journal, project).filter(|(head, _)| head.dispatch_id.as_deref() == Some(&id)) {
        facts.last_seen = facts.last_seen.or_else(|| wall(&head.at));
        match Row::parse(&line).map(|row| row.entry) {
            Ok(Entry::Accepted(_)) => facts.accepted = true,
            Ok(Entry::Sent(_)) => facts.sent = true,
            Ok(Entry::Run(seen)) => {
                let run = crate::convert::run(seen.run);
                if !facts.runs.iter().any(|known| known.run_id == run.run_id) {
                    facts.runs.insert(0, run);
                }
            }
            Ok(Entry::Running(running)) => {
                facts.started = wall(&running.started_at);
                break;
            }
            _ => {}
        }
    }
    facts
}

fn wall(text: &str) -> Option<Wall> {
    clock::Wall::parse(text).map(|at| Wall(at.unix_ms()))
}

/// When tasks of one project were dispatched, newest last (D65).
#[derive(Debug, Default)]
pub struct Dispatches {
    known: VecDeque<(String, String, Wall)>,
}

impl Dispatches {
    /// When this task was dispatched before, newest first, two at most.
    #[must_use]
    pub fn before(&self, task_id: &str, created_at: &str) -> Vec<Wall> {
        let fits = |(id, created, _): &&(String, String, Wall)| id == task_id && created == created_at;
        self.known.iter().rev().filter(fits).map(|(_, _, at)| *at).take(2).collect()
    }

    /// Notes a dispatch.
    pub fn note(&mut self, task_id: &str, created_at: &str, at: Wall) {
        if self.known.len() == REMEMBERED {
            self.known.pop_front();
        }
        self.known.push_back((task_id.to_owned(), created_at.to_owned(), at));
    }
}

/// The newest dispatches of a project.
#[must_use]
pub fn dispatches(journal: &Journal, project: &Path) -> Dispatches {
    let mut found = Dispatches::default();
    for (_, line) in rows_of(journal, project).filter(|(head, _)| head.kind == "running").take(REMEMBERED) {
        if let Ok(Row { entry: Entry::Running(running), .. }) = Row::parse(&line)
            && let Some(at) = wall(&running.started_at)
        {
            found.known.push_front((running.task_id, running.created_at.unwrap_or_default(), at));
        }
    }
    found
}

/// How the task of this id ended the last time.
#[must_use]
pub fn ended_task(journal: &Journal, project: &Path, task_id: &str) -> Option<Ended> {
    rows_of(journal, project)
        .filter(|(head, _)| head.kind == "ended" && head.task_id.as_deref() == Some(task_id))
        .find_map(|(_, line)| ended(&line))
}

/// How the same task (id and `created_at`) ended the last time.
#[must_use]
pub fn ran_before(journal: &Journal, project: &Path, task_id: &str, created_at: &str) -> Option<Ended> {
    rows_of(journal, project)
        .filter(|(head, _)| head.kind == "ended" && head.task_id.as_deref() == Some(task_id))
        .filter(|(head, _)| head.created_at.as_deref() == Some(created_at))
        .find_map(|(_, line)| ended(&line))
}

/// How a dispatch ended, and whether its line could not be logged.
#[must_use]
pub fn ended_dispatch(journal: &Journal, project: &Path, dispatch: DispatchId) -> Option<(Ended, bool)> {
    let id = dispatch.to_string();
    let mut log_failed = false;
    for (head, line) in rows_of(journal, project).filter(|(head, _)| head.dispatch_id.as_deref() == Some(&id)) {
        match head.kind.as_str() {
            "log_failed" => log_failed = true,
            "ended" => return ended(&line).map(|row| (row, log_failed)),
            "running" | "abandoned" => return None,
            _ => {}
        }
    }
    None
}

fn ended(line: &str) -> Option<Ended> {
    match Row::parse(line).ok()?.entry {
        Entry::Ended(ended) => Some(ended),
        _ => None,
    }
}

/// The finished lines of the newest ended dispatches, oldest first (D67).
#[must_use]
pub fn log_lines(journal: &Journal, project: &Path) -> Vec<(DispatchId, String)> {
    let mut lines: Vec<(DispatchId, String)> = Vec::new();
    for (_, line) in rows_of(journal, project).filter(|(head, _)| head.kind == "ended") {
        let Some(row) = ended(&line) else { continue };
        let id = row.dispatch_id.as_deref().and_then(DispatchId::parse);
        if let (Some(id), Some(text)) = (id, row.log_line)
            && !lines.iter().any(|(known, _)| *known == id)
        {
            lines.push((id, text));
        }
        if lines.len() == REPLAYED {
            break;
        }
    }
    lines.reverse();
    lines
}

/// Whether the journal knows a task of this fingerprint as dispatched (D64).
#[must_use]
pub fn was_dispatched(journal: &Journal, project: &Path, fingerprint: &str) -> bool {
    rows_of(journal, project)
        .any(|(head, _)| head.kind == "running" && head.fingerprint.as_deref() == Some(fingerprint))
}
