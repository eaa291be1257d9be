//! `session.ping`: a sign of life.

use lifecycle::Event;
use wire::session::PingResult;

use crate::peer::Responder;
use crate::server::connection::Client;

/// Answers anybody; for an attached session the actor notes that it lives.
pub(super) async fn handle(client: &Client, answer: Responder) {
    answer.result(&PingResult {});
    client.pass_on(Event::Ping { conn: client.peer.conn() }).await;
}
