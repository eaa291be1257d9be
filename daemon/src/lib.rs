//! The daemon as a library.

pub mod actor;
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
pub mod logging;
pub mod message;
pub mod notify;
pub mod peer;
pub mod places;
pub mod pool;
pub mod processes;
pub mod registry;
pub mod secrets;
pub mod watch;
