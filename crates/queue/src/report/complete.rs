//! The rules of a COMPLETE report, member by member (D27, D39, D51–D55). All failed checks are noted.

use std::borrow::Cow;

use super::contradiction::{self, Claim};
use super::object::{Object, strings, wrong_type};
use super::{ReportContext, files};
use crate::json::Raw;
use crate::text::{Shown, has_line_break, is_blank, is_longer_than};
use crate::{AcceptanceRole, Agent, AgentLookup, Code, Gate, Planner, Problem, Thinking, find_agent, limits};

type Problems = Vec<Problem>;

pub(super) fn check(report: &Object<'_>, planner: &Planner, context: &ReportContext<'_>, problems: &mut Problems) {
    let worker = worker(report, planner, context, problems);
    gate_evidence(report, planner, &worker, context, problems);
    async_status(report, context, problems);
    files::check(report, planner, context.paths, problems);
    if let Some(raw) = report.get("tests_run") {
        strings("tests_run", raw, problems);
    }
    report.required_text("result", problems);
    error(report, problems);
}

/// What one entry claims, as far as it could be read, and the profile it names.
#[derive(Default)]
struct Entry<'a> {
    agent_text: Option<Cow<'a, str>>,
    agent: Option<&'a Agent>,
    run_id: Option<Cow<'a, str>>,
}

fn worker<'a>(
    report: &Object<'a>,
    planner: &Planner,
    context: &ReportContext<'a>,
    problems: &mut Problems,
) -> Entry<'a> {
    let Some(raw) = report.required("worker", problems) else { return Entry::default() };
    if raw.is_null() {
        let rest = "is null; COMPLETE needs the agent that did the task, with its run";
        problems.push(Problem::at("worker", Code::WorkerRequired, rest));
        return Entry::default();
    }
    let Some(worker) = Object::read("worker", raw) else {
        problems.push(wrong_type("worker", raw, "an object"));
        return Entry::default();
    };
    let agent_text = worker.required_text("agent", problems);
    let agent = agent_text.as_deref().and_then(|text| profile(&worker, text, context.agents, problems));
    if let Some(agent) = agent {
        role(&worker, agent, planner.task_type.role(), problems);
    }
    let run_id = worker.required_text("run_id", problems);
    ended_well(&worker, Code::WorkerNotComplete, problems);
    worker.required_text("result", problems);
    let model = model(&worker, problems);
    let thinking = thinking(&worker, problems);
    if let Some(agent) = agent {
        pins(&worker, agent, model.as_deref(), thinking, problems);
    }
    let claim = Claim { agent: agent_text.as_deref(), run_id: run_id.as_deref(), model: model.as_deref(), thinking };
    contradiction::check(&worker, &claim, context, problems);
    Entry { agent_text, agent, run_id }
}

fn gate_evidence(
    report: &Object<'_>,
    planner: &Planner,
    worker: &Entry<'_>,
    context: &ReportContext<'_>,
    problems: &mut Problems,
) {
    let name = "gate_evidence";
    let entries = match report.given(name) {
        None => Vec::new(),
        Some(raw) => match raw.items() {
            Some(entries) => entries,
            None => return problems.push(wrong_type(name, raw, "an array")),
        },
    };
    let gate = planner.gate;
    match (gate, entries.len()) {
        (Gate::None, 0) => return,
        (Gate::None, _) => {
            let rest = "has an entry, but the task has no gate; leave it empty";
            return problems.push(Problem::at(name, Code::GateUnexpected, rest));
        }
        (_, 0) => {
            let rest =
                format!("is empty, but the task has the gate `{gate}`; let an independent read-only agent do it");
            return problems.push(Problem::at(name, Code::GateMissing, rest));
        }
        (_, limits::GATE_ENTRIES) => {}
        (_, many) => {
            let rest = format!("has {many} entries, the task has one gate; keep the one that counts");
            problems.push(Problem::at(name, Code::TooManyItems, rest));
        }
    }
    for (index, raw) in entries.into_iter().take(limits::PROBLEMS_OF_A_LIST).enumerate() {
        gate_entry(&format!("{name}[{index}]"), raw, gate, worker, context, problems);
    }
}

