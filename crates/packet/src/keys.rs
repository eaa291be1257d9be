//! The keys of a packet: which are needed, which may be left out, which never stand in one, and the smallest example.

/// The smallest complete packet, as it is shown to whoever writes one. The only copy: tool descriptions, refusals and
/// role headers are made from it.
pub const MINIMAL_PACKET_EXAMPLE: &str = r#"{"packet_id":"pk-1","goal_id":"<your task_id>","round":1,"from_role":"planner","to_role":"executor","objective":"one sentence: what the next role must do","output_format":"markdown"}"#;

/// The keys that every packet has, in written order.
pub const REQUIRED_KEYS: [&str; 7] =
    ["packet_id", "goal_id", "round", "from_role", "to_role", "objective", "output_format"];

/// The keys that have a default, in written order.
pub const OPTIONAL_KEYS: [&str; 19] = [
    "parent_packet",
    "tool_scope",
    "boundaries",
    "constraints",
    "audience",
    "acceptance",
    "acceptance_baseline_ref",
    "artifacts",
    "wiki_refs",
    "memory_refs",
    "state_keys",
    "evidence_index",
    "findings",
    "open_questions",
    "blockers",
    "next_steps",
    "fidelity",
    "budget",
    "irreversible",
];

/// The keys of conversations and of one vendor's formats, which no packet carries at any depth (D32).
pub const FORBIDDEN_PROVIDER_FIELDS: [&str; 9] = [
    "transcript",
    "messages",
    "tool_use",
    "tool_calls",
    "function_call",
    "functionCall",
    "thinking",
    "reasoning",
    "encrypted_content",
];

/// How to write a packet: the smallest example and the optional keys. It follows every refusal of a packet's shape.
#[must_use]
pub fn shape_hint() -> String {
    let optional = OPTIONAL_KEYS.join(", ");
    format!(
        "send this shape — these seven keys are enough: {MINIMAL_PACKET_EXAMPLE} · optional keys, all defaulting to \
         empty: {optional}"
    )
}
