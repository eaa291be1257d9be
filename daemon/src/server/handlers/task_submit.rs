//! `task.submit`: the planner's write, done for it (D64).

use wire::control::TaskSubmit;

use super::shared::pass_on;
use crate::actor::mail::Control;
use crate::peer::Responder;
use crate::server::Service;

/// The actor validates, writes and answers.
pub(super) async fn handle(service: &Service, ask: TaskSubmit, answer: Responder) {
    pass_on(service, &ask.project, Control::Submit(ask.task), answer).await;
}
