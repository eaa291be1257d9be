//! `daemon.reload`: read the configuration again.

use crate::manager::Request;
use crate::peer::Responder;
use crate::server::Service;

/// The manager reads, applies and answers.
pub(super) async fn handle(service: &Service, answer: Responder) {
    service.manager.send(Request::Reload(answer)).await;
}
