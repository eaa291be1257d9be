//! `daemon.status`: everything that is to be seen (promise 7). Every actor is asked; none is waited for for long.

use std::time::Duration;

use tokio::task::JoinSet;
use wire::status::{DaemonDetail, ProjectState, ProjectStatus, ProjectWatch, QueueStatus, Status, WatchMode};

use crate::actor::mail::ProjectRef;
use crate::clock;
use crate::peer::Responder;
use crate::projects::ask_status;
use crate::server::Service;

/// How long one actor may take; all are asked side by side.
const ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// Answers also when projects do not.
pub(super) async fn handle(service: &Service, answer: Responder) {
    let projects = projects(service.hub.projects.all()).await;
    answer.result(&Status { daemon: daemon(service), projects });
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

async fn projects(all: Vec<ProjectRef>) -> Vec<ProjectStatus> {
    let mut asked = JoinSet::new();
    for (index, project) in all.into_iter().enumerate() {
        asked.spawn(
            async move { (index, ask_status(&project, ANSWER_WITHIN).await.unwrap_or_else(|| silent(&project))) },
        );
    }
    let mut answers = asked.join_all().await;
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, status)| status).collect()
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
        watch: ProjectWatch { mode: WatchMode::Poll, reason: None },
        warnings: Vec::new(),
    }
}
