//! `docs/packet.md` tells the limits, members and codes that the code has.

use packet::{AssertionKind, Fidelity, PacketError, Role};

fn document() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/packet.md")).unwrap()
}

#[track_caller]
fn check_row(start: &str, parts: &[String]) {
    let document = document();
    let row = document.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no row {start}"));
    let missing: Vec<_> = parts.iter().filter(|part| !row.contains(part.as_str())).collect();
    assert!(missing.is_empty(), "{row} lacks {missing:?}");
}

#[test]
fn the_limits_are_those_of_the_code() {
    let at_most = |max: usize| format!("≤ {max}");
    check_row("| `objective` ", &[at_most(packet::OBJECTIVE_MAX_CHARS)]);
    let limits = [packet::CONSTRAINTS_MAX, packet::CONSTRAINT_ID_MAX_CHARS, packet::CONSTRAINT_TEXT_MAX_CHARS];
    check_row("| `constraints` ", &limits.map(at_most));
    check_row("| `audience` ", &[packet::AUDIENCE_MAX, packet::AUDIENCE_ID_MAX_CHARS].map(at_most));
    check_row("| `acceptance` ", &[packet::ASSERTION_LIST_MAX, packet::ASSERTION_TOKEN_MAX_CHARS].map(at_most));
    check_row("| `evidence_index` ", &[at_most(packet::EVIDENCE_INDEX_MAX)]);
    assert!(document().contains(&format!("**{} bytes in its written form**", packet::TASK_PACKET_MAX_BYTES)));
    assert!(document().contains(&format!("```json\n{}\n```", packet::MINIMAL_PACKET_EXAMPLE)));
}

#[test]
fn every_word_is_told() {
    let document = document();
    let keys = packet::REQUIRED_KEYS.into_iter().chain(packet::OPTIONAL_KEYS).chain(packet::FORBIDDEN_PROVIDER_FIELDS);
    let words = Role::WORDS.iter().chain(Fidelity::WORDS).chain(AssertionKind::WORDS).copied();
    let missing: Vec<_> = keys.chain(words).filter(|word| !document.contains(&format!("`{word}`"))).collect();
    assert!(missing.is_empty(), "docs/packet.md lacks {missing:?}");
    for code in PacketError::CODES {
        check_row(&format!("| `{code}` "), &[]);
    }
}
