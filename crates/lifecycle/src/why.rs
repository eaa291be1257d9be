//! The words of a status: one sentence why, and the one command next (promise 7). Decides nothing.

use queue::quoted;

use crate::event::BusyWith;
use crate::state::{Delivery as Stage, Halt, Lock, Presence, Project, Running, Task, Turn};
use crate::status::{Reason, State};
use crate::time::Wall;
use crate::view::Content;

impl Project {
    pub(crate) fn why(&self, state: State, reason: Option<Reason>) -> Option<String> {
        let text = match state {
            State::Idle => return reason.map(|_| self.why_runs()),
            State::Disabled => "a person disabled it".to_owned(),
            State::Missing => "the project's folder is not there".to_owned(),
            State::Starting => "the project is being opened".to_owned(),
            State::Stuck => "its file system does not answer".to_owned(),
            State::Leaving if self.run().is_none() => "it is letting go of its lock".to_owned(),
            State::Leaving => "it leaves as soon as its task has ended".to_owned(),
            State::Cancelling => "the session was asked to stop".to_owned(),
            State::Paused => "a person paused it".to_owned(),
            State::Blocked => return self.why_blocked(),
            State::Halted => match &self.halt {
                Halt { replaced: false, lost: Some(kept) } => {
                    format!("a write to tasks.json that nobody had read was kept as {kept}")
                }
                _ => "tasks.json was changed during the task; the change was kept".to_owned(),
            },
            State::Unreadable => match self.view.as_deref().map(|view| &view.content) {
                Some(Content::Unreadable { message, .. }) => message.words.clone(),
                _ => "tasks.json cannot be read".to_owned(),
            },
            State::Held => match reason {
                Some(Reason::TrackedByGit) => "git tracks tasks.json, so a pull could start work here".to_owned(),
                _ => "this task ran twice within ten minutes".to_owned(),
            },
            State::Running => match &self.task {
                Task::Running(run) => run.why(),
                Task::Ending(_) => "its end is being written".to_owned(),
                _ => "it is being handed to the session".to_owned(),
            },
            State::Waiting => return Some(self.why_waiting(reason)),
        };
        Some(text)
    }

    fn why_blocked(&self) -> Option<String> {
        match (&self.lock, &self.block) {
            (Lock::Blocked { verdict, .. }, _) => Some(match verdict.reason {
                Reason::LockMalformed => format!("the lock cannot be read: {}", verdict.text),
                Reason::LockUnknown => format!("nobody can tell whether the lock's owner lives: {}", verdict.text),
                _ => format!("another owner has the lock: {}", verdict.text),
            }),
            (Lock::Lost { cause, .. }, _) => Some(cause.words.clone()),
            (_, Some(block)) => Some(block.cause.words.clone()),
            _ => Some("tasks.json has no room left for RUNNING or ERROR".to_owned()),
        }
    }

    fn next_for_cause(&self) -> Option<String> {
        match (&self.lock, &self.block) {
            (Lock::Lost { cause, .. }, _) => cause.next.clone(),
            (_, Some(block)) => block.cause.next.clone(),
            _ => None,
        }
    }

    fn next_for_unreadable(&self) -> Option<String> {
        match self.view.as_deref().map(|view| &view.content) {
            Some(Content::Unreadable { message, .. }) => message.next.clone(),
            _ => None,
        }
    }

    fn why_waiting(&self, reason: Option<Reason>) -> String {
        match reason {
            Some(Reason::RunsAlive) => self.why_runs(),
            Some(Reason::NoSession) => "no worker's session is attached".to_owned(),
            Some(Reason::Stopped) => "its process is stopped".to_owned(),
            Some(Reason::Busy) => match self.sessions.owner.as_ref().and_then(|owner| owner.busy_with) {
                Some(BusyWith::Dialog) => "a dialog is open in the session".to_owned(),
                Some(BusyWith::Shell) => "a command of the person runs in the session".to_owned(),
                Some(BusyWith::Compaction) => "the session is compacting its conversation".to_owned(),
                Some(BusyWith::Model) => "the session has no model to work with".to_owned(),
                None => "the session is busy".to_owned(),
            },
            _ => "it is about to be handed over".to_owned(),
        }
    }

