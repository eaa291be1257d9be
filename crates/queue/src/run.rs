//! Runs of sub-agents: one shape everywhere (D49).

/// A run that the session's client observed for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The package's run id; `tool:<toolCallId>` for a foreground run (D50).
    pub run_id: String,
    /// The agent's name as the package told it.
    pub agent: String,
    /// Whether it runs beside the main turn; absent on the wire is true.
    pub background: bool,
    /// What became of it.
    pub state: RunState,
    /// `provider/id`, possibly with a `:level` suffix.
    pub model: Option<String>,
    /// The thinking level as reported.
    pub thinking: Option<String>,
    /// The run's result text.
    pub result: Option<String>,
    /// The run that started it.
    pub parent_run_id: Option<String>,
    /// Its process, when known.
    pub pid: Option<u32>,
}

/// States on the wire (D49); any other word counts as running.
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
    /// The state that a word of the wire or of pi-subagents means (D49).
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

    /// Whether the run may still act.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Running)
    }
}

/// The runs of one task that were observed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// Whether every run of the task was seen; only then can an unknown run id contradict.
    pub all: bool,
    /// In the order they were first seen.
    pub runs: Vec<Run>,
}
