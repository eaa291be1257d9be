//! Questions to the journal: how a task or a dispatch ended, whether a task was ever dispatched (D64, D65).
//!
//! Answers are read from the files newest first when they are asked for; what must be known of every project at start
//! comes from one pass (`index`). Blocking: for jobs, not for the loop.

mod index;

use std::path::Path;

pub use index::{Dispatches, Index, Outlived, Past, build};
use lifecycle::{Facts, Wall};
use queue::DispatchId;
use wire::journal::{Ended, Entry, Head, Row};

use crate::clock;
use crate::journal::{self, Journal};

/// Rows that are looked at for questions that may have no answer.
const FAR_ENOUGH: usize = 20_000;

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

fn wall(text: &str) -> Option<Wall> {
    clock::Wall::parse(text).map(|at| Wall(at.unix_ms()))
}

/// How the task of this id ended the last time.
#[must_use]
pub fn ended_task(journal: &Journal, project: &Path, task_id: &str) -> Option<Ended> {
    ends(journal, project, |head| head.task_id.as_deref() == Some(task_id)).next()
}

/// How the same task (id and `created_at`) ended the last time that it ran.
#[must_use]
pub fn ran_before(journal: &Journal, project: &Path, task_id: &str, created_at: &str) -> Option<Ended> {
    ends(journal, project, |head| head.task_id.as_deref() == Some(task_id))
        .find(|row| row.created_at.as_deref() == Some(created_at) && row.dispatch_id.is_some())
}

/// The ends of the tasks that fit, newest first; an end that could not be written after all is none (D70).
fn ends(journal: &Journal, project: &Path, fits: impl Fn(&Head) -> bool) -> impl Iterator<Item = Ended> {
    let mut revoked: Vec<Option<String>> = Vec::new();
    rows_of(journal, project).filter(move |(head, _)| fits(head)).filter_map(move |(head, line)| {
        match head.kind.as_str() {
            "not_ended" => {
                revoked.push(head.dispatch_id);
                None
            }
            "ended" => match revoked.iter().position(|id| *id == head.dispatch_id) {
                Some(at) => {
                    revoked.swap_remove(at);
                    None
                }
                None => ended(&line),
            },
            _ => None,
        }
    })
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
            "running" | "abandoned" | "not_ended" => return None,
            _ => {}
        }
    }
    None
}

/// The task that this dispatch was made for.
#[must_use]
pub fn task_of(journal: &Journal, project: &Path, dispatch: DispatchId) -> Option<String> {
    let id = dispatch.to_string();
    let of_claim = |head: &Head| head.kind == "running" && head.dispatch_id.as_deref() == Some(&id);
    rows_of(journal, project).find(|(head, _)| of_claim(head))?.0.task_id
}

fn ended(line: &str) -> Option<Ended> {
    match Row::parse(line).ok()?.entry {
        Entry::Ended(ended) => Some(ended),
        _ => None,
    }
}

/// What the journal knows of one dispatch now: for a task that is taken up again without a restart (D18, D22).
#[must_use]
pub fn facts(journal: &Journal, project: &Path, dispatch: DispatchId) -> Option<Facts> {
    let id = dispatch.to_string();
    let mut rows: Vec<_> = Vec::new();
    for (head, line) in rows_of(journal, project).filter(|(head, _)| head.dispatch_id.as_deref() == Some(&id)) {
        let first = head.kind == "running";
        rows.push((head, line));
        if first {
            break;
        }
    }
    let mut past = Past::default();
    for (head, line) in rows.into_iter().rev() {
        if let Ok(row) = Row::parse(&line) {
            past.note(row.entry, wall(&head.at));
        }
    }
    past.facts(dispatch)
}

