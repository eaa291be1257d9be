//! `task.wait` and `task.retry`: questions about tasks that may have ended long ago (D65).

use std::path::Path;
use std::time::Duration;

use lifecycle::{Command, Content, Event};
use wire::control::{EndedTask, WaitResult};
use wire::error::{ErrorCode, Refusal};
use wire::journal::Ended;
use wire::session::EndStatus;
use wire::status::TaskStatus;

use super::Actor;
use super::bodies::BodyData;
use super::mail::Mail;
use super::open::Asked;
use crate::history;
use crate::journal::Journal;
use crate::peer::Responder;

/// How long a `task.wait` for an unknown task is held for a fresh read of the file where nothing reads it.
const READ_WITHIN: Duration = Duration::from_secs(1);
/// How often that is granted while a job is under way: on a slow disk it is the read, or stands before it.
const READS_WAITED_FOR: u8 = 5;

/// Clients that wait for the end of a task.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    next: u64,
    waiting: Vec<(u64, String, Responder)>,
    unknown: Vec<(u64, Wanted)>,
}

/// A client that waits for a task that is not known, at least not yet.
#[derive(Debug)]
pub struct Wanted {
    task_id: String,
    timeout_ms: Option<u64>,
    answer: Responder,
    /// A job was under way when it came: what that reads may be older.
    behind_a_job: bool,
    /// How often its time may still be over while a job is under way.
    patience: u8,
}

impl Waiters {
    fn add(&mut self, task_id: String, answer: Responder) -> u64 {
        self.next += 1;
        self.waiting.push((self.next, task_id, answer));
        self.next
    }

    /// Takes out those whose task fits.
    fn take(&mut self, fits: impl Fn(&str) -> bool) -> Vec<Responder> {
        let all = std::mem::take(&mut self.waiting);
        let (told, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, wanted, _)| fits(wanted));
        self.waiting = rest;
        told.into_iter().map(|(.., answer)| answer).collect()
    }

    /// Keeps one whose task is not known; the number is that of its time.
    fn keep_unknown(&mut self, wanted: Wanted) -> u64 {
        self.next += 1;
        self.unknown.push((self.next, wanted));
        self.next
    }

    /// The one whose time this is, if it still waits.
    fn take_unknown(&mut self, number: u64) -> Option<Wanted> {
        let at = self.unknown.iter().position(|(known, _)| *known == number)?;
        Some(self.unknown.swap_remove(at).1)
    }

    /// The file was just read: those for whom that counts. For those who came during another job the next read does.
    fn take_read(&mut self) -> Vec<Wanted> {
        let all = std::mem::take(&mut self.unknown);
        let (later, now): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, wanted)| wanted.behind_a_job);
        let next = |(number, wanted)| (number, Wanted { behind_a_job: false, ..wanted });
        self.unknown = later.into_iter().map(next).collect();
        now.into_iter().map(|(_, wanted)| wanted).collect()
    }

    /// The project is gone: nobody will hear of an end.
    pub(super) fn drop_all(&mut self) {
        let unknown = std::mem::take(&mut self.unknown).into_iter().map(|(_, wanted)| wanted.answer);
        for answer in std::mem::take(&mut self.waiting).into_iter().map(|(.., answer)| answer).chain(unknown) {
            answer.error(Refusal::new(ErrorCode::ShuttingDown, "the daemon no longer manages this project"));
        }
    }
}

impl Actor {
    pub(super) fn wait(&mut self, task_id: Option<String>, timeout_ms: Option<u64>, answer: Responder) {
        let current = self.current_task();
        let Some(wanted) = task_id.or_else(|| current.as_ref().map(|(id, _)| id.clone())) else {
            answer.error(no_task());
            return;
        };
        self.wait_for(
            Wanted { task_id: wanted, timeout_ms, answer, behind_a_job: false, patience: READS_WAITED_FOR },
            true,
        );
    }

    /// Waits for a task that has not ended, or answers from the journal. What neither knows may have been written this
    /// moment (a planner's rename, our own submit): it is looked for once more after the next read.
    fn wait_for(&mut self, wanted: Wanted, again: bool) {
        if self.current_task().is_some_and(|(id, open)| open && id == wanted.task_id) {
            let number = self.waiters.add(wanted.task_id, wanted.answer);
            if let Some(ms) = wanted.timeout_ms {
                self.remind(Duration::from_millis(ms), Mail::WaitOver(number));
            }
            return;
        }
        let (journal, path, pool) = (self.hub.journal.clone(), self.path.clone(), self.hub.pool.clone());
        let (id, me) = (wanted.task_id.clone(), self.me.upgrade());
        tokio::spawn(async move {
            let found = pool.run(move || ended_task(&journal, &path, &id)).await;
            match (found.ok().flatten(), me) {
                (Some(row), _) => wanted.answer.result(&ended_result(row)),
                (None, Some(me)) if again => drop(me.send(Box::new(Mail::WaitUnknown(wanted))).await),
                (None, _) => wanted.answer.error(no_task()),
            }
        });
    }

