//! The JSON document that the command reads on its standard input: one object, one line, version 1.
//!
//! A published format: members may be added, none may change its meaning.

use serde::Serialize;

use super::Notice;
use super::queue::Order;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    /// RFC 3339, UTC.
    at: &'a str,
    #[serde(flatten)]
    notice: &'a Notice,
    /// How many more of the same came meanwhile; absent when none did.
    #[serde(skip_serializing_if = "is_none")]
    repeated: u64,
    /// How many more of this kind came at the same time, of other tasks or projects; absent when none did.
    #[serde(skip_serializing_if = "is_none")]
    others: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// The line, with its end.
pub(super) fn line(order: &Order) -> Vec<u8> {
    let Order { at, notice, repeated, others, .. } = order;
    let document = Document { version: 1, at, notice, repeated: *repeated, others: *others };
    // Strings and numbers always serialize.
    let mut line = serde_json::to_vec(&document).unwrap_or_default();
    line.push(b'\n');
    line
}
