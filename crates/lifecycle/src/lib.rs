//! One project's state machine: events and the time in, effects and the next deadline out.
//!
//! Every rule about who may do what, and when, lives here and only here. The crate is pure: no I/O, no clock, no
//! runtime. The shell (the daemon) feeds [`Project::step`] with [`Event`]s and carries out the [`Effect`]s in order.
//!
//! # Contract
//!
//! - Call [`Project::step`] for every event, and with [`Event::Tick`] when the returned deadline comes. Spurious ticks
//!   are harmless.
//! - At most one [`Effect::Job`] is out at a time; the shell answers each with exactly one [`Event::Done`].
//! - Effects are carried out in order; a reply to a client is written before any later message to the same client.
//! - The machine never believes a job that did not answer: what is on disk is only what a `Done` said.
//!
//! Decisions are cited by number (`D20`); `docs/decisions.md` lists them.

mod advance;
mod block;
mod cause;
mod claim;
mod command;
mod control;
mod done;
mod effect;
mod ending;
mod event;
mod job;
mod jobs;
mod lock;
pub mod members;
mod presence;
mod reply;
mod report;
mod running;
mod runs;
mod seeing;
mod sessions;
mod settings;
mod state;
mod status;
mod stopping;
mod table;
mod time;
mod turn;
mod view;
mod why;

pub use cause::Cause;
pub use command::{elsewhere, show};
pub use done::{
    Acquired, Checked, ClaimResult, Done, Failure, Halted, Holder, Recovered, Seen, SettleResult, SubmitResult,
    WriteResult,
};
pub use effect::{Binding, Effect, Fact, Level, Outgoing, Verdict};
pub use event::{Answer, Attach, BusyWith, Command, Event, Known, LeaveReason, Stopped};
pub use job::{Claim, EndWrite, Job, Keep, Outcome};
pub use reply::{LogResult, Refusal, Reply, SessionReach};
pub use settings::Settings;
pub use state::{Admin, Ended, Project};
pub use status::{Delivery, Reason, ReportState, SessionStatus, Shown, State, Status, TaskStatus};
pub use table::table;
pub use time::{Awake, AwakeClock, Moment, Wall};
pub use view::{Content, Facts, Pending, RawHash, TaskMeta, View};

/// A client's connection, numbered by the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Conn(pub u64);

/// A client's request that is still to be answered, numbered by the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Req(pub u64);

/// A body (report or new task) that the shell keeps while the machine decides about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Body(pub u64);

/// A process: its number and its start, since numbers are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Start: clock ticks since boot (Linux), microseconds since 1970 (macOS).
    pub started: u64,
}
