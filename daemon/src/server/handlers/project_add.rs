//! `project.add`: manage this folder.

use wire::control::ProjectAdd;
use wire::error::ErrorObject;

use crate::manager::Request;
use crate::peer::Responder;
use crate::server::Service;

/// The manager registers, starts and answers.
pub(super) async fn handle(service: &Service, add: ProjectAdd, answer: Responder) {
    if !add.path.starts_with('/') {
        return answer.error(ErrorObject::invalid_params("`path`: an absolute path"));
    }
    service.manager.send(Request::Add { path: add.path.into(), answer }).await;
}
