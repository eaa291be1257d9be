//! The checks, one file each. Each of the whole, and all those of one project, run on a thread of their own: a file system that
//! does not answer must not take the answers about all else with it.

mod config;
mod context;
mod daemon;
mod descriptors;
mod disk;
mod environment;
mod events;
mod folders;
mod inotify;
mod leftovers;
mod linger;
mod locks;
mod pi;
mod profiles;
mod projects;
mod queues;
mod socket;
mod team;
mod tracked;
mod unit;
mod versions;
mod work_logs;

use std::path::Path;
use std::sync::Arc;

use super::finding::{Finding, Named, State};
use super::patience::{ALL, Answer, PATIENCE, Question, ask_all};
use super::service::Source;
use super::world::{Enabled, Hidden, Subject, World};

pub(super) use leftovers::is_owned_at;

use crate::shell::quoted;

type Whole = fn(&World) -> Vec<Finding>;
type OfProject = fn(&World, &Subject) -> Vec<Finding>;

/// What is looked at once.
const WHOLE: &[(&str, Whole)] = &[
    ("daemon", daemon::check),
    ("socket", socket::check),
    ("unit", unit::check),
    ("environment", environment::check),
    ("linger", linger::check),
    ("versions", versions::check),
    ("configuration", config::check),
    ("inotify", inotify::check),
    ("descriptors", descriptors::check),
    ("disk", disk::check),
    ("pi", pi::check),
    ("team", team::check),
];

/// What is looked at in each project.
const OF_PROJECT: &[(&str, OfProject)] = &[
    ("projects", projects::check),
    ("folders", folders::check),
    ("queues", queues::check),
    ("tracked", tracked::check),
    ("disk", disk::of_project),
];

/// What is looked at in each project whose `.pi` can be opened.
const OF_PI: &[(&str, OfProject)] = &[
    ("locks", locks::check),
    ("work-logs", work_logs::check),
    ("context", context::check),
    ("profiles", profiles::check),
    ("leftovers", leftovers::check),
    ("events", events::check),
];

/// The command that opens a file or folder that cannot be read, where a mode forbids it.
fn opened(path: &Path) -> Option<String> {
    std::fs::File::open(path).err().and_then(|_| store::allow(path))
}

/// Everything that there is to say, always in the same order.
pub(super) fn all(world: &Arc<World>) -> Vec<Finding> {
    let whole = WHOLE.iter().map(|&(_, check)| {
        let world = Arc::clone(world);
        Question::new(ALL, move || check(&world))
    });
    let asked: Vec<&Subject> = world.projects.iter().filter(|subject| !subject.is_stuck()).collect();
    let projects = asked.iter().map(|&subject| {
        let (world, subject) = (Arc::clone(world), subject.clone());
        Question::new(PATIENCE, move || checks_of(&world, &subject))
    });
    let mut answers = ask_all(whole.chain(projects).collect(), ALL).into_iter();
    let mut findings = Vec::new();
    for ((name, _), answer) in WHOLE.iter().zip(answers.by_ref()) {
        let told = answer.given().unwrap_or_else(silent_check);
        findings.extend(told.into_iter().map(|finding| Finding { check: name, ..finding }));
    }
    if world.projects.is_empty() && world.registry.is_ok() {
        let none = Finding::note("no project is registered").remedy("handoff init DIR");
        findings.push(Finding { check: "projects", ..none });
    }
    for subject in &world.projects {
        // The daemon was told already that it does not answer.
        let answer = if subject.is_stuck() { None } else { answers.next() };
        findings.extend(of_project(subject, answer.unwrap_or(Answer::Silent)));
    }
    findings
}

fn silent_check() -> Vec<Finding> {
    vec![Finding::fault("this check got no answer from a file system or a program", MOUNTS)]
}

/// `df` would wait for the one that hangs.
const MOUNTS: &str = "look at the mounts with `findmnt`, which asks none of them";

fn of_project(subject: &Subject, answer: Answer<Vec<Finding>>) -> Vec<Finding> {
    let root = quoted(&subject.path.to_string_lossy());
    let of_projects = |finding| vec![Finding { check: "projects", ..finding }];
    let told = match answer {
        Answer::Given(told) => told,
        Answer::Silent => of_projects(Finding::fault(
            "its file system does not answer; the other projects go on",
            format!("{MOUNTS}; `handoff disable {root}` until it is back"),
        )),
        Answer::NotAsked => of_projects(Finding::fault(
            "it was not looked at: the file systems of other projects took all the time",
            MOUNTS,
        )),
    };
    let named = Named { path: subject.path.to_string_lossy().into_owned(), name: subject.name.clone() };
    told.into_iter().map(|finding| Finding { project: Some(named.clone()), ..finding }).collect()
}

/// A folder that is not there, and a project that is switched off, have nothing to look at but that.
fn checks_of(world: &World, subject: &Subject) -> Vec<Finding> {
    let (checks, of_pi) = match subject.enabled {
        Enabled::Yes if folders::can_open(subject) => (OF_PROJECT, OF_PI),
        // `folders` tells of it, and nothing else can be looked at.
        Enabled::Yes if folders::is_closed(subject) => (&OF_PROJECT[..2], &[][..]),
        Enabled::Yes if subject.path.is_dir() => (OF_PROJECT, &[][..]),
        Enabled::Yes | Enabled::No => (&OF_PROJECT[..1], &[][..]),
    };
    let mut findings = Vec::new();
    for (name, check) in checks.iter().chain(of_pi) {
        findings.extend(check(world, subject).into_iter().map(|finding| Finding { check: name, ..finding }));
    }
    told_once(findings)
}

/// What the daemon says of the project's state is no second fault where a check of the cause has the same remedy, and its warnings
/// are left out where a check has the same words.
fn told_once(mut findings: Vec<Finding>) -> Vec<Finding> {
    let causes: Vec<Option<String>> = findings
        .iter()
        .filter(|finding| finding.check != "projects" && finding.state == State::Fault)
        .map(|finding| finding.remedy.clone())
        .collect();
    let told: Vec<String> =
        findings.iter().filter(|finding| finding.check != "projects").map(|finding| finding.what.clone()).collect();
    findings.retain(|finding| {
        let is_warning = finding.check == "projects" && finding.state == State::Warning;
        !(is_warning && told.iter().any(|what| what.contains(&finding.what)))
    });
    for finding in findings.iter_mut().filter(|finding| finding.check == "projects") {
        if causes.contains(&finding.remedy) {
            (finding.state, finding.remedy) = (State::Note, None);
        }
    }
    findings
}
