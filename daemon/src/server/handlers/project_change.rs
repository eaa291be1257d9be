//! `project.remove`, `.enable`, `.disable`, `.pause`, `.resume`: what survives restarts (D77).

use crate::actor::mail::Control;
use crate::manager::Request;
use crate::peer::Responder;
use crate::server::{Service, find};

/// The manager makes the change durable and passes it on; the project's actor answers with its state.
pub(super) async fn handle(service: &Service, project: &str, change: Control, answer: Responder) {
    match find::named(&service.hub, project).await {
        Ok(entry) => service.manager.send(Request::Change { path: entry.project.path, change, answer }).await,
        Err(error) => answer.error(error),
    }
}
