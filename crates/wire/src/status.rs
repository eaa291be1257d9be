//! The status document: what `daemon.status` answers and `handoff status --json` prints, in all protocol versions.
//!
//! Words that a newer daemon may add are read as `other`; a program that must show them reads the JSON itself.

mod members;

pub use members::*;

use crate::error::Problem;
use crate::object::objects;
use crate::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Status {
    /// The daemon itself.
    pub daemon: DaemonDetail,
    /// Every project it manages, in the order of the registry.
    pub projects: Vec<ProjectStatus>,
}

/// The daemon itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct DaemonDetail {
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// 32 hexadecimal digits, new at each start.
    pub instance: String,
    /// When it started, RFC 3339.
    pub started_at: String,
    /// The socket's path.
    pub socket: String,
    /// The program on disk is newer than the one that runs.
    pub outdated: bool,
    /// Its configuration.
    pub config: ConfigStatus,
    /// Its watcher.
    pub watch: DaemonWatch,
    /// One sentence for each thing that somebody should look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The configuration in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ConfigStatus {
    /// The file, if there is one.
    pub path: Option<String>,
    /// When it was read, RFC 3339.
    pub loaded_at: Option<String>,
    /// Why a newer one was refused.
    pub error: Option<String>,
}

/// How changes are noticed, over all projects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct DaemonWatch {
    /// How.
    pub mode: WatchMode,
    /// Why not by events.
    pub reason: Option<String>,
    /// How often events were lost and everything was read again.
    pub overflows: u64,
}

words! {
    /// How changes are noticed.
    pub open WatchMode {
        /// By events, and by the sweep.
        Events = "events",
        /// By the sweep alone (D73).
        Poll = "poll",
    } else
    /// A word of a newer daemon; never sent.
    Other = "other"
}

/// One project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ProjectStatus {
    /// Its root.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: ProjectState,
    /// The stable word behind the state, for states that have one.
    pub reason: Option<StateReason>,
    /// Since when, RFC 3339.
    pub since: String,
    /// One sentence.
    pub why: Option<String>,
    /// The one command that helps.
    pub next: Option<String>,
    /// What is in its file.
    pub queue: QueueStatus,
    /// The task that is RUNNING.
    pub task: Option<RunningTask>,
    /// Its lock, if there is one.
    pub lock: Option<LockStatus>,
    /// The session that has the owner's place.
    pub session: Option<SessionStatus>,
    /// Sessions next in line.
    pub standby: u32,
    /// Team members whose session is attached here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberStatus>,
    /// How its changes are noticed.
    pub watch: ProjectWatch,
    /// One sentence for each thing that somebody should look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

words! {
    /// What a project is doing. The first that fits wins: disabled, missing, starting, stuck, blocked, leaving,
    /// cancelling, halted, unreadable, running, paused, held, waiting, idle.
    pub open ProjectState {
        /// Nothing to do.
        Idle = "idle",
        /// A task is there and something is missing; `reason` says what.
        Waiting = "waiting",
        /// A task is RUNNING.
        Running = "running",
        /// A task is being cancelled (D76).
        Cancelling = "cancelling",
        /// Somebody else has the lock, or something cannot be written.
        Blocked = "blocked",
        /// The file cannot be read (D1).
        Unreadable = "unreadable",
        /// The file changed during a task (D11).
        Halted = "halted",
        /// Not dispatched without a person's word (D65).
        Held = "held",
        /// A person paused it.
        Paused = "paused",
        /// A person disabled it.
        Disabled = "disabled",
        /// Not configured any more; its task is being brought to its end (D71).
        Leaving = "leaving",
        /// Its folder is gone.
        Missing = "missing",
        /// Not looked at yet.
        Starting = "starting",
        /// Its file system does not answer (D73).
        Stuck = "stuck",
    } else
    /// A word of a newer daemon; never sent.
    Other = "other"
}

