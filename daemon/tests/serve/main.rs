//! The whole daemon in this process, spoken to by raw lines: what a client can do to it and what it answers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod client;
mod hostile;
mod opening;
mod projects;
mod reload;
mod sessions;
mod socket;
mod world;
