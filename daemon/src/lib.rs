//! The daemon as a library.

pub mod context;
pub mod git;
pub mod message;
