//! The accept loop: takes connections in, holds their number down, and puts the socket back when it vanishes (F104).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use wire::error::ErrorObject;
use wire::limits::DAEMON_LINE;
use wire::rpc;

use super::connection;
use super::connections::Full;
use super::credentials::Credentials;
use super::socket::Socket;
use super::{Service, Stage};
use crate::peer::Peer;
use crate::supervision::{Pulse, Supervisor};

/// How often the socket file is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// The first pause after the system had no descriptor for a connection; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Serves connections until the service is closing. The watchdog of the service manager is fed from here, which shows that
/// this loop turns: every actor, deadline and session needs it. It is fed only as long as the sweep turns, too, on a thread
/// of its own. A job that hangs is no reason to start again: its project is told as stuck.
pub async fn serve(service: Arc<Service>, mut socket: Socket, supervisor: Supervisor) -> Socket {
    let mut looks = interval(supervisor.beat(LOOK));
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watch = &service.hub.watch;
    let mut pulse = Pulse::new(watch.patience(), std::time::Instant::now());
    let mut pause = Pause::default();
    loop {
        tokio::select! {
            biased;
            () = service.reached(Stage::Closing) => return socket,
            _ = looks.tick() => {
                if pulse.beats(watch.turns(), std::time::Instant::now()) {
                    supervisor.alive();
                }
                socket.put_back();
            }
            accepted = accept_after(&socket, pause.until) => match accepted {
                Ok(stream) => {
                    pause = Pause::default();
                    take_in(&service, stream);
                }
                Err(error) => pause.after(&error),
            },
        }
    }
}

async fn accept_after(socket: &Socket, until: Option<Instant>) -> io::Result<UnixStream> {
    if let Some(until) = until {
        sleep_until(until).await;
    }
    socket.listener.accept().await.map(|(stream, _)| stream)
}

/// A pause after a failed accept: without it a daemon without descriptors would spin.
#[derive(Default)]
struct Pause {
    until: Option<Instant>,
    length: Duration,
}

impl Pause {
    fn after(&mut self, error: &io::Error) {
        if self.length.is_zero() {
            tracing::warn!(%error, "no connection can be accepted now; trying again");
        }
        self.length = (self.length * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        self.until = Some(Instant::now() + self.length);
    }
}

fn take_in(service: &Arc<Service>, stream: UnixStream) {
    let credentials = match Credentials::of(&stream) {
        Ok(credentials) => credentials,
        Err(error) => {
            tracing::warn!(error = error.message, "a connection was refused");
            refuse(&stream, &error);
            return;
        }
    };
    let (peer, lines) = Peer::of_daemon(service.hub.new_conn(), &service.stopping);
    match service.connections.admit(peer.clone()) {
        Ok(ticket) => {
            tokio::spawn(connection::run(Arc::clone(service), stream, credentials, ticket, peer, lines));
        }
        Err(Full) => tracing::warn!("all connections are sessions or waiting clients; a new one was closed"),
    }
}

/// One line into the socket's own buffer, which is empty: it fits or is lost.
fn refuse(stream: &UnixStream, error: &ErrorObject) {
    if let Ok(line) = rpc::error_line(None, error, DAEMON_LINE) {
        stream.try_write(&line).ok();
    }
}
