//! `session.attach`: a session asks for the tasks of the project whose root is its working directory (D20, D72).

use lifecycle::Admin;
use wire::error::{ErrorCode, ErrorObject, Refusal};
use wire::session::{Attach, Mode};

use crate::actor::mail::Mail;
use crate::peer::Responder;
use crate::server::connection::Client;
use crate::server::connections::Standing;
use crate::server::find;

/// Checks what needs no knowledge of the project's state; the actor does the rest and answers.
pub(super) async fn handle(client: &mut Client, attach: Box<Attach>, answer: Responder) {
    if let Err(error) = check(client, &attach) {
        return answer.error(error);
    }
    let process = match client.credentials.process(&*client.service.hub.claimant.processes) {
        Ok(process) => process,
        Err(refusal) => return answer.error(refusal),
    };
    let service = client.service.clone();
    let folder = match find::look_at(&service.hub, &attach.project).await {
        Ok(folder) => folder,
        Err(error) => return answer.error(error),
    };
    // From here to the note in `refused` nothing waits: a project cannot appear unseen in between.
    let found = find::by_folder(&service.hub, &folder);
    let entry = match found {
        Some(entry) if entry.admin != Admin::Disabled => entry,
        refused => {
            let refusal = match refused {
                Some(_) => find::disabled(),
                None => find::unknown(&service.hub, &attach.project, &folder.path),
            };
            service.refused.add(&client.peer, folder.path, folder.id);
            return answer.error(refusal);
        }
    };
    client.ticket.set(Standing::Session);
    client.attached = Some(entry.project.clone());
    let peer = client.peer.clone();
    entry.project.send(Mail::Attach { attach: *attach, process, peer, answer }).await;
}

fn check(client: &Client, attach: &Attach) -> Result<(), ErrorObject> {
    if client.attached.is_some() {
        let why = "this connection has attached already; open another one for another session";
        return Err(Refusal::new(ErrorCode::AlreadyAttached, why).into());
    }
    if attach.mode == Mode::Other {
        let why = "only main sessions (`tui`, `rpc`, `exec`) get tasks";
        return Err(Refusal::new(ErrorCode::NotAMainSession, why).into());
    }
    if attach.member.is_some() {
        return Err(ErrorObject::invalid_params(
            "`member`: packets for team members are not available in this version",
        ));
    }
    if !attach.project.starts_with('/') {
        return Err(ErrorObject::invalid_params("`project`: the session's working directory as an absolute path"));
    }
    Ok(())
}
