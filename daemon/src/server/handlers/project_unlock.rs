//! `project.unlock`: which rule of D16 fits the lock; with `confirm`, move it aside.

use wire::control::ProjectUnlock;

use super::shared::pass_on;
use crate::actor::mail::Control;
use crate::peer::Responder;
use crate::server::Service;

/// The actor looks, and answers.
pub(super) async fn handle(service: &Service, ask: &ProjectUnlock, answer: Responder) {
    pass_on(service, &ask.project, Control::Unlock { confirm: ask.confirm }, answer).await;
}
