//! The packet itself: its fields in written order, their defaults, and its written form.

use crate::object::object;
use crate::output_format::OutputFormat;
use crate::parts::{ArtifactRef, Assertion, Budget, Constraint, Finding, ToolScope};
use crate::words::{Fidelity, Role};

object! {
    /// One handoff between two roles of a team (specification "TaskPacket format v1.0").
    ///
    /// What has been read fits the shape; [`validate`](Self::validate) checks the caps and the rest.
    pub struct TaskPacket {
        /// The id of this handoff. Not blank.
        pub packet_id: String,
        /// The task that it serves. Not blank.
        pub goal_id: String,
        /// The packet that this one answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub parent_packet: Option<String>,
        /// The round of the goal's loop.
        pub round: u32,
        /// Who sends it.
        pub from_role: Role,
        /// Who receives it; another role.
        pub to_role: Role,
        /// What to do, in one sentence. Not blank.
        pub objective: String,
        /// The shape of the product.
        pub output_format: OutputFormat,
        /// Carried, and read by nothing; never rendered.
        #[serde(default, skip_serializing_if = "ToolScope::is_empty")]
        pub tool_scope: ToolScope,
        /// What not to do.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub boundaries: Vec<String>,
        /// Limits of the work; incompressible.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub constraints: Vec<Constraint>,
        /// Who may see the content; incompressible. Empty means the audience of the task, never everyone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub audience: Vec<String>,
        /// Conditions that a machine can check.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub acceptance: Vec<Assertion>,
        /// Where the goal's frozen acceptance criteria are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub acceptance_baseline_ref: Option<String>,
        /// References to products.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub artifacts: Vec<ArtifactRef>,
        /// Paths in a wiki.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub wiki_refs: Vec<String>,
        /// Ids of memories.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub memory_refs: Vec<String>,
        /// Keys of the working state that the receiver may rely on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub state_keys: Vec<String>,
        /// Title and id of what the sender looked at.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub evidence_index: Vec<String>,
        /// What the sender holds for true.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub findings: Vec<Finding>,
        /// What is not settled.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub open_questions: Vec<String>,
        /// What stops the work.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub blockers: Vec<String>,
        /// What comes next.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub next_steps: Vec<String>,
        /// How well the sender's observations are evidenced. Always written.
        #[serde(default)]
        pub fidelity: Fidelity,
        /// What the work may cost.
        #[serde(default, skip_serializing_if = "Budget::is_unset")]
        pub budget: Budget,
        /// Carried, and read by nothing; never rendered. Always written.
        #[serde(default)]
        pub irreversible: bool,
    }
}

impl TaskPacket {
    /// A packet with the required values, in written order; the rest has its default. `roles` are sender and recipient.
    #[must_use]
    pub fn new(
        packet_id: String,
        goal_id: String,
        round: u32,
        roles: (Role, Role),
        objective: String,
        output_format: OutputFormat,
    ) -> Self {
        let (from_role, to_role) = roles;
        Self {
            packet_id,
            goal_id,
            parent_packet: None,
            round,
            from_role,
            to_role,
            objective,
            output_format,
            tool_scope: ToolScope::default(),
            boundaries: Vec::new(),
            constraints: Vec::new(),
            audience: Vec::new(),
            acceptance: Vec::new(),
            acceptance_baseline_ref: None,
            artifacts: Vec::new(),
            wiki_refs: Vec::new(),
            memory_refs: Vec::new(),
            state_keys: Vec::new(),
            evidence_index: Vec::new(),
            findings: Vec::new(),
            open_questions: Vec::new(),
            blockers: Vec::new(),
            next_steps: Vec::new(),
            fidelity: Fidelity::default(),
            budget: Budget::default(),
            irreversible: false,
        }
    }

    /// The written form: compact JSON, keys in the order of the fields, defaults left out but for `fidelity` and
    /// `irreversible`. These are the bytes that lie on disk and that the cap counts (D37).
    #[must_use]
    pub fn normalized(&self) -> String {
        // It cannot fail: every key is a string, no part has an error of its own, and memory takes every byte.
        serde_json::to_string(self).unwrap_or_default()
    }
}
