//! Laws: what is written comes back, nothing panics on any bytes, rules are told in their order.

use packet::{PacketError, TaskPacket, door};
use proptest::prelude::*;
use serde_json::Value;

use crate::strategy::packets;
use crate::vectors::rows;

proptest! {
    #[test]
    fn what_is_written_comes_back_by_both_ways_in(packet in packets()) {
        prop_assert_eq!(packet.validate(), Ok(()));
        let written = packet.normalized();
        prop_assert_eq!(packet.written_len(), written.len());
        let read = TaskPacket::from_text(written.as_bytes()).unwrap();
        prop_assert_eq!(&read, &packet);
        prop_assert_eq!(&read.normalized(), &written, "the written form is a fixed point");
        let through_the_door = door::open(Value::String(written)).and_then(door::admit);
        prop_assert_eq!(through_the_door, Ok(packet));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        door::check(&bytes).ok();
        if let Ok(text) = String::from_utf8(bytes) {
            door::open(Value::String(text)).and_then(door::admit).ok();
        }
    }

    /// Two faults, in any places: the one whose rule stands first is told, whatever the order in the text.
    #[test]
    fn the_first_broken_rule_is_told(packet in packets(), one in 0..FAULTS.len(), other in 0..FAULTS.len()) {
        let mut packet = packet;
        FAULTS[one].1(&mut packet);
        FAULTS[other].1(&mut packet);
        let first = FAULTS[one.min(other)].0;
        let told = packet.validate().unwrap_err();
        prop_assert!(told.to_string().contains(first), "{told}, expected {first}");
    }

    /// Cutting a row anywhere, or changing a byte of it, gives a packet or a refusal; and what is taken is valid.
    #[test]
    fn damaged_rows_are_judged(row in 0_usize..515, cut in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        let rows = rows();
        let mut bytes = rows[row].as_object().unwrap()["input"].as_str().unwrap().as_bytes().to_vec();
        if bytes.is_empty() {
            return Ok(());
        }
        let cut = cut.index(bytes.len());
        bytes[cut] = byte;
        for bytes in [&bytes[..], &bytes[..cut]] {
            if let Ok(packet) = door::check(bytes) {
                prop_assert_eq!(packet.validate(), Ok(()));
            }
        }
    }
}

type Fault = (&'static str, fn(&mut TaskPacket));

/// A fault for each rule, in the order of the rules, with what its message holds.
const FAULTS: &[Fault] = &[
    ("`packet_id` must not be blank", |packet| packet.packet_id = "\u{3000}".to_owned()),
    ("`goal_id` must not be blank", |packet| packet.goal_id = String::new()),
    ("from_role and to_role are both", |packet| packet.to_role = packet.from_role),
    ("`objective` is 1001 chars (max 1000)", |packet| packet.objective = "約".repeat(1001)),
    ("`constraints` has ", |packet| packet.constraints.resize(13 + packet.constraints.len(), constraint("x"))),
    ("`audience` has ", |packet| packet.audience.resize(17 + packet.audience.len(), "x".to_owned())),
    ("`evidence_index` has ", |packet| packet.evidence_index.resize(33 + packet.evidence_index.len(), String::new())),
    ("packet is ", |packet| packet.next_steps.push("x".repeat(packet::TASK_PACKET_MAX_BYTES))),
];

fn constraint(id: &str) -> packet::Constraint {
    packet::Constraint { id: id.to_owned(), text: "x".to_owned() }
}

/// What no tree holds can stand in a value that a program makes: it is left out, so that the text can be read.
#[test]
fn a_cost_that_is_no_number_is_not_written() {
    let mut packet = TaskPacket::from_text(packet::MINIMAL_PACKET_EXAMPLE.as_bytes()).unwrap();
    let written = packet.normalized();
    for cost in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        packet.budget.max_cost_usd = Some(cost);
        assert_eq!(packet.normalized(), written);
    }
    packet.budget.max_turns = Some(3);
    assert!(packet.normalized().contains(r#""budget":{"max_turns":3}"#));
}

/// Without the correctly rounding parser of numbers, this one comes back as its neighbour.
#[test]
fn a_cost_comes_back_to_the_last_bit() {
    for cost in ["122.416294033786585", "9.007199254740993e15", "1.7976931348623157e308", "5e-324"] {
        let text = packet::MINIMAL_PACKET_EXAMPLE
            .replace("\"round\"", &format!("\"budget\":{{\"max_cost_usd\":{cost}}},\"round\""));
        let packet = TaskPacket::from_text(text.as_bytes()).unwrap();
        let exact: f64 = cost.parse().unwrap();
        assert_eq!(packet.budget.max_cost_usd.map(f64::to_bits), Some(exact.to_bits()), "{cost}");
    }
}

#[test]
fn every_code_can_be_told() {
    let mut told: Vec<&str> = rows().iter().filter_map(|row| code(row["input"].as_str()?)).collect();
    told.sort_unstable();
    told.dedup();
    let mut codes = PacketError::CODES.to_vec();
    codes.sort_unstable();
    assert_eq!(told, codes);
}

fn code(text: &str) -> Option<&'static str> {
    TaskPacket::from_text(text.as_bytes()).ok()?.validate().err().map(|error| error.code())
}
