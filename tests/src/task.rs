//! The planner's task as a JSON document, valid unless a test makes it otherwise. Writing it is `planner`'s business.

use serde_json::{Map, Value, json};

/// A task as the planner would write it; members keep their order.
#[derive(Debug, Clone)]
pub struct Task {
    members: Map<String, Value>,
}

impl Task {
    /// A valid PENDING writer task.
    #[must_use]
    pub fn new(id: &str) -> Self {
        let members = json!({
            "schema_version": 3,
            "status": "PENDING",
            "task_id": id,
            "task_type": "IMPLEMENT",
            "required_role": "writer",
            "preferred_agent": null,
            "gate": "none",
            "gate_reason": null,
            "parent_task_id": null,
            "instruction": "append one line to notes.txt",
            "working_dir": ".",
            "scope": ["notes.txt", "src"],
            "acceptance_criteria": ["the line is there"],
            "plan_ref": null,
            "created_at": "2026-09-01T10:00:00Z",
            "created_by": "claude-code"
        });
        let Value::Object(members) = members else { unreachable!("written as an object") };
        Self { members }
    }

    /// The same with another value of one member.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.members.insert(key.to_owned(), value.into());
        self
    }

    /// The same without a member.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.members.shift_remove(key);
        self
    }

    /// A writer task whose review must be done by somebody else.
    #[must_use]
    pub fn reviewed(self) -> Self {
        self.with("gate", "review-after").with("gate_reason", "the change is risky")
    }

    /// `task_id`.
    #[must_use]
    pub fn id(&self) -> String {
        self.members["task_id"].as_str().unwrap_or_default().to_owned()
    }

    /// The document, indented by two spaces, with a final newline.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.members).unwrap();
        text.push('\n');
        text
    }

    /// The members alone, as `task.submit` takes them: without `status` and `schema_version`.
    #[must_use]
    pub fn planner_fields(&self) -> Value {
        let mut members = self.members.clone();
        members.shift_remove("status");
        members.shift_remove("schema_version");
        Value::Object(members)
    }
}
