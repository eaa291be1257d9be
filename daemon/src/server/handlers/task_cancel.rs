//! `task.cancel`: end this task, whatever its state (D76).

use wire::control::TaskCancel;

use super::shared::pass_on;
use crate::actor::mail::Control;
use crate::peer::Responder;
use crate::server::Service;

/// The actor cancels and answers.
pub(super) async fn handle(service: &Service, ask: TaskCancel, answer: Responder) {
    pass_on(service, &ask.project, Control::Cancel { task_id: ask.task_id, reason: ask.reason }, answer).await;
}
