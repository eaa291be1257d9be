//! Requests that the state machine has not answered yet, and where their answers go.

use lifecycle::Req;
use wire::error::{ErrorCode, Refusal};

use crate::peer::Responder;

/// Why a request is open: it decides what its answer looks like.
#[derive(Debug)]
pub(super) enum Asked {
    /// `session.attach`
    Attach,
    /// `task.report`
    Report,
    /// `project.pause|resume|enable|disable|remove`
    Project,
    /// `project.resume`, whose answer says what was lifted.
    Resume,
    /// `project.unlock`
    Unlock,
    /// `task.submit`
    Submit,
    /// `task.retry` of this task.
    Retry(String),
    /// `task.cancel`
    Cancel,
    /// `session.take`: the owner before.
    Take(Option<String>),
    /// Nobody waits for the answer.
    Internal,
}

/// The open requests of one project.
#[derive(Debug, Default)]
pub(super) struct Open {
    next: u64,
    waiting: Vec<(Req, Asked, Option<Responder>)>,
}

impl Open {
    /// Numbers a request.
    pub(super) fn add(&mut self, asked: Asked, answer: Responder) -> Req {
        self.next += 1;
        self.waiting.push((Req(self.next), asked, Some(answer)));
        Req(self.next)
    }

    /// A request that nobody waits for.
    pub(super) fn internal(&mut self) -> Req {
        self.next += 1;
        self.waiting.push((Req(self.next), Asked::Internal, None));
        Req(self.next)
    }

    /// Takes a request out, to be answered.
    pub(super) fn take(&mut self, req: Req) -> Option<(Asked, Option<Responder>)> {
        let at = self.waiting.iter().position(|(known, ..)| *known == req)?;
        let (_, asked, answer) = self.waiting.swap_remove(at);
        if self.waiting.is_empty() {
            self.waiting = Vec::new();
        }
        Some((asked, answer))
    }

    /// The project is gone: whoever still waits is told.
    pub(super) fn drop_all(&mut self) {
        for (.., answer) in std::mem::take(&mut self.waiting) {
            if let Some(answer) = answer {
                answer.error(Refusal::new(ErrorCode::UnknownProject, "the project has left"));
            }
        }
    }
}