/// Whether the journal knows a task of this fingerprint as dispatched (D64).
#[must_use]
pub fn was_dispatched(journal: &Journal, project: &Path, fingerprint: &str) -> bool {
    rows_of(journal, project)
        .any(|(head, _)| head.kind == "running" && head.fingerprint.as_deref() == Some(fingerprint))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lifecycle::Halted;
    use serde_json::json;

    use super::*;
    use crate::journal::JournalLimits;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    /// A journal with these rows of the project `/p`, and what an index makes of it.
    fn journal(rows: &[serde_json::Value]) -> (tempfile::TempDir, Journal, Past) {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.jsonl"), JournalLimits::default()).unwrap();
        for row in rows {
            let mut row = row.clone();
            row["at"] = "2026-11-30T08:00:00.000Z".into();
            row["project"] = "/p".into();
            row["task_id"] = "T-1".into();
            journal.append_and_confirm(row.to_string(), Duration::from_secs(10)).unwrap();
        }
        let past = build(&journal).remove("/p").unwrap_or_default();
        (folder, journal, past)
    }

    fn running() -> serde_json::Value {
        json!({"kind": "running", "dispatch_id": ID, "fingerprint": "f", "created_at": "c",
               "started_at": "2026-11-30T08:00:00.000Z", "session_id": null})
    }

    fn ended(status: &str) -> serde_json::Value {
        json!({"kind": "ended", "dispatch_id": ID, "status": status, "error": null, "started_at": null,
               "completed_at": null, "fingerprint": null, "created_at": "c", "planner": null, "result": null,
               "report": null, "verdict": null, "log_line": "- a line"})
    }

    #[test]
    fn an_end_that_was_not_written_is_believed_by_nobody() {
        let revoked = json!({"kind": "not_ended", "dispatch_id": ID});
        let (_folder, journal, past) = journal(&[running(), ended("COMPLETE"), revoked]);
        let (project, id) = (Path::new("/p"), DispatchId::parse(ID).unwrap());
        assert_eq!(ended_task(&journal, project, "T-1"), None);
        assert_eq!(ran_before(&journal, project, "T-1", "c"), None);
        assert!(ended_dispatch(&journal, project, id).is_none());
        assert!(past.lines.is_empty());
    }

    #[test]
    fn an_end_that_was_written_at_the_second_try_counts() {
        let revoked = json!({"kind": "not_ended", "dispatch_id": ID});
        let (_folder, journal, past) = journal(&[running(), ended("COMPLETE"), revoked, ended("ERROR")]);
        let (project, id) = (Path::new("/p"), DispatchId::parse(ID).unwrap());
        assert_eq!(ended_task(&journal, project, "T-1").unwrap().status, wire::session::EndStatus::Error);
        assert!(ended_dispatch(&journal, project, id).is_some());
        assert_eq!(past.lines.len(), 1);
    }

    #[test]
    fn states_alone_are_not_remembered() {
        let state = |state: &str| json!({"kind": "state", "state": state, "reason": null, "why": null});
        let index = |rows: &[serde_json::Value]| {
            let (_folder, journal, _past) = journal(rows);
            build(&journal).len()
        };
        assert_eq!(index(&[state("starting"), state("idle")]), 0);
        assert_eq!(index(&[state("idle"), state("halted"), state("idle")]), 1);
    }

    #[test]
    fn a_halt_lasts_until_a_person_lifts_it_or_it_is_over() {
        let state =
            |state: &str, reason: Option<&str>| json!({"kind": "state", "state": state, "reason": reason, "why": null});
        let resumed = json!({"kind": "resumed", "lifted": ["halted"]});
        let abandoned = json!({"kind": "abandoned", "dispatch_id": ID});
        let check = |rows: &[serde_json::Value], expected: Option<Halted>| {
            let (_folder, _journal, mut past) = journal(rows);
            assert_eq!(past.take_halted(), expected, "{rows:?}");
        };
        let lost = json!({"kind": "lost", "path": "/p/tasks.json.lost-1"});
        let (replaced, of_lost) = (state("halted", Some("replaced")), state("halted", Some("lost_write")));
        check(&[running(), replaced.clone()], Some(Halted::Replaced));
        check(&[replaced.clone(), state("blocked", None), state("starting", None)], Some(Halted::Replaced));
        check(&[lost, of_lost.clone(), ended("ERROR")], Some(Halted::Lost("/p/tasks.json.lost-1".to_owned())));
        check(&[replaced.clone(), state("running", None)], None);
        check(&[of_lost, resumed], None);
        check(&[replaced, abandoned], None);
    }

    #[test]
    fn only_a_refusal_proves_that_a_dispatch_did_not_arrive() {
        let id = DispatchId::parse(ID).unwrap();
        let refused = json!({"kind": "not_accepted", "dispatch_id": ID, "reason": "busy"});
        let (_folder, open, past) = journal(&[running()]);
        assert!(past.facts(id).unwrap().sent && facts(&open, Path::new("/p"), id).unwrap().sent);
        let (_folder, _journal, past) = journal(&[running(), refused]);
        assert!(!past.facts(id).unwrap().sent);
    }
}
