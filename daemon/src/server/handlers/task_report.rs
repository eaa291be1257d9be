//! `task.report`: a session says how its task ended.

use queue::DispatchId;
use wire::error::{ErrorCode, Refusal};
use wire::session::TaskReport;

use crate::actor::mail::Mail;
use crate::peer::Responder;
use crate::server::connection::Client;

/// Goes to the project of the session; a connection without one owns no dispatch.
pub(super) async fn handle(client: &Client, report: TaskReport, answer: Responder) {
    if let Some(project) = client.attached() {
        project.send(Mail::Report { conn: client.peer.conn(), report, answer }).await;
        return;
    }
    if client.as_member().is_some() {
        let why = "a packet takes no report: it ends when the turn settles, and a product is filed as a packet";
        return answer.error(Refusal::new(ErrorCode::NoSuchDispatch, why));
    }
    answer.error(match DispatchId::parse(&report.dispatch_id) {
        Some(_) => Refusal::new(ErrorCode::NotOwner, "no session is attached on this connection; attach first"),
        None => Refusal::new(ErrorCode::NoSuchDispatch, "a dispatch id is 32 hexadecimal digits; nothing was recorded"),
    });
}
