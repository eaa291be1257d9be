//! `hello`: both sides name themselves and agree on the protocol.

use wire::error::Refusal;
use wire::hello::{DaemonInfo, Hello, HelloResult};
use wire::limits::PROTOCOL;

use crate::peer::Responder;
use crate::server::connection::Client;
use crate::server::connections::Standing;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Another protocol number is refused and the connection stays, so that the client can try another one.
pub(super) fn handle(client: &mut Client, hello: &Hello, answer: Responder) {
    if hello.protocol != PROTOCOL {
        return answer.error(Refusal::unsupported_protocol(hello.protocol, VERSION));
    }
    if !client.greeted {
        client.greeted = true;
        client.ticket.set(Standing::Control);
        let (name, version) = (&hello.client.name, &hello.client.version);
        tracing::debug!(conn = client.peer.conn().0, client = name, version, "a client is connected");
    }
    let hub = &client.service.hub;
    let daemon = DaemonInfo {
        version: VERSION.to_owned(),
        pid: std::process::id(),
        instance: hub.instance.clone(),
        started_at: hub.started_at.clone(),
    };
    answer.result(&HelloResult { protocol: PROTOCOL, daemon });
}
