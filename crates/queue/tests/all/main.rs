//! Tests of the crate from outside. One binary, one module a subject.

#![expect(clippy::unwrap_used, reason = "in tests a panic is the report")]

mod fixture;
mod queue_vectors;
mod report_vectors;
