//! JSON Schema of what the tools take and give. Names and limits come from `queue`.

use queue::{Field, Gate, RequiredRole, TaskType, limits};
use serde_json::{Map, Value, json};

use super::{Kind, wait};

/// The names of a tool's parameters.
pub(super) fn parameters(kind: Kind) -> Vec<String> {
    let input = input(kind);
    input["properties"].as_object().map(|properties| properties.keys().cloned().collect()).unwrap_or_default()
}

/// What a tool takes.
pub(super) fn input(kind: Kind) -> Map<String, Value> {
    let (mut properties, required) = match kind {
        Kind::Submit => submit(),
        Kind::Status => (json!({}), json!([])),
        Kind::Wait => (json!({"task_id": id("The task"), "timeout_secs": timeout()}), json!([])),
        Kind::Cancel => {
            let reason = json!({
                "type": "string", "maxLength": wire::limits::CANCEL_REASON_CHARS,
                "description": "Why; it becomes part of the task's error.",
            });
            let task_id = json!({"type": "string", "description": "The task that is meant, as it was told to you."});
            (json!({"task_id": task_id, "reason": reason}), json!(["task_id"]))
        }
        Kind::Show => (json!({"task_id": id("The task")}), json!([])),
    };
    properties["project"] = json!({
        "type": "string",
        "description": "The project: the path of its root, or its registered name. Left out: the folder of this session.",
    });
    object(json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    }))
}

/// What a tool gives. Everything but `ok` and `text` may be missing: a refusal has `code`, `message`, `problems`, `hints`.
pub(super) fn output(kind: Kind) -> Map<String, Value> {
    let mut properties = match kind {
        Kind::Submit => json!({
            "task_id": {"type": "string"}, "status": {"type": "string"}, "project": {"type": "string"},
            "fingerprint": {"type": "string"}, "warnings": texts(),
            "daemon_running": {"type": "boolean", "description": "false: nothing picks the task up yet"},
            "session_attached": {"type": "boolean", "description": "whether a worker's session is there to take it"},
        }),
        Kind::Status => json!({
            "daemon": {"type": "object"}, "project": {"type": ["object", "null"]},
            "other_projects": {"type": "array"}, "queue": {"type": "object"},
        }),
        Kind::Wait => {
            let mut properties = ended();
            properties["ended"] = json!({"type": "boolean", "description": "false: call it again"});
            properties["state"] = json!({"type": "string"});
            properties["why"] = json!({"type": ["string", "null"]});
            properties
        }
        Kind::Cancel => json!({
            "task_id": {"type": "string"}, "was": {"type": "string"}, "now": {"type": "string"},
            "session": {"type": ["string", "null"]}, "live_runs": {"type": "array"},
        }),
        Kind::Show => ended(),
    };
    for (name, schema) in [
        ("ok", json!({"type": "boolean"})),
        ("text", json!({"type": "string", "description": "the whole answer in words"})),
        ("code", json!({"type": "string", "description": "why it was refused; stable"})),
        ("message", json!({"type": "string"})),
        ("problems", texts()),
        ("hints", texts()),
    ] {
        properties[name] = schema;
    }
    object(json!({"type": "object", "properties": properties, "required": ["ok", "text"]}))
}

