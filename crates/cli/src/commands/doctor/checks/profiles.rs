//! The agent profiles that a session of the project would load, with the service's eyes: a task needs one with the role that it
//! asks for, and what is left out is said (D27, D56).

use profiles::{Note, Reason};
use queue::{AcceptanceRole, Agent};

use super::super::repair::Repair;
use super::{Finding, Subject, World, opened};
use crate::commands::init;
use crate::shell::quoted;

/// More notes of one project are counted.
const MOST_NOTES: usize = 12;

/// Roles first, then what does not count.
pub(super) fn check(world: &World, subject: &Subject) -> Vec<Finding> {
    let loaded = profiles::load(&handoffd::agents::places(&subject.path, &world.service.env));
    let unusable = loaded.notes.iter().any(|note| matches!(note.reason, Reason::SettingsUnusable(_)));
    let mut findings: Vec<Finding> = match unusable {
        true => Vec::new(),
        false => roles(subject, &loaded.agents),
    };
    let shown = loaded.notes.iter().filter(|note| !matches!(note.reason, Reason::Disabled { .. }));
    let notes: Vec<Finding> = shown.map(note).collect();
    let more = notes.len().saturating_sub(MOST_NOTES);
    findings.extend(notes.into_iter().take(MOST_NOTES));
    if more > 0 {
        findings.push(Finding::note(format!("{more} more profiles or places do not count")));
    }
    findings
}

fn roles(subject: &Subject, agents: &[Agent]) -> Vec<Finding> {
    let of = |role: AcceptanceRole| agents.iter().filter(|agent| agent.role == Some(role)).count();
    let (writers, readers) = (of(AcceptanceRole::Writer), of(AcceptanceRole::ReadOnly));
    if writers + readers == 0 {
        let what = "no agent profile has an `acceptanceRole`, so no task can end COMPLETE".to_owned();
        return vec![lacking(subject, what, Finding::fault, &[AcceptanceRole::Writer, AcceptanceRole::ReadOnly])];
    }
    let lacks = |role: AcceptanceRole, tasks: &str| {
        let what = format!("no agent profile has `acceptanceRole: {}`: no {tasks} can end COMPLETE", role.as_str());
        lacking(subject, what, Finding::warning, &[role])
    };
    let mut findings = Vec::new();
    if writers == 0 {
        findings.push(lacks(AcceptanceRole::Writer, "IMPLEMENT, TEST or DOCUMENT task"));
    }
    if readers == 0 {
        findings.push(lacks(AcceptanceRole::ReadOnly, "CONSULT or REVIEW task, and no gate,"));
    }
    if findings.is_empty() {
        let all = agents.len();
        findings.push(Finding::good(format!("of {all} agents, {writers} may write and {readers} only read")));
    }
    findings
}

/// An example helps only where its name is free: a file that a person wrote stays as it is.
fn lacking(
    subject: &Subject,
    what: String,
    finding: fn(String, String) -> Finding,
    roles: &[AcceptanceRole],
) -> Finding {
    if !roles.iter().any(|role| init::lacks_example(&subject.path, *role)) {
        return finding(what, "set `acceptanceRole` in a profile that counts".to_owned());
    }
    let init = format!("handoff init {}", quoted(&subject.path.to_string_lossy()));
    finding(format!("{what}; there are examples, or set `acceptanceRole` in a profile"), init)
        .repaired_by(Repair::MakeProfiles(subject.path.clone()))
}

fn note(note: &Note) -> Finding {
    let what = note.to_string();
    match &note.reason {
        Reason::SettingsUnusable(_) => {
            let command = opened(&note.path);
            Finding::fault(what, command.unwrap_or("correct the settings file: Pi cannot use it either".to_owned()))
        }
        Reason::NotAFolder => Finding::warning(what, store::put_aside(&note.path)),
        Reason::ProviderOverrides => Finding::note(what),
        Reason::Ambiguous { .. } => Finding::warning(what, "rename one of them; launch the others by their full names"),
        Reason::PastLimit | Reason::Cut { .. } => Finding::warning(what, "remove what is not needed"),
        Reason::OutsidePlace => {
            Finding::warning(what, "put the file itself there, or keep what the link leads to at home")
        }
        Reason::Unreadable { .. } => {
            Finding::warning(what, opened(&note.path).unwrap_or("make it readable".to_owned()))
        }
        _ => Finding::warning(what, "correct the profile: pi-subagents does not load it either"),
    }
}
