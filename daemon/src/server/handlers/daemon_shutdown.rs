//! `daemon.shutdown`: stop in order.

use wire::control::ShutdownResult;

use crate::peer::Responder;
use crate::server::{Service, Stage};

/// Answers at once; the answer is out before the connection is closed.
pub(super) fn handle(service: &Service, answer: Responder) {
    answer.result(&ShutdownResult {});
    service.advance(Stage::Stopping);
}
