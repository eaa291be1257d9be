//! The stages of compression, gentlest first. Each has a file; `fit` says when which of them runs.

pub(crate) mod bisect;
pub(crate) mod tool_echoes;
pub(crate) mod turn_trim;

use std::fmt;

/// A way to make a conversation smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Long turns keep their beginning.
    TurnTrim,
    /// Results of tools older than the last three become a stub.
    DropOldestToolEchoes,
    /// The older half of the turns becomes a summary, again and again while there are enough of them.
    BisectAndSummarize,
}

impl Stage {
    /// Its name where programs read it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TurnTrim => "turn_trim",
            Self::DropOldestToolEchoes => "drop_oldest_tool_echoes",
            Self::BisectAndSummarize => "bisect_and_summarize",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
