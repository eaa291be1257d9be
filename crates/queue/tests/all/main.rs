//! Tests of the crate from outside. One binary, one module a subject.

#![expect(clippy::unwrap_used, reason = "in tests a panic is the report")]

mod checks;
mod fixture;
mod log_lines;
mod properties;
mod queue_vectors;
mod report_vectors;
mod reports;
mod spelled;
mod transitions;
