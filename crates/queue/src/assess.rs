//! What the daemon would do with a document as it stands: the judgement that `handoff lint` shows (D6, D12, D42, D45).
//!
//! Locks, sessions and journals do not count here: whether a RUNNING task is an orphan is for the caller to know.

use jiff::Timestamp;

use crate::edit::QueueFull;
use crate::validate::{planner, schema_version};
use crate::{Code, DispatchId, Document, Planner, Problem, ProjectPaths, Status, limits, transition};

/// What is to be done with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assessment {
    /// IDLE, COMPLETE or ERROR: nothing.
    Nothing,
    /// A valid PENDING that has room.
    Dispatch(Box<Planner>, Room),
    /// A PENDING that is to be rewritten to ERROR for these reasons.
    Reject(Vec<Problem>),
    /// Not ours to touch, for these reasons.
    Leave(Vec<Problem>),
    /// RUNNING: an orphan if no live lock owns it.
    Running,
}

/// How much of the 256 KiB a dispatch leaves (D12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    running: usize,
}

impl Room {
    /// The room that RUNNING leaves.
    ///
    /// # Errors
    /// [`QueueFull`] when RUNNING does not fit.
    pub fn of(document: &Document) -> Result<Self, QueueFull> {
        // Dispatch ids and times have a fixed length, so any of them tells the size.
        let running = transition::start(document, DispatchId::from_random(0), Timestamp::UNIX_EPOCH)?;
        Ok(Self { running: running.len() })
    }

    /// Bytes that are left for the report.
    #[must_use]
    pub const fn left_for_report(self) -> usize {
        limits::QUEUE_BYTES - self.running
    }

    /// Whether that is so little that a dispatch should warn.
    #[must_use]
    pub const fn is_tight(self) -> bool {
        self.left_for_report() < limits::TIGHT_ROOM_BYTES
    }
}

/// Judges a readable document.
#[must_use]
pub fn assess(document: &Document, paths: &dyn ProjectPaths) -> Assessment {
    match document.status() {
        Status::Idle | Status::Complete | Status::Error => Assessment::Nothing,
        Status::Running => match schema_version(document) {
            Some(problem) => Assessment::Leave(vec![problem]),
            None => Assessment::Running,
        },
        Status::Pending => assess_pending(document, paths),
    }
}

fn assess_pending(document: &Document, paths: &dyn ProjectPaths) -> Assessment {
    let problems = match planner(document, paths) {
        Err(problems) => problems,
        Ok(planner) => match Room::of(document) {
            Ok(room) => return Assessment::Dispatch(Box::new(planner), room),
            Err(full) => vec![queue_full(full)],
        },
    };
    match transition::reject(document, &problems, Timestamp::UNIX_EPOCH) {
        Ok(_) => Assessment::Reject(problems),
        Err(full) => Assessment::Leave(vec![queue_full(full)]),
    }
}

fn queue_full(full: QueueFull) -> Problem {
    let message = format!("the file leaves no room for the task's course: {full}; shorten the task");
    Problem::whole(Code::QueueFull, message)
}

/// The word for what would be done, as `handoff lint` prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// `dispatch`
    Dispatch,
    /// `reject`
    Reject,
    /// `leave`
    Leave,
    /// `none`
    None,
    /// `orphan`
    Orphan,
}

impl Action {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch",
            Self::Reject => "reject",
            Self::Leave => "leave",
            Self::None => "none",
            Self::Orphan => "orphan",
        }
    }
}

/// What a queue file was found to be.
#[derive(Debug, Clone, Copy)]
pub enum Reading<'a> {
    /// There is none: the queue is empty.
    Missing,
    /// It cannot be judged.
    Unreadable(&'a Problem),
    /// A document.
    Readable(&'a Document),
}

/// Whether a live lock owns the project's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// A live owner has it: its RUNNING task is no orphan.
    Owned,
    /// Nobody has it.
    Unowned,
}

/// The answer of `handoff lint`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lint {
    /// What would be done.
    pub action: Action,
    /// `None` when missing or unreadable.
    pub status: Option<Status>,
    /// Why, if it is neither `dispatch` nor `none`.
    pub problems: Vec<Problem>,
}

/// Judges a queue file as the daemon would, without touching it.
#[must_use]
pub fn lint(reading: Reading<'_>, paths: &dyn ProjectPaths, ownership: Ownership) -> Lint {
    let document = match reading {
        Reading::Missing => return Lint { action: Action::None, status: None, problems: Vec::new() },
        Reading::Unreadable(problem) => {
            return Lint { action: Action::Leave, status: None, problems: vec![problem.clone()] };
        }
        Reading::Readable(document) => document,
    };
    let (action, problems) = match assess(document, paths) {
        Assessment::Nothing => (Action::None, Vec::new()),
        Assessment::Dispatch(..) => (Action::Dispatch, Vec::new()),
        Assessment::Reject(problems) => (Action::Reject, problems),
        Assessment::Leave(problems) => (Action::Leave, problems),
        Assessment::Running if ownership == Ownership::Owned => (Action::None, Vec::new()),
        Assessment::Running => (Action::Orphan, Vec::new()),
    };
    Lint { action, status: Some(document.status()), problems }
}
