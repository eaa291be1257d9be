//! The objects inside a packet. Each refuses unknown keys, repeated keys and lists in its place (D31).

use crate::object::object;
use crate::words::AssertionKind;

object! {
    /// A numbered limit of the work. Never shortened, never left out of a prompt.
    #[derive(Eq)]
    pub struct Constraint {
        /// Unique in the packet when trimmed, in any ASCII case; at most [`CONSTRAINT_ID_MAX_CHARS`](crate::CONSTRAINT_ID_MAX_CHARS).
        pub id: String,
        /// At most [`CONSTRAINT_TEXT_MAX_CHARS`](crate::CONSTRAINT_TEXT_MAX_CHARS).
        pub text: String,
    }
}

object! {
    /// A condition that a machine can check.
    #[derive(Eq)]
    pub struct Assertion {
        /// What is demanded.
        pub kind: AssertionKind,
        /// The tool or the substring; at most [`ASSERTION_TOKEN_MAX_CHARS`](crate::ASSERTION_TOKEN_MAX_CHARS).
        pub value: String,
    }
}

object! {
    /// A reference to something that lies elsewhere. Never its bytes.
    #[derive(Eq)]
    pub struct ArtifactRef {
        /// Its id in `artifacts.jsonl`.
        pub id: String,
        /// Where it lies.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub path: Option<String>,
        /// The hash that its sender saw.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub sha256: Option<String>,
    }
}

object! {
    /// What the sender holds for true, with what it rests on.
    #[derive(Eq, Default)]
    pub struct Finding {
        /// The statement.
        #[serde(default)]
        pub text: String,
        /// Ids of its evidence. Without any the finding is a claim.
        #[serde(default)]
        pub evidence: Vec<String>,
    }
}

impl Finding {
    /// Whether nothing is named that it rests on. A blank entry names nothing.
    #[must_use]
    pub fn is_claim(&self) -> bool {
        self.evidence.iter().all(|id| id.trim().is_empty())
    }
}

object! {
    /// Tools that the sender would like allowed or denied. Carried, and read by nothing: a denial here has no effect.
    #[derive(Eq, Default)]
    pub struct ToolScope {
        /// Names of tools.
        #[serde(default)]
        pub allowed: Vec<String>,
        /// Names of tools.
        #[serde(default)]
        pub denied: Vec<String>,
    }
}

impl ToolScope {
    /// Whether both lists are empty; then it is not written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty() && self.denied.is_empty()
    }
}

object! {
    /// What the work may cost. An unset value means that the dispatcher's own limit applies, not that there is none.
    #[derive(Copy, Default)]
    pub struct Budget {
        /// Turns of the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_turns: Option<u32>,
        /// Tokens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_tokens: Option<u64>,
        /// Seconds of wall-clock time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub wall_clock_secs: Option<u64>,
        /// US dollars. Any finite number can be read; one that is not finite cannot be written and counts as unset.
        #[serde(default, skip_serializing_if = "is_unwritable")]
        pub max_cost_usd: Option<f64>,
    }
}

impl Budget {
    /// Whether nothing is set; then it is not written.
    #[must_use]
    pub fn is_unset(&self) -> bool {
        let numbers_unset = self.max_turns.is_none() && self.max_tokens.is_none() && self.wall_clock_secs.is_none();
        numbers_unset && is_unwritable(&self.max_cost_usd)
    }
}

/// JSON has no NaN and no infinity.
fn is_unwritable(cost: &Option<f64>) -> bool {
    !cost.is_some_and(f64::is_finite)
}
