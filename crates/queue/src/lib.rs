//! The `tasks.json` document of handoffd: parsing, byte-preserving edits, validation, fingerprint and report checks.
//!
//! This crate is pure: it never opens a file, reads a clock or spawns. What it needs to know of a file system it asks
//! through [`ProjectPaths`]; what it needs to know of agent profiles it is given as [`Agent`] values.
//!
//! The rules come from the queue protocol (schema version 3) and its numbered decisions, cited as `D1` … `D78`; the
//! project's `docs/decisions.md` lists them.

mod agent;
mod dispatch;
mod paths;
mod problem;
mod run;

pub use agent::{AcceptanceRole, Agent, Thinking};
pub use dispatch::DispatchId;
pub use paths::{Kind, ProjectPaths, Resolution};
pub use problem::{Code, Problem};
pub use run::{Observed, Run, RunState};
