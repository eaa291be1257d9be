//! `session.attach`: a session asks for the tasks of the project whose root is its working directory (D20, D72).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lifecycle::{Admin, Process};
use wire::error::{ErrorCode, ErrorObject, Refusal};
use wire::session::{Attach, AttachedProject, Mode};
use wire::status::ProjectState;

use crate::actor::mail::{Mail, ProjectRef};
use crate::members::{Arrival, Letter};
use crate::peer::{Peer, Responder};
use crate::projects::ask_status;
use crate::server::Service;
use crate::server::connection::{Client, Member, Session};
use crate::server::connections::Standing;
use crate::server::find::{self, Folder};

/// How long a member's project may take to say how it is.
const STATE_WITHIN: Duration = Duration::from_millis(500);

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
    // From here to a note in `refused` nothing waits: a project cannot appear unseen in between.
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
    client.end_session().await;
    client.ticket.set(Standing::Session);
    if let Some(member) = attach.member.clone() {
        return as_member(client, *attach, member.agent_id, process, entry.project, answer).await;
    }
    let refused = Arc::new(AtomicBool::new(false));
    client.session = Some(Session { project: entry.project.clone(), refused: Arc::clone(&refused) });
    let peer = client.peer.clone();
    let answer = {
        let peer = peer.clone();
        answer.on_refusal(move |error| {
            refused.store(true, Ordering::Relaxed);
            if error.refusal_code() == Some(ErrorCode::ProjectDisabled) {
                wait_for_enable(&service, &peer, folder);
            }
        })
    };
    entry.project.send(Mail::Attach { attach: *attach, process, peer, answer }).await;
}

/// The members' actor reads the record, and answers.
async fn as_member(
    client: &mut Client,
    attach: Attach,
    agent_id: String,
    process: Process,
    project: ProjectRef,
    answer: Responder,
) {
    let hub = &client.service.hub;
    let team = hub.team.started(hub);
    let status = ask_status(&project, STATE_WITHIN).await;
    let shown = AttachedProject {
        path: project.path.to_string_lossy().into_owned(),
        state: status.as_ref().map_or(ProjectState::Stuck, |status| status.state),
        reason: status.as_ref().and_then(|status| status.reason),
        why: status.and_then(|status| status.why),
    };
    let refused = Arc::new(AtomicBool::new(false));
    client.member = Some(Member { team: team.clone(), refused: Arc::clone(&refused) });
    let peer = client.peer.clone();
    let answer = answer.on_refusal(move |_| refused.store(true, Ordering::Relaxed));
    let arrival = Arrival { attach, agent_id, process, peer, answer, project, shown };
    team.send(Letter::Attach(Box::new(arrival))).await;
}

/// The actor was disabled when it read the letter. It may be enabled by now, with that letter still in its mailbox.
fn wait_for_enable(service: &Service, peer: &Arc<Peer>, folder: Folder) {
    let entry = find::by_folder(&service.hub, &folder);
    service.refused.add(peer, folder.path, folder.id);
    if let Some(entry) = entry.filter(|entry| entry.admin == Admin::Active) {
        service.refused.appeared(&entry.project.path, entry.folder);
    }
}

fn check(client: &Client, attach: &Attach) -> Result<(), ErrorObject> {
    if client.is_attached() {
        let why = "this connection has attached already; open another one for another session";
        return Err(Refusal::new(ErrorCode::AlreadyAttached, why).into());
    }
    if attach.mode == Mode::Other {
        let why = "only main sessions (`tui`, `rpc`, `exec`) get tasks";
        return Err(Refusal::new(ErrorCode::NotAMainSession, why).into());
    }
    if !attach.project.starts_with('/') {
        return Err(ErrorObject::invalid_params("`project`: the session's working directory as an absolute path"));
    }
    Ok(())
}
