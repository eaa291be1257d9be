//! `packet_parse`: any bytes as the text of a packet, through both ways in.

use packet::{PacketError, ReadError, Refusal, TASK_PACKET_MAX_BYTES, TaskPacket, door};
use serde_json::Value;

/// What is taken is valid, written as a fixed point within the cap, and the same by both ways in. What is refused has a
/// known code.
pub fn check(bytes: &[u8]) {
    let by_text = door::check(bytes);
    judged(&by_text);
    let Ok(text) = String::from_utf8(bytes.to_vec()) else {
        assert!(by_text.is_err(), "a packet that is no text");
        return;
    };
    let by_tree = door::open(Value::String(text.clone())).and_then(door::admit);
    judged(&by_tree);
    if !matches!(by_text, Err(Refusal::Shape(_))) {
        assert_eq!(by_text, by_tree);
    }
    // A tree has folded repeated keys; written out again, it is a text without any, which both judge alike.
    if let Ok(tree) = serde_json::from_str::<Value>(&text) {
        match (door::check(tree.to_string().as_bytes()), by_tree) {
            (Err(Refusal::Shape(_)), Err(Refusal::Shape(_) | Refusal::ForbiddenKey { .. })) => {}
            (folded, by_tree) => assert_eq!(folded, by_tree),
        }
    }
}

fn judged(outcome: &Result<TaskPacket, Refusal>) {
    match outcome {
        Ok(packet) => written_form(packet),
        Err(refusal) => refused(refusal),
    }
}

fn written_form(packet: &TaskPacket) {
    assert_eq!(packet.validate(), Ok(()));
    let written = packet.normalized();
    assert_eq!(packet.written_len(), written.len());
    assert!(written.len() <= TASK_PACKET_MAX_BYTES && !written.contains('\n'), "{written}");
    let again = TaskPacket::from_text(written.as_bytes());
    assert_eq!(again.as_ref(), Ok(packet));
    assert_eq!(again.map(|packet| packet.normalized()), Ok(written));
}

fn refused(refusal: &Refusal) {
    let code = refusal.code();
    let known = code == ReadError::CODE || code == "forbidden_provider_field" || PacketError::CODES.contains(&code);
    assert!(known, "{code} is no code");
    assert!(refusal.teaching().starts_with(&refusal.to_string()));
}
