//! The packet from outside: every row of the shared vectors, laws, the schema, the prompt text.

#![expect(clippy::unwrap_used, reason = "in tests a panic is the report")]

mod document;
mod json_schema;
mod properties;
mod reader;
mod rendering;
mod schema;
mod strategy;
mod strictness;
mod vectors;
