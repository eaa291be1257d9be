//! What a client and its model are told about `team_handoff`. Keys, limits and the example come from `packet`, so that the
//! words cannot drift from the rules.

use packet::{FORBIDDEN_PROVIDER_FIELDS, MINIMAL_PACKET_EXAMPLE, OPTIONAL_KEYS, TASK_PACKET_MAX_BYTES};
use serde_json::{Map, Value, json};

/// Of the server.
pub(crate) const INSTRUCTIONS: &str = "You are one role of a team. Roles never see each other's conversation: what the \
next role must know goes into one packet, filed with `team_handoff`.";

/// Of the tool. The example stands with the parameter, where it is needed.
pub(crate) const TOOL: &str = "File one packet to the next role of your team: planner to executor, executor to verifier, \
verifier back to executor. A packet carries decisions and references, never a transcript. It is taken whole or refused \
whole; a refusal names what to change. Filing the same packet_id again replaces that packet.";

/// The schema of the arguments. Both forms of the packet are named; neither is checked by it.
pub(crate) fn input() -> Map<String, Value> {
    object(json!({
        "type": "object",
        "properties": {
            "packet": {
                "description": packet_words(),
                "anyOf": [{"type": "object"}, {"type": "string"}],
            },
        },
        "required": ["packet"],
    }))
}

/// The schema of the structured content: `path` and `bytes` after a success, `code` and `message` after a refusal.
pub(crate) fn output() -> Map<String, Value> {
    object(json!({
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "path": {"type": "string", "description": "where the packet lies, below the home of packets"},
            "bytes": {"type": "integer", "description": "its size"},
            "behind_gap": {"type": "boolean", "description": "a packet before it is missing, so readers stop before it"},
            "code": {"type": "string", "description": "why it was refused; stable"},
            "message": {"type": "string", "description": "what to change"},
        },
        "required": ["ok"],
    }))
}

fn packet_words() -> String {
    format!(
        "The packet, as an object or as a string of JSON. This is enough:\n{MINIMAL_PACKET_EXAMPLE}\n\
         goal_id, round, from_role and to_role may be left out: they are filled in from your own record, and what you write \
         must agree with it. output_format is \"markdown\", \"json\", \"diff\" or \"files\", or \
         {{\"kind\":\"json\",\"schema\":\"…\"}}. Optional keys, for when there is something to say: {optional}. Of these, \
         constraints is a list of {{\"id\",\"text\"}}, acceptance of {{\"kind\",\"value\"}}, artifacts of \
         {{\"id\",\"path\",\"sha256\"}}, findings of {{\"text\",\"evidence\":[…]}}; budget has max_turns, max_tokens, \
         wall_clock_secs, max_cost_usd; tool_scope has allowed and denied; the others are texts or lists of texts. \
         {forbidden} are refused at any depth. At most {TASK_PACKET_MAX_BYTES} bytes; what is over a limit is refused, \
         never cut.",
        optional = OPTIONAL_KEYS.join(", "),
        forbidden = FORBIDDEN_PROVIDER_FIELDS.join(", "),
    )
}

fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_stands_with_the_parameter_and_only_there() {
        let input = input();
        let words = input["properties"]["packet"]["description"].as_str().unwrap();
        assert_eq!(words.matches(MINIMAL_PACKET_EXAMPLE).count(), 1);
        assert!(!TOOL.contains(MINIMAL_PACKET_EXAMPLE) && !INSTRUCTIONS.contains(MINIMAL_PACKET_EXAMPLE));
    }

    #[test]
    fn every_key_and_limit_is_named() {
        let words = packet_words();
        for word in OPTIONAL_KEYS.iter().chain(&FORBIDDEN_PROVIDER_FIELDS) {
            assert!(words.contains(word), "{word}");
        }
        for word in ["goal_id", "round", "from_role", "to_role", "markdown", "json", "diff", "files", "16384"] {
            assert!(words.contains(word), "{word}");
        }
    }
}
