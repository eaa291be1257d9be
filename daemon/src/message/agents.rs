//! Which of the loaded agents a report could name: the same lookup and roles as its check (D27, D56). No prose here.

use queue::{AcceptanceRole, Agent, AgentLookup, find_agent};

/// What the planner's preferred agent is worth here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preference {
    /// A report could name it as worker.
    Fits,
    /// It exists, but has another role or none.
    OtherRole,
    /// No agent has that name.
    Unknown,
    /// More than one has it, so it cannot be launched.
    Ambiguous,
}

pub(super) fn preference(agents: &[Agent], name: &str, role: AcceptanceRole) -> Preference {
    match find_agent(agents, name) {
        AgentLookup::Found(agent) if agent.role == Some(role) => Preference::Fits,
        AgentLookup::Found(_) => Preference::OtherRole,
        AgentLookup::Unknown => Preference::Unknown,
        AgentLookup::Ambiguous => Preference::Ambiguous,
    }
}

/// The full names of the agents with this role, without those whose full name fits a second agent, too.
pub(super) fn with_role(agents: &[Agent], role: AcceptanceRole) -> Vec<String> {
    let fits = agents.iter().filter(|agent| agent.role == Some(role));
    fits.map(Agent::full_name).filter(|name| matches!(find_agent(agents, name), AgentLookup::Found(_))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(package: Option<&str>, name: &str, role: Option<AcceptanceRole>) -> Agent {
        let package = package.map(str::to_owned);
        let aliases = vec![format!("{name}-alias")];
        Agent { name: name.to_owned(), package, aliases, role, model_pin: None, thinking_pin: None }
    }

    #[test]
    fn only_agents_that_a_report_could_name() {
        let (writer, reader) = (Some(AcceptanceRole::Writer), Some(AcceptanceRole::ReadOnly));
        let agents = [
            agent(None, "builder", writer),
            agent(None, "worker", None),
            agent(Some("acme"), "fixer", writer),
            agent(None, "checker", reader),
            agent(None, "twin", writer),
            agent(Some("acme"), "twin", writer),
        ];
        assert_eq!(with_role(&agents, AcceptanceRole::Writer), ["builder", "acme.fixer", "acme.twin"]);
        assert_eq!(with_role(&agents, AcceptanceRole::ReadOnly), ["checker"]);
        for (name, expected) in [
            ("builder", Preference::Fits),
            ("fixer", Preference::Fits),
            ("builder-alias", Preference::Fits),
            ("worker", Preference::OtherRole),
            ("checker", Preference::OtherRole),
            ("Builder", Preference::Unknown),
            ("twin", Preference::Ambiguous),
        ] {
            assert_eq!(preference(&agents, name, AcceptanceRole::Writer), expected, "{name}");
        }
    }
}
