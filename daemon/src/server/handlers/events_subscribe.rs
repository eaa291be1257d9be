//! `events.subscribe`: from now on `event` notifications, of one project or of all.

use wire::control::{EventsSubscribe, SubscribeResult};

use crate::peer::Responder;
use crate::server::connection::Client;
use crate::server::find;

/// A second subscription of a connection takes the place of its first.
pub(super) async fn handle(client: &Client, ask: EventsSubscribe, answer: Responder) {
    let hub = &client.service.hub;
    let project = match ask.project {
        None => None,
        Some(wanted) => match find::named(hub, &wanted).await {
            Ok(entry) => Some(entry.project.path.to_string_lossy().into_owned()),
            Err(error) => return answer.error(error),
        },
    };
    let seq = hub.events.subscribe(&client.peer, project);
    answer.result(&SubscribeResult { seq });
}
