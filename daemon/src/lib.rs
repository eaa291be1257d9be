//! The daemon as a library: [`run`] is all of it, called by the program, by tests and by `handoff demo`.
//!
//! `actor` holds one task for each project around the state machine of the crate `lifecycle`; `jobs` does its file work;
//! `server` speaks the socket protocol; `manager` decides which projects there are; `watch` and `processes` notice
//! changes. No rule about who may do what lives here.

pub mod actor;
pub mod agents;
mod causes;
pub mod clock;
pub mod config;
pub mod context;
pub mod convert;
pub mod env;
pub mod events;
pub mod files;
pub mod folder_id;
pub mod git;
pub mod history;
pub mod hub;
pub mod instance;
pub mod jobs;
pub mod journal;
pub mod keeping;
pub mod logging;
pub mod manager;
pub mod members;
pub mod message;
pub mod notify;
pub mod peer;
pub mod places;
pub mod pool;
pub mod processes;
pub mod program;
pub mod program_file;
pub mod projects;
pub mod registry;
pub mod roots;
pub mod run;
pub mod server;
pub mod supervision;
pub mod watch;

pub use run::{Ended, RunError, Startup, run};
