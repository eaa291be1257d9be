//! What several handlers do: pass a request on to the actor of the project that it names.

use crate::actor::mail::{Control, Mail};
use crate::peer::Responder;
use crate::server::{Service, find};

/// Finds the project and gives the request to its actor, which answers. An actor that has ended drops the letter, and
/// that answers, too.
pub(super) async fn pass_on(service: &Service, project: &str, request: Control, answer: Responder) {
    match find::named(&service.hub, project).await {
        Ok(entry) => {
            entry.project.send(Mail::Control { request, answer }).await;
        }
        Err(error) => answer.error(error),
    }
}
