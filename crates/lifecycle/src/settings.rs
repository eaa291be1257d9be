//! The limits of time of one project, in milliseconds (D20–D25, D69, D70). Configuration fills the configurable ones.

/// Settings that the rules depend on. Those of the moment of dispatch hold until the task has ended (D71).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// `task.accept_timeout` (D24): from the dispatch to the session's acceptance.
    pub accept_timeout: u64,
    /// `task.reconnect_grace` (D21): how long a lost session of a live process is awaited.
    pub reconnect_grace: u64,
    /// `task.async_grace` (D21): how long a task with observed background runs waits for its session.
    pub async_grace: u64,
    /// `task.silence_timeout` (D24): without a sign of life; `None` is off.
    pub silence_timeout: Option<u64>,
    /// `task.max_runtime` (D24): from RUNNING to the end; `None` is off.
    pub max_runtime: Option<u64>,
}

impl Settings {
    /// The documented defaults.
    pub const DEFAULT: Self = Self {
        accept_timeout: 120_000,
        reconnect_grace: 30_000,
        async_grace: 24 * 3_600_000,
        silence_timeout: None,
        max_runtime: None,
    };
}

/// How long the owner's place is kept for its process after a disconnect (D20).
pub(crate) const PLACE_KEPT: u64 = 10_000;
/// An unreadable document is reported after it stayed the same this long (D2).
pub(crate) const UNREADABLE_GRACE: u64 = 1_000;
/// A lock that blocks us is looked at again after this long (D16).
pub(crate) const LOCK_RETRY: u64 = 1_000;
/// A dispatch is sent at most this often (D69) …
pub(crate) const MAX_SENDS: u8 = 10;
/// … within this time (D69).
pub(crate) const SEND_WINDOW: u64 = 600_000;
/// After a refusal that does not say "busy" a session that still says idle is asked again after this long.
pub(crate) const RESEND_IDLE: u64 = 30_000;
/// A process that a claim found stopped is looked at again after this long (D24).
pub(crate) const LOOK_AGAIN: u64 = 1_000;
/// The session's time to answer `task.cancel` (D76).
pub(crate) const CANCEL_WAIT: u64 = 10_000;
/// How long the session must have been idle after the last background run before it is reminded (D25).
pub(crate) const QUIET_BEFORE_REMIND: u64 = 15_000;
/// The third dispatch of one task within this time is held (D65), in wall-clock milliseconds.
pub(crate) const REPEAT_WINDOW: i64 = 600_000;
/// Failed writes are tried again after 1, 2, 4 … 60 s (D70).
pub(crate) const RETRY_FIRST: u64 = 1_000;
/// The longest pause between two tries (D70).
pub(crate) const RETRY_MAX: u64 = 60_000;
