//! The daemon as a library.

pub mod clock;
pub mod config;
pub mod context;
pub mod env;
pub mod files;
pub mod folder_id;
pub mod git;
pub mod instance;
pub mod journal;
pub mod logging;
pub mod message;
pub mod places;
pub mod registry;
pub mod secrets;
