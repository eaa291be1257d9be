//! The crate as its users see it: real files below a home of its own for each test.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay files out as any other program would, and a panic is the report"
)]

mod compose;
mod delivered;
mod door;
mod faults;
mod members;
mod processes;
mod support;
mod vectors;
