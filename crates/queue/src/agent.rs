//! Agent profiles as the report check sees them. The crate `profiles` fills these values from disk (D27, D55, D56).

/// What pi-subagents would really load for one profile, after precedence and settings overrides (D27).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The local name, from the key `name`.
    pub name: String,
    /// The key `package`; the full name is `<package>.<name>` when it is set.
    pub package: Option<String>,
    /// Other names; each fits only while no second agent has it.
    pub aliases: Vec<String>,
    /// The effective `acceptanceRole`; `None` when it is absent or empty.
    pub role: Option<AcceptanceRole>,
    /// The pinned model without a known thinking suffix; `None` when absent or `inherit`.
    pub model_pin: Option<String>,
    /// The pinned thinking level: a known suffix of the model, else the key `thinking` if it is a known word (D55).
    pub thinking_pin: Option<Thinking>,
}

impl Agent {
    /// The name that is unique among the loaded agents: `<package>.<name>`, or `name` without a package.
    #[must_use]
    pub fn full_name(&self) -> String {
        match &self.package {
            Some(package) => format!("{package}.{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// The label `acceptanceRole` of a profile. It routes and checks; it restricts no tool (queue protocol, "Limits").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptanceRole {
    /// `writer`: may do `IMPLEMENT`, `TEST` and `DOCUMENT` tasks.
    Writer,
    /// `read-only`: may do `CONSULT` and `REVIEW` tasks, and gates.
    ReadOnly,
}

/// A thinking level, least to most. The words are case-sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thinking {
    /// `off`
    Off,
    /// `minimal`
    Minimal,
    /// `low`
    Low,
    /// `medium`
    Medium,
    /// `high`
    High,
    /// `xhigh`
    XHigh,
    /// `max`
    Max,
}

impl Thinking {
    /// All levels, least first.
    pub const ALL: [Self; 7] = [Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::XHigh, Self::Max];

    /// The level that `word` names exactly.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }

    /// The word as it stands in profiles and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// Splits `model` at a known level suffix: `mock/think:low` is `("mock/think", Some(Low))`, `gw/m:free` stays whole.
    #[must_use]
    pub fn split_model(model: &str) -> (&str, Option<Self>) {
        match model.rsplit_once(':') {
            Some((base, word)) if Self::from_word(word).is_some() => (base, Self::from_word(word)),
            _ => (model, None),
        }
    }
}
