//! The checks, one file each. Those of a project run beside the rest on a thread of their own: a file system that does not
//! answer must not take the answers about all else with it.

mod config;
mod daemon;
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

use std::sync::Arc;

use super::finding::{Finding, Named, State};
use super::service::Source;
use super::world::{Enabled, Hidden, PATIENCE, Subject, World, within};

pub(super) use leftovers::is_owned_at;

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
    ("profiles", profiles::check),
    ("leftovers", leftovers::check),
    ("events", events::check),
];

/// Everything that there is to say.
pub(super) fn all(world: &Arc<World>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, check) in WHOLE {
        let shared = Arc::clone(world);
        let told = within(PATIENCE * 4, move || check(&shared));
        let told = told.unwrap_or_else(|| {
            vec![Finding::fault("this check got no answer from a file system or a program", "look at mounts with `df`")]
        });
        findings.extend(told.into_iter().map(|finding| Finding { check: name, ..finding }));
    }
    if world.projects.is_empty() && world.registry.is_ok() {
        let none = Finding::note("no project is registered").remedy("handoff init DIR");
        findings.push(Finding { check: "projects", ..none });
    }
    for subject in &world.projects {
        findings.extend(of_project(world, subject));
    }
    findings
}

fn of_project(world: &Arc<World>, subject: &Subject) -> Vec<Finding> {
    let silent = || {
        let what = "its file system does not answer; the other projects go on";
        let remedy = "look at the mount with `df`; `handoff disable` the project until it is back";
        vec![Finding { check: "projects", ..Finding::fault(what, remedy) }]
    };
    let (shared, one) = (Arc::clone(world), subject.clone());
    let told = match subject.is_stuck() {
        true => None,
        false => within(PATIENCE, move || checks_of(&shared, &one)),
    };
    let named = Named { path: subject.path.to_string_lossy().into_owned(), name: subject.name.clone() };
    let told = told.unwrap_or_else(silent).into_iter();
    told.map(|finding| Finding { project: Some(named.clone()), ..finding }).collect()
}

/// A folder that is not there, and a project that is switched off, have nothing to look at but that.
fn checks_of(world: &World, subject: &Subject) -> Vec<Finding> {
    let (checks, of_pi) = match subject.enabled {
        Enabled::Yes if folders::can_open(subject) => (OF_PROJECT, OF_PI),
        Enabled::Yes if subject.path.is_dir() => (OF_PROJECT, &[][..]),
        Enabled::Yes | Enabled::No => (&OF_PROJECT[..1], &[][..]),
    };
    let mut findings = Vec::new();
    for (name, check) in checks.iter().chain(of_pi) {
        findings.extend(check(world, subject).into_iter().map(|finding| Finding { check: name, ..finding }));
    }
    told_once(findings)
}

/// What the daemon says of the project's state is no second fault where a check of the cause has the same remedy.
fn told_once(mut findings: Vec<Finding>) -> Vec<Finding> {
    let causes: Vec<Option<String>> = findings
        .iter()
        .filter(|finding| finding.check != "projects" && finding.state == State::Fault)
        .map(|finding| finding.remedy.clone())
        .collect();
    for finding in findings.iter_mut().filter(|finding| finding.check == "projects") {
        if causes.contains(&finding.remedy) {
            (finding.state, finding.remedy) = (State::Note, None);
        }
    }
    findings
}
