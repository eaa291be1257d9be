//! `session.take`: give the owner's place to another session (D20).

use wire::control::SessionTake;

use super::shared::pass_on;
use crate::actor::mail::Control;
use crate::peer::Responder;
use crate::server::Service;

/// The actor moves the place and answers.
pub(super) async fn handle(service: &Service, ask: SessionTake, answer: Responder) {
    pass_on(service, &ask.project, Control::Take(Some(ask.session_id)), answer).await;
}
