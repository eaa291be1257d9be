//! The `tasks.json` document of handoffd: parsing, byte-preserving edits, validation, fingerprint and report checks.
//!
//! This crate is pure: it never opens a file, reads a clock or spawns. What it needs to know of a file system it asks
//! through [`ProjectPaths`]; what it needs to know of agent profiles it is given as [`Agent`] values.
//!
//! The rules come from the queue protocol (schema version 3) and its numbered decisions, cited as `D1` … `D78`; the
//! project's `docs/decisions.md` lists them.
//!
//! The way of a document: [`Document::parse`] → [`assess`] → [`start`] → [`check_report`] → [`finish_from_report`].

mod agent;
mod assess;
mod dispatch;
mod document;
mod edit;
mod field;
mod fingerprint;
mod json;
pub mod limits;
mod log_line;
mod observed;
mod paths;
mod planner;
mod problem;
mod report;
mod run;
mod shell;
mod submit;
mod text;
mod transition;
mod validate;
mod words;

pub use agent::{AcceptanceRole, Agent, AgentLookup, Thinking, find_agent};
pub use assess::{Action, Assessment, Lint, Ownership, Reading, Room, assess, lint};
pub use dispatch::DispatchId;
pub use document::Document;
pub use edit::QueueFull;
pub use field::{Field, Owner};
pub use fingerprint::Fingerprint;
pub use log_line::{LogEntry, LogGate, dispatch_id_of_line, log_line};
pub use paths::{Kind, ProjectPaths, Resolution};
pub use planner::Planner;
pub use problem::{Code, Problem};
pub use report::{Accepted, AsyncStatus, GateEvidence, ReportContext, ReportStatus, WorkerEvidence, check_report};
pub use run::{Observed, Run, RunState};
pub use shell::quoted;
pub use submit::{Submission, SubmitError, idle_document, submit};
pub use transition::{
    Finished, cancel_pending, cancellation_text, demote, finish_by_us, finish_from_report, format_time, reject,
    reject_with, rejection_text, start,
};
pub use validate::{planner, planner_unresolved, validate};
pub use words::{Gate, RequiredRole, Status, TaskType};