fn gate_entry(
    path: &str,
    raw: Raw<'_>,
    gate: Gate,
    worker: &Entry<'_>,
    context: &ReportContext<'_>,
    problems: &mut Problems,
) {
    let Some(entry) = Object::read(path, raw) else {
        return problems.push(wrong_type(path, raw, "an object"));
    };
    if let Some(text) = entry.required_string("gate", problems).filter(|text| *text != gate.as_str()) {
        let rest = format!("is {}; the task's gate is `{gate}`", Shown(&text));
        problems.push(entry.problem("gate", Code::GateMismatch, rest));
    }
    let agent_text = entry.required_text("agent", problems);
    if let Some(text) = agent_text.as_deref() {
        gate_agent(&entry, text, worker, context.agents, problems);
    }
    let run_id = entry.required_text("run_id", problems);
    if run_id.is_some() && run_id == worker.run_id {
        let rest = "is the worker's run; the gate needs a run of its own";
        problems.push(entry.problem("run_id", Code::GateRunIdReused, rest));
    }
    ended_well(&entry, Code::GateNotComplete, problems);
    entry.required_text("result", problems);
    if entry.get("independent").and_then(Raw::as_bool) != Some(true) {
        let rest = "is not true; the gate's agent must not have taken part in the work";
        problems.push(entry.problem("independent", Code::GateNotIndependent, rest));
    }
    // The form only: pins bind the worker (D55).
    let model = model(&entry, problems);
    let thinking = thinking(&entry, problems);
    let claim = Claim { agent: agent_text.as_deref(), run_id: run_id.as_deref(), model: model.as_deref(), thinking };
    contradiction::check(&entry, &claim, context, problems);
}

fn gate_agent(entry: &Object<'_>, text: &str, worker: &Entry<'_>, agents: &[Agent], problems: &mut Problems) {
    let agent = profile(entry, text, agents, problems);
    let is_worker = match (agent, worker.agent) {
        (Some(agent), Some(worker)) => agent == worker,
        _ => worker.agent_text.as_deref() == Some(text),
    };
    if is_worker {
        let rest = format!("is {}, the worker itself; the gate needs another agent", Shown(text));
        problems.push(entry.problem("agent", Code::GateAgentIsWorker, rest));
    }
    if let Some(agent) = agent {
        role(entry, agent, AcceptanceRole::ReadOnly, problems);
    }
}

fn profile<'a>(entry: &Object<'_>, text: &str, agents: &'a [Agent], problems: &mut Problems) -> Option<&'a Agent> {
    let rest = match find_agent(agents, text) {
        AgentLookup::Found(agent) => return Some(agent),
        AgentLookup::Ambiguous => format!("is {}, which fits two agents; give the full name", Shown(text)),
        AgentLookup::Unknown => {
            let near = agents.iter().map(Agent::full_name).find(|name| name.eq_ignore_ascii_case(text.trim()));
            let hint = near.map_or_else(String::new, |name| format!(" (did you mean {}?)", Shown(&name)));
            format!("is {}; no agent profile has that name{hint}", Shown(text))
        }
    };
    problems.push(entry.problem("agent", Code::UnknownAgent, rest));
    None
}

fn role(entry: &Object<'_>, agent: &Agent, wanted: AcceptanceRole, problems: &mut Problems) {
    if agent.role == Some(wanted) {
        return;
    }
    let has =
        agent.role.map_or_else(|| "no `acceptanceRole`".to_owned(), |role| format!("the role `{}`", role.as_str()));
    let rest = format!("is {}, which has {has}; `{}` is needed here", Shown(&agent.full_name()), wanted.as_str());
    problems.push(entry.problem("agent", Code::AgentRoleMismatch, rest));
}

/// `status` is `COMPLETE`; another word than the two is unknown only (D51).
fn ended_well(entry: &Object<'_>, not_complete: Code, problems: &mut Problems) {
    let Some(text) = entry.required_string("status", problems) else { return };
    match &*text {
        "COMPLETE" => {}
        "ERROR" => problems.push(entry.problem("status", not_complete, "is ERROR; COMPLETE needs a run that ended so")),
        _ => {
            let rest = format!("is {}; it must be `COMPLETE` or `ERROR`", Shown(&text));
            problems.push(entry.problem("status", Code::UnknownValue, rest));
        }
    }
}

