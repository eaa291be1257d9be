//! What writing RUNNING, or ERROR over a PENDING, came to (D13, D30, D64, D68, D70).

use crate::Conn;
use crate::done::{ClaimResult, Failure, WriteResult};
use crate::effect::{Effect, Fact, Level};
use crate::reply::{Reply, SessionReach};
use crate::state::{Claiming, Delivery, Out, Presence, Project, Running, Task, Turn};
use crate::status::Reason;
use crate::view::{Content, RawHash, View};

impl Project {
    pub(crate) fn claimed(&mut self, result: ClaimResult, out: &mut Out) {
        let Task::Claiming(claim) = std::mem::replace(&mut self.task, Task::None) else { return };
        match result {
            ClaimResult::Claimed { hash, displaced } => self.started(*claim, hash, displaced, out),
            ClaimResult::WorkLog(cause) => self.set_block(Reason::WorkLog, cause, out),
            ClaimResult::ContextFile(words) => self.set_block(Reason::ContextFile, words, out),
            ClaimResult::Stopped => self.seen_stopped(claim.owner.process, out),
            ClaimResult::Failed(Failure::TooLarge { limit, size }) => {
                let words = format!("RUNNING needs {size} bytes; {limit} are allowed");
                self.set_block(Reason::QueueFull, words, out);
            }
            ClaimResult::Failed(failure) => self.write_failed(failure, out),
        }
    }

    /// RUNNING is durable; the session may be gone by now.
    fn started(&mut self, claim: Claiming, hash: RawHash, displaced: bool, out: &mut Out) {
        self.block = None;
        self.lifted = None;
        self.untold = None;
        let content = Content::Running { task: Box::new(claim.task.clone()), by: Some(claim.dispatch), facts: None };
        self.view = Some(Box::new(View { hash: Some(hash), content }));
        let (task, dispatch, again) = (claim.task.clone(), claim.dispatch, claim.again);
        out.push(Effect::Record(Fact::Started { task, dispatch, again }));
        let here = self.sessions.owner.as_ref().filter(|owner| owner.who.same(&claim.owner)).map(|owner| owner.conn);
        let (gone, cancel) = (claim.gone, claim.cancel.clone());
        self.run_begins(claim, hash, displaced, here, out);
        if let Some(text) = gone {
            self.end_by_us(format!("{text}{}", crate::presence::delivery_note(Delivery::Waiting)), out);
        } else if let Some(reason) = cancel {
            self.cancel_running(None, reason, out);
        }
    }

    fn run_begins(&mut self, claim: Claiming, hash: RawHash, displaced: bool, here: Option<Conn>, out: &Out) {
        let now = out.now;
        let presence = match here {
            Some(conn) => Presence::Here(conn),
            None => Presence::Away {
                since: now.wall,
                until: now.awake.plus(self.settings.reconnect_grace),
                process_alive: true,
            },
        };
        self.task = Task::Running(Box::new(Running {
            dispatch: claim.dispatch,
            task: claim.task,
            hash,
            started: claim.started,
            runtime_until: self.settings.max_runtime.map(|ms| now.awake.plus(ms)),
            proven: true,
            settings: self.settings,
            owner: claim.owner,
            presence,
            delivery: Delivery::Waiting,
            sends: 0,
            first_try: now.awake,
            turn: Turn::Working,
            runs: Vec::new(),
            background: false,
            background_before: false,
            reminded: false,
            refused: false,
            displaced,
            last_sign: now.awake,
            last_seen: now.wall,
            cancelling: None,
            left: false,
            gone: Vec::new(),
        }));
    }

    pub(crate) fn rejected(&mut self, result: WriteResult, out: &mut Out) {
        let Task::Rejecting(rejecting) = std::mem::replace(&mut self.task, Task::None) else { return };
        match result {
            Ok(hash) => {
                self.block = None;
                let live_runs = self.live_runs();
                let cancelled = rejecting.cancel.is_some();
                if let Some(req) = rejecting.cancel {
                    let session = SessionReach::NotReached;
                    let reply = Reply::Cancelled { was: "PENDING", now: "ERROR", session, live_runs };
                    out.push(Effect::Reply { req, reply });
                } else {
                    self.tell_owner(Level::Warning, format!("{}: {}", rejecting.task.task_id, rejecting.text), out);
                }
                self.see_settled(hash, None, false, rejecting.task.task_id.clone());
                let (task, text) = (rejecting.task, rejecting.text);
                let fact = if cancelled { Fact::Cancelled { task, text } } else { Fact::Rejected { task, text } };
                out.push(Effect::Record(fact));
            }
            Err(failure) => {
                if let Some(req) = rejecting.cancel {
                    out.push(Effect::Reply { req, reply: Reply::Refused(failure.clone().into()) });
                }
                self.write_failed(failure, out);
            }
        }
    }

    fn write_failed(&mut self, failure: Failure, out: &mut Out) {
        match failure {
            Failure::Changed => self.stale = true,
            Failure::CannotWrite(cause) => self.set_block(Reason::CannotWrite, cause, out),
            Failure::ForeignOwner(cause) => self.set_block(Reason::ForeignOwner, cause, out),
            Failure::TooLarge { limit, size } => {
                let words = format!("it needs {size} bytes; {limit} are allowed");
                self.set_block(Reason::QueueFull, words, out);
            }
            Failure::Moved | Failure::LockLost | Failure::Missing => self.lose_lock(&failure, out),
        }
    }
}
