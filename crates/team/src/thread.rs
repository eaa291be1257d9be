//! Which packet answers which: the `parent_packet` chains of a goal as trees, one line a packet. Pure; the packets are
//! given.

use std::collections::HashMap;

use crate::compose::Found;

/// A packet in its tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// How many packets lead to it: 0 for a root.
    pub depth: usize,
    /// The packet.
    pub found: Found,
    /// Whether it names a packet to answer that is not there, or that answers it in turn.
    pub loose: bool,
}

/// The trees, each packet once and right behind it its answers, in the order that they were given in.
///
/// A packet that answers none, or one that is not there, is a root; so is the first of a circle.
#[must_use]
pub fn lines(packets: Vec<Found>) -> Vec<Line> {
    let parents = parents(&packets);
    let mut answers: Vec<Vec<usize>> = vec![Vec::new(); packets.len()];
    for (at, parent) in parents.iter().enumerate() {
        if let Some(answered) = parent.and_then(|parent| answers.get_mut(parent)) {
            answered.push(at);
        }
    }
    let mut left: Vec<Option<Found>> = packets.into_iter().map(Some).collect();
    let mut lines = Vec::with_capacity(left.len());
    // Roots first; what is left then are circles, each opened at its first packet.
    let roots = (0..parents.len()).filter(|at| parents[*at].is_none());
    for start in roots.chain(0..parents.len()) {
        let mut next = vec![(start, 0)];
        while let Some((at, depth)) = next.pop() {
            let Some(found) = left[at].take() else { continue };
            let loose = depth == 0 && found.packet.parent_packet.is_some();
            lines.push(Line { depth, found, loose });
            next.extend(answers[at].iter().rev().map(|answer| (*answer, depth + 1)));
        }
    }
    lines
}

/// For each packet the one that it answers: the last before it with that id, else the first after it.
fn parents(packets: &[Found]) -> Vec<Option<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, found) in packets.iter().enumerate() {
        places.entry(&found.packet.packet_id).or_default().push(at);
    }
    let parent = |(at, found): (usize, &Found)| {
        let places = places.get(found.packet.parent_packet.as_deref()?)?;
        let before = places.partition_point(|place| *place < at);
        let after = || places[before..].iter().find(|place| **place != at);
        places[..before].last().or_else(after).copied()
    };
    packets.iter().enumerate().map(parent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::TaskPacket;

    fn found(id: &str, parent: Option<&str>) -> Found {
        let mut packet = TaskPacket::from_text(packet::MINIMAL_PACKET_EXAMPLE.as_bytes()).unwrap();
        packet.packet_id = id.to_owned();
        packet.parent_packet = parent.map(str::to_owned);
        Found { slot: 0, path: String::new(), packet }
    }

    #[track_caller]
    fn check(packets: &[(&str, Option<&str>)], expected: &[&str]) {
        let packets = packets.iter().map(|(id, parent)| found(id, *parent)).collect();
        let shown = |line: Line| {
            let mark = if line.loose { "?" } else { "" };
            format!("{}{}{mark}", " ".repeat(line.depth), line.found.packet.packet_id)
        };
        assert_eq!(lines(packets).into_iter().map(shown).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn answers_stand_below_what_they_answer() {
        check(&[("a", None), ("b", Some("a")), ("c", Some("a")), ("d", Some("b"))], &["a", " b", "  d", " c"]);
    }

    #[test]
    fn unknown_parents_circles_and_self_answers_lose_no_packet() {
        check(&[("a", Some("x"))], &["a?"]);
        check(&[("a", Some("a"))], &["a?"]);
        check(&[("a", Some("b")), ("b", Some("a")), ("c", Some("b"))], &["a?", " b", "  c"]);
        check(&[("a", None), ("a", Some("a"))], &["a", " a"]);
    }

    #[test]
    fn a_very_long_chain_needs_no_stack() {
        let packets =
            (0..20_000).map(|n: u32| found(&n.to_string(), n.checked_sub(1).map(|p| p.to_string()).as_deref()));
        let lines = lines(packets.collect());
        assert_eq!(lines.last().map(|line| line.depth), Some(19_999));
    }
}
