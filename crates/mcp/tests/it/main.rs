//! Whole servers on streams, with tools that exist for the tests.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod client;
mod endings;
mod eras;
mod hostile;
mod tools;
mod traffic;
