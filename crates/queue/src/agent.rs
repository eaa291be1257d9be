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

impl AcceptanceRole {
    /// The word in profiles.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::ReadOnly => "read-only",
        }
    }
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

/// What a text names among the loaded agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentLookup<'a> {
    /// One agent.
    Found(&'a Agent),
    /// Two agents or more: the package refuses to launch it (D56).
    Ambiguous,
    /// None.
    Unknown,
}

/// Looks an agent up as pi-subagents does when it launches one (D39, D56): an exact full or local name; only where no
/// agent has that, an alias. A text that fits two agents fits none, even if it is the full name of one.
#[must_use]
pub fn find_agent<'a>(agents: &'a [Agent], text: &str) -> AgentLookup<'a> {
    let is_named = |agent: &&Agent| agent.name == text || agent.full_name() == text;
    let has_alias = |agent: &&Agent| agent.aliases.iter().any(|alias| alias == text);
    match one(agents.iter().filter(is_named)) {
        AgentLookup::Unknown => one(agents.iter().filter(has_alias)),
        named => named,
    }
}

fn one<'a>(mut agents: impl Iterator<Item = &'a Agent>) -> AgentLookup<'a> {
    match (agents.next(), agents.next()) {
        (None, _) => AgentLookup::Unknown,
        (Some(agent), None) => AgentLookup::Found(agent),
        (Some(_), Some(_)) => AgentLookup::Ambiguous,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(package: Option<&str>, name: &str, aliases: &[&str]) -> Agent {
        Agent {
            name: name.into(),
            package: package.map(Into::into),
            aliases: aliases.iter().map(ToString::to_string).collect(),
            role: None,
            model_pin: None,
            thinking_pin: None,
        }
    }

    #[track_caller]
    fn check(agents: &[Agent], text: &str, expected: Option<&str>) {
        let found = match find_agent(agents, text) {
            AgentLookup::Found(agent) => Some(agent.full_name()),
            AgentLookup::Ambiguous | AgentLookup::Unknown => None,
        };
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn lookup_follows_the_package() {
        let agents = [
            agent(Some("acme"), "fixer", &["f"]),
            agent(None, "fixer", &["f"]),
            agent(Some("acme"), "coder", &["builder", "c"]),
            agent(None, "builder", &[]),
        ];
        check(&agents, "acme.fixer", Some("acme.fixer"));
        check(&agents, "fixer", None);
        check(&agents, "f", None);
        check(&agents, "coder", Some("acme.coder"));
        check(&agents, "c", Some("acme.coder"));
        check(&agents, "builder", Some("builder"));
        check(&agents, "Builder", None);
        check(&agents, "", None);
    }

    #[test]
    fn only_known_levels_are_split_off() {
        assert_eq!(Thinking::split_model("a/b:low"), ("a/b", Some(Thinking::Low)));
        assert_eq!(Thinking::split_model("a/b:free"), ("a/b:free", None));
        assert_eq!(Thinking::split_model("low"), ("low", None));
    }
}
