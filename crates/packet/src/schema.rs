//! The JSON Schema of a packet, for editors and for tools that write one. Printed by `handoff schema packet`.
//!
//! It is written by hand, since most rules are no matter of types; a test holds it against the code. A schema cannot say
//! all of them: that constraint ids differ, that assertions do not contradict each other, the size of the whole, that a key
//! stands once, and that an integer has no fraction of zero. `handoff packet check` can.

use serde_json::{Value, json};

use crate::keys::REQUIRED_KEYS;
use crate::limits::{
    ASSERTION_LIST_MAX, ASSERTION_TOKEN_MAX_CHARS, AUDIENCE_ID_MAX_CHARS, AUDIENCE_MAX, CONSTRAINT_ID_MAX_CHARS,
    CONSTRAINT_TEXT_MAX_CHARS, CONSTRAINTS_MAX, EVIDENCE_INDEX_MAX, OBJECTIVE_MAX_CHARS, TASK_PACKET_MAX_BYTES,
};
use crate::output_format::KINDS;
use crate::words::{AssertionKind, Fidelity, Role};

/// Unicode `White_Space` inside a character class. The shorthand `\s` differs between dialects.
const SPACE: &str = r"\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";

/// The schema, in the dialect 2020-12; the same in every call.
#[must_use]
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "TaskPacket 1.0",
        "description": format!("What one role of a team hands to the next; at most {TASK_PACKET_MAX_BYTES} bytes in its \
            written form. Over a limit it is refused whole, nothing is cut."),
        "type": "object",
        "additionalProperties": false,
        "required": REQUIRED_KEYS,
        "properties": properties(),
        "allOf": Role::WORDS.iter().map(|role| not_to_itself(role)).collect::<Vec<_>>(),
        "$defs": definitions()
    })
}

fn properties() -> Value {
    let role = |what: &str| json!({ "$ref": "#/$defs/role", "description": what });
    let texts = |what: &str| json!({ "$ref": "#/$defs/texts", "description": what });
    let reference = |what: &str| json!({ "type": ["string", "null"], "description": what });
    json!({
        "packet_id": with(not_blank(), "The id of this handoff."),
        "goal_id": with(not_blank(), "The task that it serves."),
        "parent_packet": reference("The packet that this one answers."),
        "round": with(unsigned(u32::MAX.into()), "The round of the goal's loop."),
        "from_role": role("The sender."),
        "to_role": role("The recipient, another role than the sender."),
        "objective": with(text(OBJECTIVE_MAX_CHARS), "One sentence: what to do."),
        "output_format": { "$ref": "#/$defs/output_format", "description": "The shape of the product." },
        "tool_scope": { "$ref": "#/$defs/tool_scope", "description": "For people only: nothing enforces it." },
        "boundaries": texts("What not to do."),
        "constraints": with(list("constraint", CONSTRAINTS_MAX), "Limits of the work; never shortened. Ids are unique."),
        "audience": {
            "type": "array", "maxItems": AUDIENCE_MAX, "items": text(AUDIENCE_ID_MAX_CHARS),
            "description": "Who may see the content; empty means the audience of the task, never everyone."
        },
        "acceptance": {
            "type": "array", "items": { "$ref": "#/$defs/assertion" },
            "allOf": AssertionKind::WORDS.iter().map(|kind| at_most_of(kind)).collect::<Vec<_>>(),
            "description": "Conditions that a machine can check."
        },
        "acceptance_baseline_ref": reference("Where the goal's frozen acceptance criteria are."),
        "artifacts": { "type": "array", "items": { "$ref": "#/$defs/artifact" }, "description": "References, never bytes." },
        "wiki_refs": texts("Paths in a wiki."),
        "memory_refs": texts("Ids of memories."),
        "state_keys": texts("Keys of the working state that the recipient may rely on."),
        "evidence_index": {
            "type": "array", "maxItems": EVIDENCE_INDEX_MAX, "items": { "type": "string" },
            "description": "Title and id of what the sender looked at."
        },
        "findings": { "type": "array", "items": { "$ref": "#/$defs/finding" }, "description": "Facts, with their evidence." },
        "open_questions": texts("What is not settled."),
        "blockers": texts("What stops the work."),
        "next_steps": texts("What comes next."),
        "fidelity": {
            "type": "string", "enum": Fidelity::WORDS, "default": Fidelity::default(),
            "description": "How well the sender's observations are evidenced."
        },
        "budget": { "$ref": "#/$defs/budget", "description": "Asked for; unset means the dispatcher's own limit." },
        "irreversible": { "type": "boolean", "default": false, "description": "For people only: it triggers nothing." }
    })
}

