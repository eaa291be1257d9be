//! `task.retry`: a new PENDING from an ended task.

use wire::control::TaskRetry;

use super::shared::pass_on;
use crate::actor::mail::Control;
use crate::peer::Responder;
use crate::server::Service;

/// The actor looks the old task up, submits the new one and answers.
pub(super) async fn handle(service: &Service, ask: TaskRetry, answer: Responder) {
    pass_on(service, &ask.project, Control::Retry(ask.task_id), answer).await;
}