    fn why_runs(&self) -> String {
        match &self.lingering {
            Some(old) if old.runs.len() == 1 => format!("1 run of {} is still at work", old.task_id),
            Some(old) => format!("{} runs of {} are still at work", old.runs.len(), old.task_id),
            None => "runs of an ended task are still at work".to_owned(),
        }
    }

    /// For what goes on by itself only a wait: a cancel is no remedy for a task that does well.
    pub(crate) fn next(&self, state: State, reason: Option<Reason>) -> Option<String> {
        let pending = match self.view.as_deref().map(|view| &view.content) {
            Some(Content::Pending(pending)) => Some(pending.task.task_id.as_str()),
            _ => self.run().map(|run| run.task.task_id.as_str()),
        };
        let cancel = pending.map(|id| format!("handoff cancel {}", quoted(id)));
        match (state, reason) {
            (State::Halted | State::Held | State::Paused, _) | (State::Waiting, Some(Reason::RunsAlive)) => {
                Some("handoff resume".into())
            }
            (State::Blocked, Some(Reason::LockLive | Reason::LockUnknown | Reason::LockMalformed)) => {
                Some("handoff unlock".into())
            }
            // Where RUNNING and ERROR do not fit, the ERROR of a cancel does not either.
            (State::Blocked, Some(Reason::QueueFull)) => Some("handoff lint".into()),
            (State::Blocked, Some(Reason::ContextFile)) => cancel.or(Some("handoff lint".into())),
            (State::Blocked, _) => self.next_for_cause().or(Some("handoff doctor".into())),
            (State::Stuck, _) => Some("handoff logs".into()),
            (State::Missing, _) => Some("handoff projects list".into()),
            (State::Leaving | State::Cancelling | State::Starting, _) => Some("handoff status".into()),
            (State::Disabled, _) => Some("handoff enable".into()),
            (State::Waiting, Some(Reason::NoSession)) => Some("handoff attach".into()),
            (State::Waiting, Some(Reason::Stopped)) | (State::Running, Some(Reason::NoSession)) => cancel,
            (State::Waiting | State::Running, _) => Some("handoff wait".into()),
            (State::Unreadable, _) => self.next_for_unreadable().or(Some("handoff lint".into())),
            _ => None,
        }
    }
}

impl Running {
    fn why(&self) -> String {
        match (&self.presence, self.delivery, self.turn) {
            (Presence::Away { process_alive: true, .. }, _, _) if self.left => {
                format!("its conversation was left; go back to it to report: /resume there, or {}", self.open_again())
            }
            (Presence::Away { process_alive: true, .. }, _, _) => {
                "its session's connection was lost; it is awaited".into()
            }
            (Presence::Away { .. }, _, _) => {
                format!("its session has ended; open it again to report: {}", self.open_again())
            }
            (_, Stage::Waiting | Stage::Refused { .. }, _) => "it is sent when the session is idle".into(),
            (_, Stage::Sent { .. } | Stage::Unknown, _) => "the session has not accepted it yet".into(),
            (_, Stage::Accepted, Turn::Reminded { .. } | Turn::Owing { .. }) => "the session owes a report".into(),
            _ => "the session is at work".into(),
        }
    }
}

impl Running {
    fn open_again(&self) -> String {
        let open = self.owner.file.as_deref().unwrap_or(&self.owner.session_id);
        format!("pi --session {}", quoted(open))
    }
}

/// Milliseconds as people write them: `30 s`, `24 h`.
pub(crate) fn duration(ms: u64) -> String {
    match ms / 1_000 {
        0 => format!("{ms} ms"),
        s if s % 3_600 == 0 => format!("{} h", s / 3_600),
        s if s % 60 == 0 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

/// A wall-clock time as RFC 3339 UTC with seconds (civil-from-days, Howard Hinnant's public-domain formula).
pub(crate) fn clock(wall: Wall) -> String {
    let seconds = wall.0.div_euclid(1_000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60)
}
