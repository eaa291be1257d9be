//! Reading and checking one TaskPacket of the full 16 KiB, beside the floor: the same bytes into a tree of JSON values.
//!
//! The only measurement that calls a library: a packet is read in a process that does much else, and what it costs cannot
//! be seen from outside.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use packet::{
    Assertion, AssertionKind, Constraint, Finding, OutputFormat, Role, TASK_PACKET_MAX_BYTES, TaskPacket, door,
};
use serde_json::Value;

use crate::stats::Sample;
use crate::table::Table;

/// Runs of each, in turn. The median of so many is steady within a few hundredths.
const RUNS: usize = 4000;
/// The target, in microseconds.
const LIMIT: f64 = 50.0;
/// What a tree of values costs, times this.
const RATIO: f64 = 1.0;

/// Measures both shapes of a full packet.
pub(crate) fn measure(table: &mut Table) -> Result<()> {
    let (packet, floor) = run(&full()?)?;
    table.judge("packet of 16 KiB: read, check", packet.median(), LIMIT, "us", &packet.spread())?;
    table.judge(
        "packet of 16 KiB / tree of values",
        packet.median() / floor.median(),
        RATIO,
        "times",
        &floor.spread(),
    )?;
    let (packet, floor) = run(&splintered()?)?;
    let text = format!("{:.3} us; tree of values {:.3} us; not a target", packet.median(), floor.median());
    table.note("packet of 16 KiB, one-letter entries", &text)
}

/// Microseconds of the packet's reader, and of the floor.
fn run(text: &str) -> Result<(Sample, Sample)> {
    let (mut packets, mut trees) = (Vec::with_capacity(RUNS), Vec::with_capacity(RUNS));
    for _ in 0..RUNS {
        let start = Instant::now();
        let packet = door::check(black_box(text).as_bytes());
        packets.push(start.elapsed().as_secs_f64() * 1e6);
        black_box(packet.context("the packet is valid")?);
        let start = Instant::now();
        let tree = serde_json::from_slice::<Value>(black_box(text).as_bytes());
        trees.push(start.elapsed().as_secs_f64() * 1e6);
        black_box(tree.context("the packet is JSON")?);
    }
    Ok((Sample::new(packets), Sample::new(trees)))
}

/// A packet as a busy planner would write it: every list at its cap, texts in two scripts, findings up to the last byte.
fn full() -> Result<String> {
    let mut packet = minimal();
    packet.constraints = (0..12)
        .map(|at| Constraint {
            id: format!("c{at}"),
            text: "只讀 2026-04-01 至 2026-06-30 的合約; amounts in \"TWD\"\n".repeat(2),
        })
        .collect();
    packet.audience = (0..16).map(|at| format!("channel:{at}")).collect();
    packet.acceptance = AssertionKind::ALL
        .iter()
        .flat_map(|kind| (0..6).map(move |at| Assertion { kind: *kind, value: format!("{kind}_{at}") }))
        .collect();
    packet.evidence_index = (0..32).map(|at| format!("合約母檔 · a-{at}")).collect();
    while packet.written_len() < TASK_PACKET_MAX_BYTES - 400 {
        let at = packet.findings.len();
        let text = format!("finding {at}: 母檔共 412 筆，其中 14 筆落在本季, see the table of contracts");
        packet.findings.push(Finding { text, evidence: vec![format!("a-{at}")] });
    }
    padded(packet)
}

/// The most entries that fit: what costs most for its size.
fn splintered() -> Result<String> {
    let mut packet = minimal();
    while packet.written_len() < TASK_PACKET_MAX_BYTES - 400 {
        packet.next_steps.extend(std::iter::repeat_n("x".to_owned(), 50));
    }
    padded(packet)
}

fn minimal() -> TaskPacket {
    let (id, goal) = ("pk-1".to_owned(), "T-1".to_owned());
    TaskPacket::new(id, goal, 1, (Role::Planner, Role::Executor), String::new(), OutputFormat::Markdown)
}

/// With an objective that fills it up to the cap.
fn padded(mut packet: TaskPacket) -> Result<String> {
    packet.objective = "o".repeat(TASK_PACKET_MAX_BYTES.saturating_sub(packet.written_len()));
    let text = packet.normalized();
    ensure!(text.len() == TASK_PACKET_MAX_BYTES, "the packet has {} bytes", text.len());
    packet.validate()?;
    Ok(text)
}
