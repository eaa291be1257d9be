//! File work that the machine asks for: one job of a project at a time, each answered by one [`crate::Done`].

use queue::{DispatchId, Run};

use crate::effect::Binding;
use crate::time::Wall;
use crate::view::RawHash;
use crate::{Body, Process};

/// File work. The shell does it away from the loop, one job of a project at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Job {
    /// Open the folder if needed and take the lock (D14–D19); sweep temporaries (D64). The binding of a dead owner of
    /// this boot is carried over into the new lock, so that another crash does not lose it.
    Acquire,
    /// Check that folder and lock are still ours, and read `tasks.json`.
    Read,
    /// Write the binding into the lock (D14, D20).
    Bind(Option<Binding>),
    /// Let go of the lock.
    Release(Keep),
    /// Explain a foreign lock, or move it aside.
    Unlock {
        /// Really move it.
        confirm: bool,
    },
    /// Check log and context, render the message, write RUNNING durably (D13).
    Claim(Claim),
    /// Look at the displaced file once more and remove it (D64).
    Settle,
    /// Write ERROR over PENDING.
    Reject {
        /// Only over these bytes.
        hash: RawHash,
        /// The error text.
        text: String,
    },
    /// Check a report against the file, the profiles and the observed runs.
    CheckReport {
        /// The report.
        body: Body,
        /// The file as last seen.
        hash: RawHash,
        /// What was observed.
        runs: Vec<Run>,
    },
    /// Open and check the work log, reserve room (D67).
    OpenLog,
    /// Write the end of the task over RUNNING, or ERROR over a COMPLETE whose log line failed. The finished line goes to
    /// the journal first (D67). A failure means that the old bytes stand.
    WriteEnd(Box<EndWrite>),
    /// Append the line that belongs to the end just written; without a dispatch id if the task never had one of ours.
    AppendLog,
    /// Append the journal's lines that the log lacks (D67).
    ReplayLog {
        /// The dispatch that the file still says RUNNING for.
        running: Option<DispatchId>,
    },
    /// Write a new PENDING (D64).
    Submit {
        /// The new task.
        body: Body,
        /// Only over these bytes; `None`: only if there is no file.
        hash: Option<RawHash>,
    },
}

/// What becomes of the lock file when it is let go (D19).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// It is removed.
    Remove,
    /// It stays, since it carries the binding of a RUNNING task.
    File,
}

/// Writing RUNNING.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The new dispatch.
    pub dispatch: DispatchId,
    /// Only over these bytes.
    pub hash: RawHash,
    /// `started_at`.
    pub started: Wall,
    /// The session it is for; its process must not be stopped.
    pub process: Process,
}

/// Writing the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndWrite {
    /// Only over these bytes.
    pub hash: RawHash,
    /// The dispatch, when the task was one of ours.
    pub dispatch: Option<DispatchId>,
    /// What to write.
    pub outcome: Outcome,
    /// `completed_at`.
    pub completed: Wall,
    /// What was observed, for the evidence.
    pub runs: Vec<Run>,
}

/// How a task ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// By an accepted report.
    Report {
        /// The report.
        body: Body,
        /// COMPLETE or ERROR.
        complete: bool,
        /// The work log failed: it is ERROR all the same, with this reason.
        demoted: Option<String>,
    },
    /// By us: ERROR with this text.
    Ours(String),
    /// COMPLETE stands in the file and the work log cannot take its line: ERROR with this text, all else stays (D67).
    Demote(String),
}