fn definitions() -> Value {
    let text_or_null = json!({ "type": ["string", "null"] });
    let texts = json!({ "$ref": "#/$defs/texts" });
    json!({
        "role": { "type": "string", "enum": Role::WORDS },
        "texts": { "type": "array", "items": { "type": "string" } },
        "output_format": {
            "anyOf": [
                { "type": "string", "pattern": bare_kinds(), "description": "Short form, any case; normalized to the object." },
                object(json!({ "kind": { "type": "string", "enum": ["markdown", "diff", "files"] } }), &["kind"]),
                object(json!({ "kind": { "const": "json" }, "schema": text_or_null }), &["kind"])
            ]
        },
        "tool_scope": object(json!({ "allowed": texts, "denied": texts }), &[]),
        "constraint": object(
            json!({ "id": text(CONSTRAINT_ID_MAX_CHARS), "text": text(CONSTRAINT_TEXT_MAX_CHARS) }), &["id", "text"]
        ),
        "assertion": object(
            json!({
                "kind": { "type": "string", "enum": AssertionKind::WORDS },
                "value": text(ASSERTION_TOKEN_MAX_CHARS)
            }),
            &["kind", "value"]
        ),
        "artifact": object(
            json!({ "id": { "type": "string" }, "path": text_or_null, "sha256": text_or_null }), &["id"]
        ),
        "finding": object(json!({ "text": { "type": "string" }, "evidence": texts }), &[]),
        "budget": object(
            json!({
                "max_turns": or_null(unsigned(u32::MAX.into())),
                "max_tokens": or_null(unsigned(u64::MAX)),
                "wall_clock_secs": or_null(unsigned(u64::MAX)),
                "max_cost_usd": { "type": ["number", "null"] }
            }),
            &[]
        )
    })
}

#[expect(clippy::needless_pass_by_value, reason = "a call reads as the JSON that it makes")]
fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "additionalProperties": false, "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn with(mut schema: Value, description: &str) -> Value {
    schema["description"] = description.into();
    schema
}

fn or_null(mut schema: Value) -> Value {
    schema["type"] = json!([schema["type"], "null"]);
    schema
}

fn unsigned(maximum: u64) -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": maximum })
}

fn not_blank() -> Value {
    json!({ "type": "string", "pattern": format!("[^{SPACE}]") })
}

fn text(max_chars: usize) -> Value {
    json!({ "type": "string", "pattern": format!("[^{SPACE}]"), "maxLength": max_chars })
}

fn list(definition: &str, max_items: usize) -> Value {
    json!({ "type": "array", "maxItems": max_items, "items": { "$ref": format!("#/$defs/{definition}") } })
}

fn at_most_of(kind: &str) -> Value {
    json!({
        "contains": { "type": "object", "required": ["kind"], "properties": { "kind": { "const": kind } } },
        "minContains": 0,
        "maxContains": ASSERTION_LIST_MAX
    })
}

fn not_to_itself(role: &str) -> Value {
    let is = json!({ "const": role });
    json!({ "not": { "required": ["from_role", "to_role"], "properties": { "from_role": is, "to_role": is } } })
}

/// The words of the short form: any ASCII case, white space around.
fn bare_kinds() -> String {
    let any_case = |c: char| format!("[{}{}]", c, c.to_ascii_uppercase());
    let kinds: Vec<String> = KINDS.iter().map(|kind| kind.chars().map(any_case).collect()).collect();
    format!("^[{SPACE}]*({})[{SPACE}]*$", kinds.join("|"))
}