fn submit() -> (Value, Value) {
    let single = |description: String| json!({"type": "string", "description": description});
    let list = |description: String| {
        json!({
            "type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "maxItems": limits::LIST_ITEMS,
            "description": description,
        })
    };
    let properties = json!({
        Field::Instruction.name(): {
            "type": "string", "minLength": 1, "maxLength": limits::INSTRUCTION_BYTES,
            "description": format!(
                "What is to be done, at most {} bytes of UTF-8. What is longer belongs into a file that you name here.",
                limits::INSTRUCTION_BYTES
            ),
        },
        Field::Scope.name(): list(format!(
            "The files and folders that may change, 1 to {}, relative to the project's root, inside it; no patterns such as \
             `src/**`: a folder means all that is in it. What does not exist yet is allowed. Read-only tasks name what is \
             to be looked at.",
            limits::LIST_ITEMS
        )),
        Field::AcceptanceCriteria.name(): list(format!(
            "What must hold when it is done, 1 to {}, each something that can be checked.", limits::LIST_ITEMS
        )),
        Field::TaskType.name(): {
            "type": "string", "enum": TaskType::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>(),
            "default": "IMPLEMENT",
            "description": "CONSULT and REVIEW change nothing.",
        },
        Field::RequiredRole.name(): {
            "type": "string", "enum": RequiredRole::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>(),
            "description": "Which agent may do it. Left out: read-only for CONSULT and REVIEW, else writer. `writer` does \
                            not fit CONSULT and REVIEW, `read-only` does not fit the others; `any` always fits.",
        },
        Field::Gate.name(): {
            "type": "string", "enum": Gate::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>(), "default": "none",
            "description": "A second, independent agent: review-after looks at the work when it is done, consult-before gives \
                            advice first. Not for CONSULT and REVIEW.",
        },
        Field::GateReason.name(): single("Why the gate is set. Needed with a gate, not blank.".to_owned()),
        Field::WorkingDir.name(): {
            "type": "string", "default": ".",
            "description": "An existing folder of the project where the work is done.",
        },
        Field::PreferredAgent.name(): single("The agent that should do it, as a hint; never checked.".to_owned()),
        Field::PlanRef.name(): single("Points at the plan that the task belongs to; not checked.".to_owned()),
        Field::ParentTaskId.name(): {
            "type": "string", "maxLength": limits::TASK_ID_CHARS,
            "description": format!(
                "The task that this one follows, such as one that is being mended. One line of at most {} characters.",
                limits::TASK_ID_CHARS
            ),
        },
        Field::TaskId.name(): {
            "type": "string", "maxLength": limits::TASK_ID_CHARS,
            "description": format!(
                "One line of at most {} characters; packets need 1 to 64 of `A-Z a-z 0-9 _ -`. Left out: a new one is made.",
                limits::TASK_ID_CHARS
            ),
        },
    });
    let mut properties = properties;
    // The same for every task; a planner that has written the fields of `tasks.json` before may give them.
    for (field, schema) in [
        (Field::CreatedAt, json!({"type": "string", "description": "A date or time, RFC 3339. Left out: now."})),
        (Field::CreatedBy, json!({"type": "string", "enum": [limits::CREATOR], "default": limits::CREATOR})),
        (
            Field::SchemaVersion,
            json!({"type": "integer", "enum": [limits::SCHEMA_VERSION], "default": limits::SCHEMA_VERSION}),
        ),
    ] {
        properties[field.name()] = schema;
    }
    let required = [Field::Instruction, Field::Scope, Field::AcceptanceCriteria].map(Field::name);
    (properties, json!(required))
}

fn id(what: &str) -> Value {
    json!({"type": "string", "description": format!("{what}. Left out: the one in the queue now.")})
}

fn timeout() -> Value {
    json!({
        "type": "integer", "minimum": 0, "maximum": wait::LONGEST, "default": wait::USUAL,
        "description": format!(
            "Seconds after which the answer comes in any case, at most {}. Left out: {}, which is under the limit of most \
             clients. Give more only if your client lets a call run that long.",
            wait::LONGEST, wait::USUAL
        ),
    })
}

/// A task with its end.
fn ended() -> Value {
    let text = || json!({"type": ["string", "null"]});
    json!({
        "task_id": {"type": "string"}, "status": {"type": "string"}, "project": text(),
        "dispatch_id": text(), "started_at": text(), "completed_at": text(), "result": text(), "error": text(),
        "verdict": {
            "type": ["string", "null"],
            "description": "the first line of what the gate's reviewer said: COMPLETE does not mean that it approved",
        },
        "files_changed": {"type": ["array", "null"]}, "tests_run": {"type": ["array", "null"]},
        "evidence": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "proof": {"type": "string", "enum": ["observed", "contradicted", "claimed"]},
                    "what": {"type": "string"},
                },
            },
        },
        "parent_task_id": text(), "children": texts(),
    })
}

fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}
