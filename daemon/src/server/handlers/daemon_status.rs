//! `daemon.status`: everything that is to be seen (promise 7). Every actor is asked; none is waited for for long.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use wire::error::ErrorObject;
use wire::status::{
    DaemonDetail, MemberStatus, ProjectState, ProjectStatus, ProjectWatch, QueueStatus, Status, WatchMode,
};

use crate::actor::mail::ProjectRef;
use crate::clock;
use crate::peer::{Pieces, Responder};
use crate::projects::ask_status;
use crate::server::Service;

/// How long one actor may take.
const ANSWER_WITHIN: Duration = Duration::from_millis(500);
/// So many are asked side by side: enough that many silent ones cost little time, few enough that a thousand projects
/// cost little memory.
const MOST_ASKED: usize = 64;

/// So long after the start of the daemon `starting` passes in a moment, and is not what a person wants to see.
const STARTS: Duration = Duration::from_secs(5);
/// How long an answer waits for the first look at every project.
const FIRST_LOOKS: Duration = Duration::from_secs(1);
/// After which a project that still starts is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(10);

/// Answers also when projects do not.
pub(super) async fn handle(service: &Service, answer: Responder) {
    if service.hub.uptime() < STARTS {
        timeout(FIRST_LOOKS, first_looks(service.hub.projects.all())).await.ok();
    }
    let members = service.hub.team.shown().await;
    match projects(service.hub.projects.all(), members).await {
        Ok(projects) => answer.result_with_list(&Status { daemon: daemon(service), projects: Vec::new() }, projects),
        Err(error) => answer.error(ErrorObject::internal(&error.to_string())),
    }
}

async fn first_looks(all: Vec<ProjectRef>) {
    for project in all {
        while ask_status(&project, ANSWER_WITHIN).await.is_some_and(|status| status.state == ProjectState::Starting) {
            sleep(ASK_AGAIN).await;
        }
    }
}

fn daemon(service: &Service) -> DaemonDetail {
    let hub = &service.hub;
    let shown = service.manager.shown();
    DaemonDetail {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        instance: hub.instance.clone(),
        started_at: hub.started_at.clone(),
        socket: service.socket.clone(),
        outdated: service.program.is_outdated(),
        config: shown.config,
        watch: hub.watch.status(),
        warnings: shown.warnings,
    }
}

/// The answers in the order of the registry, each written down as it comes: a thousand of them take little memory so.
async fn projects(all: Vec<ProjectRef>, mut members: Vec<(Arc<Path>, MemberStatus)>) -> serde_json::Result<Pieces> {
    let mut list = Pieces::default();
    let mut asked = VecDeque::new();
    let mut rest = all.into_iter();
    loop {
        while asked.len() < MOST_ASKED
            && let Some(project) = rest.next()
        {
            asked.push_back(tokio::spawn(async move {
                ask_status(&project, ANSWER_WITHIN).await.unwrap_or_else(|| silent(&project))
            }));
        }
        let Some(next) = asked.pop_front() else { break };
        // The task neither panics nor is aborted.
        let Ok(mut status) = next.await else { continue };
        let here = members.extract_if(.., |(path, _)| **path == *Path::new(&status.path));
        status.members = here.map(|(_, member)| member).collect();
        list.push(&status)?;
    }
    Ok(list)
}

/// A project whose actor does not answer.
fn silent(project: &ProjectRef) -> ProjectStatus {
    ProjectStatus {
        path: project.path.to_string_lossy().into_owned(),
        name: project.name.to_string(),
        state: ProjectState::Stuck,
        reason: None,
        since: clock::Wall::now().to_string(),
        why: Some(format!("it did not answer within {} ms", ANSWER_WITHIN.as_millis())),
        next: None,
        queue: QueueStatus { status: None, task_id: None, problems: Vec::new() },
        task: None,
        lock: None,
        session: None,
        standby: 0,
        members: Vec::new(),
        watch: ProjectWatch { mode: WatchMode::Poll, reason: None },
        warnings: Vec::new(),
    }
}