words! {
    /// The stable word behind a state.
    pub open StateReason {
        /// blocked: a live owner has the lock.
        LockLive = "lock_live",
        /// blocked: whether the lock's owner lives cannot be told.
        LockUnknown = "lock_unknown",
        /// blocked: the lock is malformed.
        LockMalformed = "lock_malformed",
        /// blocked: the file's owner could not be kept (D3).
        ForeignOwner = "foreign_owner",
        /// blocked: a write failed (D70).
        CannotWrite = "cannot_write",
        /// blocked: the folder is not the one that was opened (D18).
        Moved = "moved",
        /// blocked: the lock is not ours any more (D18).
        LockLost = "lock_lost",
        /// blocked: neither RUNNING nor ERROR fits (D12).
        QueueFull = "queue_full",
        /// blocked: the task could not be logged (D30).
        WorkLog = "work_log",
        /// blocked: a context file breaks a rule (D68).
        ContextFile = "context_file",
        /// unreadable (D1)
        NotRegularFile = "not_regular_file",
        /// unreadable (D1)
        TooLarge = "too_large",
        /// unreadable (D1)
        NotUtf8 = "not_utf8",
        /// unreadable (D1)
        InvalidJson = "invalid_json",
        /// unreadable (D1)
        NotAnObject = "not_an_object",
        /// unreadable (D1)
        DuplicateKey = "duplicate_key",
        /// unreadable: `status` is no known word (D1)
        UnknownValue = "unknown_value",
        /// unreadable: there is no `status` (D1)
        MissingField = "missing_field",
        /// unreadable: `status` is no string (D1)
        WrongType = "wrong_type",
        /// unreadable: RUNNING of another schema version, which is left alone (D6)
        UnsupportedSchemaVersion = "unsupported_schema_version",
        /// unreadable: the system does not let us read it
        Unreadable = "unreadable",
        /// halted: another document took the task's place.
        Replaced = "replaced",
        /// halted: a planner's write was kept aside (D64).
        LostWrite = "lost_write",
        /// held: the same task for the third time (D65).
        Repeating = "repeating",
        /// held: git tracks the file (D65).
        TrackedByGit = "tracked_by_git",
        /// waiting: no session is attached.
        NoSession = "no_session",
        /// waiting: the session is busy.
        Busy = "busy",
        /// waiting: the session's process is stopped (D24).
        Stopped = "stopped",
        /// waiting: runs of an ended task are still alive (D66).
        RunsAlive = "runs_alive",
        /// waiting: the session refused; it is sent again at idle (D69).
        NotAccepted = "not_accepted",
        /// waiting: the daemon has just started.
        Starting = "starting",
    } else
    /// A word of a newer daemon; never sent.
    Other = "other"
}

/// What is in the project's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct QueueStatus {
    /// Its status; `null` when there is no file or it cannot be read.
    pub status: Option<TaskStatus>,
    /// The planner's id.
    pub task_id: Option<String>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

words! {
    /// The field `status` of `tasks.json`.
    pub closed TaskStatus {
        /// Nothing to do.
        Idle = "IDLE",
        /// The planner wants it done.
        Pending = "PENDING",
        /// It is being done.
        Running = "RUNNING",
        /// Done, with evidence.
        Complete = "COMPLETE",
        /// Ended in any other way.
        Error = "ERROR",
    }
}

/// The task that is RUNNING.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct RunningTask {
    /// 32 hexadecimal digits.
    pub dispatch_id: String,
    /// The planner's id.
    pub task_id: String,
    /// When it became RUNNING, RFC 3339.
    pub started_at: String,
    /// How far its message got.
    pub delivery: DeliveryState,
    /// Whether its report is due.
    pub report: ReportState,
    /// The runs that were observed, counted.
    pub runs: RunCounts,
    /// Until when something is waited for, RFC 3339; `why` says for what.
    pub until: Option<String>,
}

words! {
    /// How far a task's message got.
    pub open DeliveryState {
        /// Sent, no answer yet.
        Sent = "sent",
        /// In the conversation.
        Accepted = "accepted",
        /// Not taken; sent again at idle (D69).
        Refused = "refused",
    } else
    /// A word of a newer daemon; never sent.
    Other = "other"
}

words! {
    /// Whether a task's report is due.
    pub open ReportState {
        /// Not yet.
        None = "none",
        /// The turn ended without it (D25).
        Owed = "owed",
        /// The last one failed its checks.
        Refused = "refused",
    } else
    /// A word of a newer daemon; never sent.
    Other = "other"
}

/// Observed runs by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct RunCounts {
    /// Live.
    pub running: u32,
    /// Finished well.
    pub complete: u32,
    /// Finished badly.
    pub failed: u32,
}

/// Who has the project's lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct LockStatus {
    /// This daemon or somebody else.
    pub owner: LockOwner,
    /// The rule of D16 that decided about somebody else's lock, 1 to 8.
    pub rule: Option<u8>,
    /// The owner's process.
    pub pid: Option<u32>,
    /// Its command.
    pub command: Option<String>,
    /// Its user.
    pub user: Option<String>,
    /// Its host.
    pub host: Option<String>,
    /// Since when it has the lock, RFC 3339.
    pub since: Option<String>,
}

words! {
    /// Whose lock it is.
    pub open LockOwner {
        /// This daemon's.
        Us = "us",
        /// Another process's.
        Other = "other",
    } else
    /// A word of a newer daemon; never sent.
    Unknown = "unknown"
}

/// The session that has the owner's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct SessionStatus {
    /// The session's own id.
    pub session_id: String,
    /// Its process, as the socket's peer.
    pub pid: u32,
    /// The program and its version.
    pub host: String,
    /// Whether it could take a task now.
    pub idle: bool,
    /// Its last sign of life, RFC 3339.
    pub last_seen: String,
}

/// How a project's changes are noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ProjectWatch {
    /// How.
    pub mode: WatchMode,
    /// Why not by events.
    pub reason: Option<String>,
}

objects!(
    Status,
    DaemonDetail,
    ConfigStatus,
    DaemonWatch,
    ProjectStatus,
    QueueStatus,
    RunningTask,
    RunCounts,
    LockStatus,
    SessionStatus,
    ProjectWatch,
);
