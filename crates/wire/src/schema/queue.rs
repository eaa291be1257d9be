//! The schema of `tasks.json` (queue protocol, schema version 3), for editors and planners.
//!
//! It is written by hand: the rules live in the crate `queue`, which reads bytes and not types. A schema cannot say all
//! of them (paths inside the project, bytes of the instruction, parseable times); `handoff lint` can.

use serde_json::{Value, json};

const NOT_BLANK: &str = r"\S";
const ONE_LINE: &str = r"^[^\n\u000b\u000c\r\u0085\u2028\u2029]*\S[^\n\u000b\u000c\r\u0085\u2028\u2029]*$";

/// The schema of `tasks.json`.
#[must_use]
pub fn queue() -> Value {
    json!({
        "$schema": super::DIALECT,
        "title": "tasks.json",
        "description": "One task for the project that this file is the root of. Unknown fields are kept.",
        "type": "object",
        "required": ["schema_version", "status"],
        "properties": properties(),
        "if": { "properties": { "status": { "enum": ["PENDING", "RUNNING"] } }, "required": ["status"] },
        "then": {
            "required": [
                "task_id", "task_type", "required_role", "instruction", "working_dir", "scope", "acceptance_criteria",
                "created_at", "created_by"
            ],
            "allOf": [role_fits_type(), gate_fits_type(), gate_has_a_reason()]
        },
        "$defs": { "text": { "type": ["string", "null"] }, "report": report() }
    })
}

fn properties() -> Value {
    let one_line = json!({ "type": "string", "maxLength": 200, "pattern": ONE_LINE });
    let text = json!({ "$ref": "#/$defs/text" });
    json!({
        "schema_version": { "const": 3, "description": "The JSON integer 3." },
        "status": {
            "enum": ["IDLE", "PENDING", "RUNNING", "COMPLETE", "ERROR"],
            "description": "The planner sets PENDING; the daemon sets RUNNING, COMPLETE and ERROR."
        },
        "task_id": with_description(&one_line, "The planner's id: one line, at most 200 characters."),
        "task_type": { "enum": ["IMPLEMENT", "TEST", "DOCUMENT", "CONSULT", "REVIEW"] },
        "required_role": { "enum": ["writer", "read-only", "any"], "description": "Must fit the task type." },
        "preferred_agent": with_description(&text, "A hint only."),
        "gate": { "enum": ["none", "consult-before", "review-after", null], "description": "Writer tasks only; null is none." },
        "gate_reason": with_description(&text, "Required when there is a gate."),
        "parent_task_id": { "anyOf": [one_line, { "type": "null" }], "description": "The task that this one follows." },
        "instruction": { "type": "string", "pattern": NOT_BLANK, "maxLength": 32_768, "description": "At most 32 KiB in UTF-8." },
        "working_dir": { "type": "string", "pattern": NOT_BLANK, "description": "An existing folder inside the project." },
        "scope": {
            "type": "array", "minItems": 1, "maxItems": 32, "items": { "type": "string", "pattern": NOT_BLANK },
            "description": "Project-relative paths; changed files must fall inside."
        },
        "acceptance_criteria": { "type": "array", "minItems": 1, "maxItems": 32, "items": { "type": "string", "pattern": NOT_BLANK } },
        "plan_ref": with_description(&text, "A pointer to a plan; if it is a file inside the project, the worker gets it."),
        "created_at": { "type": "string", "pattern": NOT_BLANK, "description": "RFC 3339, for example 2026-09-01T10:00:00Z." },
        "created_by": { "const": "claude-code" },
        "assigned_agent": with_description(&text, "Written by the daemon."),
        "assigned_model": with_description(&text, "Written by the daemon."),
        "thinking": with_description(&text, "Written by the daemon."),
        "started_at": with_description(&text, "Written by the daemon."),
        "completed_at": with_description(&text, "Written by the daemon."),
        "updated_by": with_description(&text, "Written by the daemon: handoffd, or handoffd/<dispatch id>."),
        "result": with_description(&text, "From the accepted report."),
        "files_changed": list_or_null("From the accepted report, project-relative."),
        "tests_run": list_or_null("From the accepted report."),
        "error": with_description(&text, "Why the task ended in ERROR."),
        "report": { "anyOf": [{ "$ref": "#/$defs/report" }, { "type": "null" }] }
    })
}

fn with_description(schema: &Value, description: &str) -> Value {
    let mut schema = schema.clone();
    schema["description"] = description.into();
    schema
}

fn list_or_null(description: &str) -> Value {
    json!({ "type": ["array", "null"], "items": { "type": "string" }, "description": description })
}

fn role_fits_type() -> Value {
    json!({
        "if": { "properties": { "task_type": { "enum": ["CONSULT", "REVIEW"] } } },
        "then": { "properties": { "required_role": { "enum": ["read-only", "any"] } } },
        "else": { "properties": { "required_role": { "enum": ["writer", "any"] } } }
    })
}

fn gate_fits_type() -> Value {
    json!({
        "if": { "properties": { "task_type": { "enum": ["CONSULT", "REVIEW"] } } },
        "then": { "properties": { "gate": { "enum": ["none", null] } } }
    })
}

fn gate_has_a_reason() -> Value {
    json!({
        "if": { "properties": { "gate": { "enum": ["consult-before", "review-after"] } }, "required": ["gate"] },
        "then": { "required": ["gate_reason"], "properties": { "gate_reason": { "type": "string", "pattern": NOT_BLANK } } }
    })
}

/// The evidence of an accepted report (D63).
fn report() -> Value {
    let evidence = json!({
        "agent": { "type": "string" }, "run_id": { "type": "string" }, "status": { "enum": ["COMPLETE", "ERROR"] },
        "model": { "type": "string" }, "thinking": { "type": "string" },
        "result": { "type": "string", "maxLength": 4_000 }
    });
    let mut gate = evidence.clone();
    gate["gate"] = json!({ "enum": ["consult-before", "review-after"] });
    gate["independent"] = json!({ "type": "boolean" });
    let worker = json!({ "type": ["object", "null"], "properties": evidence });
    json!({
        "type": "object",
        "description": "Evidence of the accepted report. A gate's result holds its verdict.",
        "properties": {
            "version": { "const": 1 },
            "captured_at": { "type": "string" },
            "worker": worker,
            "gate_evidence": { "type": "array", "maxItems": 1, "items": { "type": "object", "properties": gate } },
            "async_status": { "type": ["object", "null"] },
            "observed": {
                "type": ["object", "null"],
                "properties": {
                    "all": { "type": "boolean" },
                    "runs": { "type": "array", "maxItems": 64, "items": { "type": "object" } },
                    "omitted": { "type": "integer", "minimum": 0 }
                }
            }
        }
    })
}