    pub(super) fn wait_for_a_read(&mut self, wanted: Wanted) {
        // While the journal was asked, its task may have begun, and even ended.
        if self.current_task().is_some_and(|(id, _)| id == wanted.task_id) {
            return self.wait_for(wanted, false);
        }
        self.keep_unknown(Wanted { behind_a_job: self.job_since.is_some(), ..wanted });
        self.step(Event::Touched);
    }

    fn keep_unknown(&mut self, wanted: Wanted) {
        let number = self.waiters.keep_unknown(wanted);
        self.remind(READ_WITHIN, Mail::WaitKnown(number));
    }

    /// The file was just read: who is not known now is not there.
    pub(super) fn wait_after_read(&mut self) {
        for wanted in self.waiters.take_read() {
            self.wait_for(wanted, false);
        }
    }

    /// It was not read in the time of this one: no lock, no folder, a file system that hangs, or a slow one.
    pub(super) fn wait_no_longer(&mut self, number: u64) {
        let Some(wanted) = self.waiters.take_unknown(number) else { return };
        match wanted.patience.checked_sub(1) {
            Some(patience) if self.job_since.is_some() => self.keep_unknown(Wanted { patience, ..wanted }),
            _ => self.wait_for(wanted, false),
        }
    }

    fn remind(&self, after: Duration, letter: Mail) {
        let Some(mail) = self.me.upgrade() else { return };
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            mail.send(Box::new(letter)).await.ok();
        });
    }

    /// The task in the file and whether it has not ended.
    fn current_task(&self) -> Option<(String, bool)> {
        if let Some((id, ..)) = self.project.running_task() {
            return Some((id.to_owned(), true));
        }
        match &self.project.view()?.content {
            Content::Pending(pending) => Some((pending.task.task_id.clone(), true)),
            Content::Running { task, .. } => Some((task.task_id.clone(), true)),
            Content::Settled { task_id, .. } => task_id.clone().map(|id| (id, false)),
            Content::Missing | Content::Unreadable { .. } => None,
        }
    }

    pub(super) fn wait_over(&mut self, number: u64) {
        let Some(at) = self.waiters.waiting.iter().position(|(known, ..)| *known == number) else { return };
        let (.., answer) = self.waiters.waiting.swap_remove(at);
        let shown = self.status();
        answer.result(&WaitResult::timed_out(shown.state, shown.why));
    }

    /// Tells everybody who waits for this task.
    pub(super) fn tell_waiters(&mut self, task_id: &str, row: Option<&Ended>) {
        for answer in self.waiters.take(|wanted| wanted == task_id) {
            match row {
                Some(row) => answer.result(&ended_result(row.clone())),
                None => answer.error(no_task()),
            }
        }
    }

    /// A task that somebody waits for was replaced or withdrawn: it will not end here any more.
    pub(super) fn recheck_waiters(&mut self) {
        let definite = self.project.view().is_some_and(|view| {
            matches!(view.content, Content::Pending(_) | Content::Running { .. } | Content::Settled { .. })
        });
        if self.waiters.waiting.is_empty() || !definite {
            return;
        }
        let open = self.current_task().filter(|(_, open)| *open).map(|(id, _)| id);
        let gone: Vec<String> = self.waiters.waiting.iter().map(|(_, id, _)| id.clone()).collect();
        for id in gone.into_iter().filter(|id| Some(id) != open.as_ref()) {
            for answer in self.waiters.take(|wanted| wanted == id) {
                self.answer_from_journal(id.clone(), answer);
            }
        }
    }

    fn answer_from_journal(&self, task_id: String, answer: Responder) {
        let (journal, path, pool) = (self.hub.journal.clone(), self.path.clone(), self.hub.pool.clone());
        tokio::spawn(async move {
            let found = pool.run(move || ended_task(&journal, &path, &task_id)).await;
            match found.ok().flatten() {
                Some(row) => answer.result(&ended_result(row)),
                None => answer.error(no_task()),
            }
        });
    }

    /// A new PENDING from an ended task: new id and time, `parent_task_id` set.
    pub(super) fn retry(&mut self, task_id: String, answer: Responder) {
        let (journal, path, pool) = (self.hub.journal.clone(), self.path.clone(), self.hub.pool.clone());
        let Some(me) = self.me.upgrade() else { return };
        let now = self.hub.now();
        tokio::spawn(async move {
            let wanted = task_id.clone();
            let found = pool.run(move || ended_task(&journal, &path, &wanted)).await;
            let task = found.ok().flatten().and_then(|row| again(&row, &task_id, now));
            me.send(Box::new(Mail::Again { parent: task_id, task, answer })).await.ok();
        });
    }

    /// The second half of a retry, with the journal's answer.
    pub(super) fn submit_again(&mut self, parent: String, task: Option<String>, answer: Responder) {
        let Some(json) = task else {
            answer.error(if self.project.running_task().is_some() {
                Refusal::new(ErrorCode::TaskRunning, "the task is RUNNING; wait for its end or cancel it")
            } else {
                no_task()
            });
            return;
        };
        let body = self.bodies.keep(BodyData { json, parent: Some(parent.clone()), ..BodyData::default() });
        let req = self.open.add(Asked::Retry(parent), answer);
        self.step(Event::Control { req, command: Command::Submit { body, retry: true } });
    }
}

