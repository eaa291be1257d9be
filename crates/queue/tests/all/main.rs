//! Tests of the crate from outside. One binary, one module a subject.

#![expect(clippy::disallowed_methods, reason = "tests read the vectors")]

mod fixture;
mod queue_vectors;
mod report_vectors;
