//! Runs of sub-agents as they are told on the wire: one shape everywhere (D49).

use crate::object::objects;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A run that a session's client observed for a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote, extend("required" = ["run_id", "agent", "state"]))]
pub struct Run {
    /// The package's run id; `tool:<toolCallId>` for a foreground run (D50).
    pub run_id: String,
    /// The agent's name as the package told it.
    pub agent: String,
    /// Whether it runs beside the main turn; absent is true.
    #[serde(default = "background_by_default", deserialize_with = "background")]
    pub background: bool,
    /// What became of it. Any other word counts as `running`.
    pub state: RunState,
    /// `provider/id`, possibly with a `:level` suffix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The thinking level as reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The run's result text, at most 4,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The run that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<String>,
    /// Its process, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

const fn background_by_default() -> bool {
    true
}

fn background<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(true))
}

/// What became of a run (D49).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    /// Live.
    Running,
    /// Finished well.
    Complete,
    /// Finished badly: refuses COMPLETE.
    Failed,
    /// Ended on purpose: shown, refuses nothing.
    Stopped,
    /// Never existed: the launch was refused.
    Rejected,
}

impl RunState {
    /// The words of the wire.
    pub const WORDS: &[&str] = &["running", "complete", "failed", "stopped", "rejected"];

    /// The state that `word` means: `partial` is a failure, any word that is not listed is a live run.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        match word {
            "complete" => Self::Complete,
            "failed" | "partial" => Self::Failed,
            "stopped" => Self::Stopped,
            "rejected" => Self::Rejected,
            _ => Self::Running,
        }
    }

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Rejected => "rejected",
        }
    }
}

impl<'de> Deserialize<'de> for RunState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|word| Self::from_word(&word))
    }
}

impl Serialize for RunState {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for RunState {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RunState".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": Self::WORDS })
    }
}

/// The runs of a task that a client observed: a list, or an object that can say "these are all" (D49).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// Whether every run of the task was seen.
    pub all: bool,
    /// In the order they were first seen.
    pub runs: Vec<Run>,
}

/// The object form of [`Observed`].
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
struct ObservedObject {
    #[serde(default)]
    all: bool,
    #[serde(default)]
    runs: Vec<Run>,
}

objects!(Run, ObservedObject);

impl<'de> Deserialize<'de> for Observed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EitherForm;

        impl<'de> serde::de::Visitor<'de> for EitherForm {
            type Value = Observed;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of runs or an object with `all` and `runs`")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Observed, A::Error> {
                let runs = Vec::deserialize(serde::de::value::SeqAccessDeserializer::new(seq))?;
                Ok(Observed { all: false, runs })
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Observed, A::Error> {
                let deserializer = serde::de::value::MapAccessDeserializer::new(map);
                let ObservedObject { all, runs } = <ObservedObject as Deserialize>::deserialize(deserializer)?;
                Ok(Observed { all, runs })
            }
        }

        deserializer.deserialize_any(EitherForm)
    }
}

impl Serialize for Observed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.all {
            let object = ObservedObject { all: true, runs: self.runs.clone() };
            return Serialize::serialize(&object, serializer);
        }
        self.runs.serialize(serializer)
    }
}

impl JsonSchema for Observed {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Observed".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let list = generator.subschema_for::<Vec<Run>>();
        let run = generator.subschema_for::<Run>();
        schemars::json_schema!({
            "anyOf": [
                list,
                {
                    "type": "object",
                    "properties": { "all": { "type": "boolean" }, "runs": { "type": "array", "items": run } },
                    "required": ["all", "runs"]
                }
            ]
        })
    }
}