/// How a task ended. Its row may be on its way to the file still: on a slow disk an end is known before that.
fn ended_task(journal: &Journal, project: &Path, task_id: &str) -> Option<Ended> {
    journal.flush(READ_WITHIN);
    history::ended_task(journal, project, task_id)
}

fn no_task() -> Refusal {
    Refusal::new(ErrorCode::NoTask, "no such task is known; `handoff history` lists those that are")
}

/// The planner's fields of `row` as a new task.
fn again(row: &Ended, parent: &str, now: lifecycle::Moment) -> Option<String> {
    let planner = row.planner.as_ref()?;
    let mut out: serde_json::Map<String, serde_json::Value> = serde_json::from_str(planner.get()).ok()?;
    let suffix = format!("-r{:06x}", now.entropy & 0xff_ffff);
    out.insert("task_id".into(), format!("{}{suffix}", retry_base(parent)).into());
    out.insert("parent_task_id".into(), parent.into());
    out.insert("created_at".into(), crate::convert::time(now.wall).into());
    out.insert("schema_version".into(), 3.into());
    serde_json::to_string(&out).ok()
}

/// Without the suffix of an earlier retry, so that ids do not grow; short enough to stay usable for packets (D74).
fn retry_base(parent: &str) -> String {
    let plain = match parent.rsplit_once("-r") {
        Some((base, digits)) if digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()) => base,
        _ => parent,
    };
    plain.chars().take(56).collect()
}

/// An ended task as `task.wait` answers it.
pub(super) fn ended_result(row: Ended) -> WaitResult {
    let status = match row.status {
        EndStatus::Complete => TaskStatus::Complete,
        EndStatus::Error => TaskStatus::Error,
    };
    let task = EndedTask {
        task_id: row.task_id,
        dispatch_id: row.dispatch_id,
        status,
        started_at: row.started_at,
        completed_at: row.completed_at,
        result: row.result,
        error: row.error,
        report: row.report,
    };
    WaitResult::ended(task, row.verdict)
}

#[cfg(test)]
mod tests {
    use lifecycle::Conn;
    use wire::rpc::Id;

    use super::*;
    use crate::peer::Peer;

    fn wanted(task_id: &str, behind_a_job: bool) -> Wanted {
        let (peer, _lines) = Peer::new(Conn(1));
        let answer = Responder::new(peer, Id::from(7));
        Wanted { task_id: task_id.to_owned(), timeout_ms: None, answer, behind_a_job, patience: READS_WAITED_FOR }
    }

    /// The end of the time of one, long answered, ended the wait of the next before the file was read.
    #[test]
    fn the_time_of_one_is_not_that_of_the_next() {
        let mut waiters = Waiters::default();
        let first = waiters.keep_unknown(wanted("t-1", false));
        assert_eq!(waiters.take_read().len(), 1);
        let second = waiters.keep_unknown(wanted("t-2", true));
        assert!(waiters.take_unknown(first).is_none());
        assert_eq!(waiters.take_read().len(), 0, "it came during a job, which may have read before");
        assert_eq!(waiters.unknown[0].0, second);
        assert_eq!(waiters.take_unknown(second).unwrap().task_id, "t-2");
    }

    #[test]
    fn the_read_that_counts_is_the_next_one() {
        let mut waiters = Waiters::default();
        waiters.keep_unknown(wanted("t-1", true));
        waiters.keep_unknown(wanted("t-2", false));
        let ids = |all: Vec<Wanted>| all.into_iter().map(|wanted| wanted.task_id).collect::<Vec<_>>();
        assert_eq!(ids(waiters.take_read()), ["t-2"]);
        assert_eq!(ids(waiters.take_read()), ["t-1"]);
    }
}
