//! `task.wait`: answered when the task ends, or when the time is over.

use wire::control::TaskWait;

use super::shared::pass_on;
use crate::actor::mail::Control;
use crate::peer::Responder;
use crate::server::Service;

/// The actor keeps the request and answers; the connection goes on meanwhile.
pub(super) async fn handle(service: &Service, ask: TaskWait, answer: Responder) {
    let request = Control::Wait { task_id: ask.task_id, timeout_ms: ask.timeout_ms };
    pass_on(service, &ask.project, request, answer).await;
}
