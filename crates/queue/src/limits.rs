//! Every number and prefix of the queue protocol in one place. No logic here.

/// The largest `tasks.json` that is read or written, in bytes (D1, D12).
pub const QUEUE_BYTES: usize = 262_144;
/// Nesting levels that are still read; the document itself is the first (D40).
pub const NESTING_LEVELS: usize = 127;
/// Below this many bytes left for the report a dispatch warns (D12).
pub const TIGHT_ROOM_BYTES: usize = 32 * 1024;
/// `schema_version` of this protocol (D45).
pub const SCHEMA_VERSION: u32 = 3;
/// `task_id` and `parent_task_id`, in Unicode scalar values (D5, D44).
pub const TASK_ID_CHARS: usize = 200;
/// `instruction`, in bytes of UTF-8 (D5).
pub const INSTRUCTION_BYTES: usize = 32_768;
/// An entry of `scope`, in bytes: a longer one names nothing that could ever exist (D7).
pub const PATH_BYTES: usize = 4_095;
/// Entries of `scope` and of `acceptance_criteria`; at least one is needed.
pub const LIST_ITEMS: usize = 32;
/// The text of a rejection and each `result` inside the evidence, in Unicode scalar values (D4, D29).
pub const CUT_CHARS: usize = 4_000;
/// A model's name, in Unicode scalar values (D39).
pub const MODEL_CHARS: usize = 200;
/// Gate entries of a report.
pub const GATE_ENTRIES: usize = 1;
/// Observed runs that are stored with a report (D63).
pub const STORED_RUNS: usize = 64;
/// Entries of one list that are looked at, and problems of one list that are told: a hostile list must not make a
/// reply that no line of the socket can hold.
pub const PROBLEMS_OF_A_LIST: usize = 256;
/// The start of a verdict or reason in the work log, in Unicode scalar values (D67).
pub const LOG_EXCERPT_CHARS: usize = 120;
/// What stands before the reasons of a rejection (D4).
pub const REJECTED_PREFIX: &str = "Rejected PENDING task: ";
/// What stands before the reason of a cancel (D76).
pub const CANCELLED_PREFIX: &str = "Cancelled: ";
/// `updated_by` of a write that belongs to no dispatch (D13).
pub const WRITER: &str = "handoffd";
/// The only accepted `created_by`.
pub const CREATOR: &str = "claude-code";
