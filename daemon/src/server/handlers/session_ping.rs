//! `session.ping`: a sign of life.

use lifecycle::Event;
use wire::session::PingResult;

use crate::actor::mail::Mail;
use crate::peer::Responder;
use crate::server::connection::Client;

/// Answers anybody; for an attached session the actor notes that it lives.
pub(super) async fn handle(client: &Client, answer: Responder) {
    answer.result(&PingResult {});
    if let Some(project) = client.attached() {
        project.send(Mail::Event(Event::Ping { conn: client.peer.conn() })).await;
    }
}
