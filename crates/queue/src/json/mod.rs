//! Just enough JSON to keep every byte: a validating scanner, views of raw values, and three ways to write.
//!
//! Trees of values are deliberately absent: numbers must keep their digits and members their order and spelling, so the
//! rest of the crate works on slices of the text that was read.

mod canonical;
mod raw;
mod scan;
mod write;

pub(crate) use canonical::canonical;
pub(crate) use raw::{Member, Raw, Type};
pub(crate) use scan::{Scanner, SyntaxError};
pub(crate) use write::{compact, pretty, quote, spaced};
