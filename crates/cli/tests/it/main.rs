//! The program `handoff` as its users meet it: the built binary in a world of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod env;
mod init;
mod lint;
mod projects;
mod report;
mod submit;
mod terminal;
mod vectors;
