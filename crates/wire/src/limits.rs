//! The sizes and times of the protocol. Sizes are bytes unless the name says otherwise; nothing here enforces anything.

use std::time::Duration;

/// The protocol number that `hello` names.
pub const PROTOCOL: u32 = 1;

/// The longest line from a client, without its line end: 1 MiB.
pub const CLIENT_LINE: usize = 1024 * 1024;

/// The longest line from the daemon, without its line end: 4 MiB.
pub const DAEMON_LINE: usize = 4 * 1024 * 1024;

/// A connection without `hello` is closed after this time.
pub const HELLO_WITHIN: Duration = Duration::from_secs(5);

/// At most this many connections are open at once.
pub const CONNECTIONS: usize = 256;

/// A client that lets more than this wait unread is dropped: 8 MiB.
pub const BACKLOG: usize = 8 * 1024 * 1024;

/// A client that reads nothing for this time, while something waits for it, is dropped.
pub const STALLED_AFTER: Duration = Duration::from_secs(5);

/// The longest report; a client refuses a longer one itself: 512 KiB.
pub const REPORT: usize = 512 * 1024;

/// The longest handoff message of `task.dispatch`: 1 MiB.
pub const MESSAGE: usize = 1024 * 1024;

/// The longest `session_id`; the shortest has one byte.
pub const SESSION_ID: usize = 256;

/// The longest `result` of a finished run, in characters.
pub const RUN_RESULT_CHARS: usize = 4_000;

/// The longest `reason` of `task.cancel`, in characters: it becomes part of `error`, and that must always fit.
pub const CANCEL_REASON_CHARS: usize = 2_000;

/// Rows that `history.list` answers when it is not told how many.
pub const HISTORY_DEFAULT: usize = 50;

/// The most rows that `history.list` answers.
pub const HISTORY_MAX: usize = 500;

/// A client that lost its connection tries again after this time, …
pub const RECONNECT_FIRST: Duration = Duration::from_millis(50);

/// … then after twice the time before, but never waits longer than this.
pub const RECONNECT_LONGEST: Duration = Duration::from_secs(5);
