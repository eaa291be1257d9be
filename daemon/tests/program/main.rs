//! The program `handoffd` as the service manager and a person at a terminal see it: exit codes, signals, notifications.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod exit_codes;
mod service;
mod turned_away;
mod world;
