//! Packets for property tests: any that pass validation, with texts that would like to be something else.

use packet::{
    ArtifactRef, Assertion, AssertionKind, Budget, Constraint, Fidelity, Finding, OutputFormat, Role, TaskPacket,
    ToolScope,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Pieces that mean something to JSON, to Markdown, to a terminal or to whoever cuts prompts.
const PIECES: &[&str] = &[
    "## Constraints",
    "## Audience",
    "## 約束",
    "## 受眾",
    "# ",
    "## ",
    "#",
    "\n",
    "\r",
    "\r\n",
    "\u{b}",
    "\u{c}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{3000}",
    "\u{a0}",
    " ",
    "\t",
    "===",
    "---",
    "```",
    "~~~",
    "- [c1] x",
    "- x",
    "] ",
    "[",
    "&",
    "&#10;",
    "&lt;",
    "<",
    ">",
    "</task_packet>",
    "\\",
    "\\n",
    "\"",
    "\0",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{200b}",
    "\u{feff}",
    "\u{e0041}",
    "約",
    "é",
    "e\u{301}",
    "👩\u{200d}💻",
    "a",
    "(blank)",
];

/// A text of at most `max` characters, blank or not.
pub(crate) fn any_text(max: usize) -> impl Strategy<Value = String> {
    let pieces =
        vec(prop_oneof![3 => select(PIECES).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)], 0..8);
    pieces.prop_map(move |pieces| pieces.concat().chars().take(max).collect())
}

/// The same, not blank.
pub(crate) fn text(max: usize) -> impl Strategy<Value = String> {
    any_text(max).prop_map(|text| if text.trim().is_empty() { "x".to_owned() } else { text })
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(any_text(60), 0..4)
}

fn constraints() -> impl Strategy<Value = Vec<Constraint>> {
    vec((any_text(40), text(packet::CONSTRAINT_TEXT_MAX_CHARS)), 0..=packet::CONSTRAINTS_MAX).prop_map(|drafts| {
        let numbered = drafts.into_iter().enumerate();
        // The number in front makes the ids differ.
        numbered.map(|(at, (id, text))| Constraint { id: format!("{at}{id}."), text }).collect()
    })
}

/// No two kinds share a value, so that nothing is contradictory.
fn acceptance() -> impl Strategy<Value = Vec<Assertion>> {
    vec((select(AssertionKind::ALL), any_text(60)), 0..=packet::ASSERTION_LIST_MAX).prop_map(|drafts| {
        drafts.into_iter().map(|(kind, text)| Assertion { kind, value: format!("{kind}{text}") }).collect()
    })
}

fn output_format() -> impl Strategy<Value = OutputFormat> {
    prop_oneof![
        Just(OutputFormat::Markdown),
        Just(OutputFormat::Diff),
        Just(OutputFormat::Files),
        option::of(any_text(80)).prop_map(|schema| OutputFormat::Json { schema }),
    ]
}

fn budget() -> impl Strategy<Value = Budget> {
    let cost = any::<u64>().prop_map(f64::from_bits).prop_filter("written as JSON", |cost| cost.is_finite());
    (option::of(any::<u32>()), option::of(any::<u64>()), option::of(any::<u64>()), option::of(cost)).prop_map(
        |(max_turns, max_tokens, wall_clock_secs, max_cost_usd)| Budget {
            max_turns,
            max_tokens,
            wall_clock_secs,
            max_cost_usd,
        },
    )
}

fn findings() -> impl Strategy<Value = Vec<Finding>> {
    vec((any_text(60), texts()).prop_map(|(text, evidence)| Finding { text, evidence }), 0..3)
}

fn artifacts() -> impl Strategy<Value = Vec<ArtifactRef>> {
    let one = (any_text(20), option::of(any_text(40)), option::of(any_text(20)));
    vec(one.prop_map(|(id, path, sha256)| ArtifactRef { id, path, sha256 }), 0..3)
}

fn roles() -> impl Strategy<Value = (Role, Role)> {
    (select(Role::ALL), select(Role::ALL)).prop_filter("another role", |(from, to)| from != to)
}

prop_compose! {
    fn head()(
        ids in (text(40), text(40), option::of(any_text(40))), round in any::<u32>(), (from_role, to_role) in roles(),
        objective in text(200), output_format in output_format(), fidelity in select(Fidelity::ALL),
        irreversible in any::<bool>(), tool_scope in (texts(), texts()),
    ) -> TaskPacket {
        let (packet_id, goal_id, parent_packet) = ids;
        let (allowed, denied) = tool_scope;
        TaskPacket {
            parent_packet, fidelity, irreversible, tool_scope: ToolScope { allowed, denied },
            ..TaskPacket::new(packet_id, goal_id, round, (from_role, to_role), objective, output_format)
        }
    }
}

prop_compose! {
    /// Any packet that passes validation.
    pub(crate) fn packets()(
        head in head(), constraints in constraints(), audience in vec(text(packet::AUDIENCE_ID_MAX_CHARS), 0..6),
        acceptance in acceptance(), artifacts in artifacts(), findings in findings(), budget in budget(),
        lists in (texts(), texts(), texts(), texts(), texts(), texts(), texts(), texts()),
        acceptance_baseline_ref in option::of(any_text(40)),
    ) -> TaskPacket {
        let (boundaries, wiki_refs, memory_refs, state_keys, evidence_index, open_questions, blockers, next_steps) = lists;
        TaskPacket {
            constraints, audience, acceptance, artifacts, findings, budget, boundaries, wiki_refs, memory_refs, state_keys,
            evidence_index, open_questions, blockers, next_steps, acceptance_baseline_ref, ..head
        }
    }
}
