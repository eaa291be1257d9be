//! The tests of the protocol as its users see it: bytes and lines in, messages out.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests read `UPDATE` themselves and write snapshots of their own repository"
)]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail like tests")]

mod client;
mod docs;
mod envelope;
mod framing;
mod journal;
mod messages;
mod reader;
mod schemas;
mod snapshot;
mod strictness;
