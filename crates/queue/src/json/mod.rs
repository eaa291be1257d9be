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

/// Where a text begins after a byte-order mark (D1).
pub(crate) fn start(text: &str) -> usize {
    const BYTE_ORDER_MARK: char = '\u{feff}';
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
}