fn model<'a>(entry: &Object<'a>, problems: &mut Problems) -> Option<Cow<'a, str>> {
    let text = entry.required_string("model", problems)?;
    if is_blank(&text) || has_line_break(&text) || is_longer_than(&text, limits::MODEL_CHARS) {
        let rest = format!("is {}; it must be one line of 1 to {} characters", Shown(&text), limits::MODEL_CHARS);
        problems.push(entry.problem("model", Code::InvalidModel, rest));
        return None;
    }
    Some(text)
}

fn thinking(entry: &Object<'_>, problems: &mut Problems) -> Option<Thinking> {
    let text = entry.required_string("thinking", problems)?;
    let level = Thinking::from_word(&text);
    if level.is_none() {
        let words = Thinking::ALL.map(|level| format!("`{}`", level.as_str())).join(", ");
        let rest = format!("is {}; it must be one of {words}", Shown(&text));
        problems.push(entry.problem("thinking", Code::InvalidThinking, rest));
    }
    level
}

/// The profile's pins, where it has any (D27, D55).
fn pins(worker: &Object<'_>, agent: &Agent, model: Option<&str>, thinking: Option<Thinking>, problems: &mut Problems) {
    if let (Some(pin), Some(model)) = (&agent.model_pin, model)
        && Thinking::split_model(model).0 != pin
    {
        let rest = format!("is {}; the profile pins {}", Shown(model), Shown(pin));
        problems.push(worker.problem("model", Code::ModelMismatch, rest));
    }
    if let (Some(pin), Some(level)) = (agent.thinking_pin, thinking)
        && level != pin
    {
        let rest = format!("is `{}`; the profile pins `{}`", level.as_str(), pin.as_str());
        problems.push(worker.problem("thinking", Code::ThinkingMismatch, rest));
    }
}

/// What the model says of the runs, joined with what was observed (D50).
fn async_status(report: &Object<'_>, context: &ReportContext<'_>, problems: &mut Problems) {
    let status = report.required("async_status", problems).and_then(|raw| {
        let status = Object::read("async_status", raw);
        if status.is_none() {
            problems.push(wrong_type("async_status", raw, "an object"));
        }
        status
    });
    if let Some(status) = &status
        && status.get("checked").and_then(Raw::as_bool) != Some(true)
    {
        let rest = "is not true; look at `subagent({ action: \"status\" })` first";
        problems.push(status.problem("checked", Code::AsyncNotChecked, rest));
    }
    let wait = "wait for it, then report again";
    let over = "a failed run cannot be undone: only an ERROR report is possible, `handoff retry` starts over";
    let observed = contradiction::live_and_failed(context.observed);
    runs(status.as_ref(), "pending_run_ids", observed.0, Code::RunsPending, wait, problems);
    runs(status.as_ref(), "failed_run_ids", observed.1, Code::RunsFailed, over, problems);
}

fn runs(
    status: Option<&Object<'_>>,
    key: &str,
    observed: Vec<&str>,
    code: Code,
    remedy: &str,
    problems: &mut Problems,
) {
    let path = format!("async_status.{key}");
    let claimed = status.and_then(|status| status.required(key, problems));
    let mut ids = claimed.map_or_else(Vec::new, |raw| strings(&path, raw, problems));
    ids.extend(observed.into_iter().map(Cow::Borrowed));
    if let Some(first) = ids.first() {
        let more = if ids.len() > 1 { format!(" and {} more", ids.len() - 1) } else { String::new() };
        problems.push(Problem::at(path, code, format!("names {}{more}; {remedy}", Shown(first))));
    }
}

fn error(report: &Object<'_>, problems: &mut Problems) {
    let Some(raw) = report.given("error") else { return };
    match raw.as_str() {
        None => problems.push(wrong_type("error", raw, "a string or null")),
        Some(text) if is_blank(&text) => {}
        Some(text) => {
            let rest = format!("is {}; a COMPLETE report has none: report ERROR or leave it out", Shown(&text));
            problems.push(Problem::at("error", Code::ErrorNotAllowed, rest));
        }
    }
}
