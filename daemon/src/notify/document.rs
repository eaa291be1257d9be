//! The JSON document that the command reads on its standard input: one object, one line, version 1.
//!
//! A published format: members may be added, none may change its meaning.

use serde::Serialize;
use wire::daemon_calls::NoticeLevel;

use super::queue::Order;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    /// RFC 3339, UTC.
    at: &'a str,
    project: &'a str,
    name: &'a str,
    kind: &'a str,
    level: NoticeLevel,
    text: &'a str,
    task_id: Option<&'a str>,
    /// How many more of the same came meanwhile.
    repeated: u64,
}

/// The line, with its end.
pub(super) fn line(order: &Order) -> Vec<u8> {
    let notice = &order.notice;
    let document = Document {
        version: 1,
        at: &order.at,
        project: &notice.project,
        name: &notice.name,
        kind: notice.kind,
        level: notice.level,
        text: &notice.text,
        task_id: notice.task_id.as_deref(),
        repeated: order.repeated,
    };
    // Strings and numbers always serialize.
    let mut line = serde_json::to_vec(&document).unwrap_or_default();
    line.push(b'\n');
    line
}
