//! The rows of the ledgers (D75). The keys are those of the format that other tools read; nothing is written here.

use jiff::Timestamp;
use packet::TaskPacket;
use serde_json::{Map, Value, json};

use crate::compose::Skipped;
use crate::door::Filed;
use crate::home::Home;
use crate::leg::Leg;
use crate::text::{KEPT_MAX_CHARS, first_bytes, first_chars, kept};

/// The tool's name.
const TOOL: &str = "team_handoff";
/// Who the rows of the composer name as their author.
const COMPOSER: &str = "team-composer";
/// How long a string of the provenance ledger may be. In bytes.
const PROVENANCE_MAX_BYTES: usize = 400;
/// The provenance of a filed packet, for `artifacts.jsonl`.
pub(crate) fn artifact(home: &Home, agent_id: &str, packet: &TaskPacket, filed: &Filed, now: Timestamp) -> Value {
    let cut = |text: &str| first_bytes(text, PROVENANCE_MAX_BYTES).to_owned();
    let (from, to, round) = (packet.from_role, packet.to_role, packet.round);
    json!({
        "produced_at": now.to_string(),
        "agent_id": cut(agent_id),
        "archived_name": cut(filed.path.rsplit('/').next().unwrap_or_default()),
        "display_name": format!("handoff {from}→{to} r{round}"),
        "size": filed.bytes,
        "origin": "produced",
        "task_id": cut(&packet.goal_id),
        "round": round,
        "source_path": cut(&home.path().join(&filed.path).to_string_lossy()),
    })
}

/// That a packet was filed and who may see it, for `security_audit.jsonl`.
pub(crate) fn filed(agent_id: &str, packet: &TaskPacket, filed: &Filed, now: Timestamp) -> Value {
    let details = json!({
        "task_id": packet.goal_id,
        "round": packet.round,
        "from_role": packet.from_role,
        "to_role": packet.to_role,
        "bytes": filed.bytes,
        "constraints": packet.constraints.len(),
        "audience": packet.audience,
        "path": filed.path,
    });
    event(now, "team_handoff", agent_id, &details)
}

/// That a call was refused, for `tool_calls.jsonl`.
pub(crate) fn refused(
    agent_id: &str,
    arguments: &Map<String, Value>,
    code: &str,
    message: &str,
    now: Timestamp,
) -> Value {
    let input = serde_json::to_string(arguments).unwrap_or_default();
    let (input, input_truncated) = kept(&input);
    json!({
        "timestamp": now.to_string(),
        "agent_id": first_chars(agent_id, KEPT_MAX_CHARS),
        "tool_name": TOOL,
        "params": format!("denied ({code}): {}", kept(message).0),
        "success": false,
        "error_class": code,
        "input": input,
        "input_truncated": input_truncated,
    })
}

/// That the composer passed over a file of a leg, for `security_audit.jsonl`.
pub(crate) fn skipped(leg: &Leg, skipped: &Skipped, now: Timestamp) -> Value {
    let mut details = of_leg(leg);
    details.insert("path".to_owned(), skipped.file.as_str().into());
    details.insert("error_type".to_owned(), skipped.code.into());
    details.insert("detail".to_owned(), kept(&skipped.detail).0.into());
    event(now, "team_packet_skipped", COMPOSER, &Value::Object(details))
}

/// That every file of a leg was passed over, for `security_audit.jsonl`.
pub(crate) fn all_skipped(leg: &Leg, count: usize, now: Timestamp) -> Value {
    let mut details = of_leg(leg);
    details.insert("error_type".to_owned(), "all_packets_invalid".into());
    details.insert("skipped".to_owned(), count.into());
    event(now, "team_packet_skipped", COMPOSER, &Value::Object(details))
}

/// That a stage failed for want of a packet, for `security_audit.jsonl`.
pub(crate) fn stage_failed(leg: &Leg, code: &str, now: Timestamp) -> Value {
    let details = json!({"task_id": leg.goal(), "round": leg.round(), "stage": leg.from(), "error_type": code});
    event(now, "team_stage_failed", COMPOSER, &details)
}

fn of_leg(leg: &Leg) -> Map<String, Value> {
    let mut details = Map::new();
    details.insert("task_id".to_owned(), leg.goal().into());
    details.insert("round".to_owned(), leg.round().into());
    details.insert("from_role".to_owned(), leg.from().as_str().into());
    details.insert("to_role".to_owned(), leg.to().as_str().into());
    details
}

fn event(now: Timestamp, kind: &str, agent_id: &str, details: &Value) -> Value {
    json!({
        "timestamp": now.to_string(), "event_type": kind, "agent_id": agent_id, "severity": "info", "details": details,
    })
}
