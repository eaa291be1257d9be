//! Claims against observations (D28, D50): where a report says something else than what was seen.

use super::ReportContext;
use super::object::Object;
use crate::text::Shown;
use crate::{Agent, AgentLookup, Code, Observed, Problem, Run, RunState, Thinking, find_agent};

/// What one entry of the report claims; `None` where it could not be read.
pub(super) struct Claim<'a> {
    pub(super) agent: Option<&'a str>,
    pub(super) run_id: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    pub(super) thinking: Option<Thinking>,
}

/// The ids of the observed live and of the observed failed runs.
pub(super) fn live_and_failed(observed: Option<&Observed>) -> (Vec<&str>, Vec<&str>) {
    let runs = observed.map_or(&[][..], |observed| &observed.runs);
    let ids = |wanted: fn(RunState) -> bool| {
        runs.iter().filter(|run| wanted(run.state)).map(|run| run.run_id.as_str()).collect()
    };
    (ids(RunState::is_live), ids(|state| state == RunState::Failed))
}

/// Notes each member of `entry` that an observation contradicts.
pub(super) fn check(entry: &Object<'_>, claim: &Claim<'_>, context: &ReportContext<'_>, problems: &mut Vec<Problem>) {
    let (Some(observed), Some(run_id)) = (context.observed, claim.run_id) else { return };
    if let Some(run) = observed.runs.iter().find(|run| run.run_id == run_id) {
        problems.extend(differences(claim, run, context.agents).into_iter().map(|found| found.at(entry)));
        return;
    }
    let is_agents = |run: &&Run| claim.agent.is_some_and(|agent| is_same_agent(agent, &run.agent, context.agents));
    let foreground: Vec<_> = observed.runs.iter().filter(|run| !run.background).collect();
    if observed.all && foreground.is_empty() {
        let what = format!("is {}; every run was observed, and none has that id", Shown(run_id));
        problems.push(entry.problem("run_id", Code::ContradictsObserved, what));
    } else if observed.all && claim.agent.is_some() && !observed.runs.iter().any(|run| is_agents(&run)) {
        let what = "is an agent of which no run was observed, and every run was";
        problems.push(entry.problem("agent", Code::ContradictsObserved, what));
    } else {
        // Foreground runs have no id that a model could know: one of this agent's must fit the claim.
        let found = foreground.into_iter().filter(is_agents).map(|run| differences(claim, run, context.agents));
        let closest = found.min_by_key(Vec::len).unwrap_or_default();
        problems.extend(closest.into_iter().map(|found| found.at(entry)));
    }
}

/// A member whose claim differs.
struct Difference {
    member: &'static str,
    what: String,
}

impl Difference {
    fn at(self, entry: &Object<'_>) -> Problem {
        entry.problem(self.member, Code::ContradictsObserved, self.what)
    }
}

fn differences(claim: &Claim<'_>, run: &Run, agents: &[Agent]) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differs = |member, claimed: &str, seen: &str| {
        let what = format!("is {}, but {} was observed for this run", Shown(claimed), Shown(seen));
        found.push(Difference { member, what });
    };
    if let Some(agent) = claim.agent.filter(|agent| !is_same_agent(agent, &run.agent, agents)) {
        differs("agent", agent, &run.agent);
    }
    if let (Some(claimed), Some(seen)) = (claim.model, run.model.as_deref())
        && Thinking::split_model(claimed).0 != Thinking::split_model(seen).0
    {
        differs("model", claimed, seen);
    }
    // A word that is no level has no effect in pi-subagents, and no claim could ever agree with it.
    if let (Some(claimed), Some(seen)) = (claim.thinking, run.thinking.as_deref().and_then(Thinking::from_word))
        && claimed != seen
    {
        differs("thinking", claimed.as_str(), seen.as_str());
    }
    found
}

/// The same text, or two names of one profile.
fn is_same_agent(claimed: &str, seen: &str, agents: &[Agent]) -> bool {
    if claimed == seen {
        return true;
    }
    match (find_agent(agents, claimed), find_agent(agents, seen)) {
        (AgentLookup::Found(claimed), AgentLookup::Found(seen)) => claimed == seen,
        _ => false,
    }
}
