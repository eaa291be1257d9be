//! Which connections are open, and which of them makes room for a new one.
//!
//! Only counting and choosing live here; what a connection does is in `connection`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lifecycle::Conn;
use wire::limits::CONNECTIONS;

use crate::peer::Peer;

/// How far a connection has come: what it is worth when room is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It has not said hello.
    Silent,
    /// A client of the control side.
    Control,
    /// A session is attached: never closed to make room.
    Session,
}

/// The open connections, oldest first.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Mutex<Vec<(Arc<Peer>, Standing)>>,
}

/// There is no room for another connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

impl Connections {
    /// Takes a new connection in; when all places are taken, one of the others is closed for it.
    pub(super) fn admit(self: &Arc<Self>, peer: Arc<Peer>) -> Result<Ticket, Full> {
        let mut open = self.lock();
        if open.len() >= CONNECTIONS {
            let at = least_worth(&open).ok_or(Full)?;
            let (closed, _) = open.remove(at);
            tracing::debug!(conn = closed.conn().0, "the connection is closed to make room for another");
            closed.close();
        }
        let conn = peer.conn();
        open.push((peer, Standing::Silent));
        Ok(Ticket { connections: Arc::clone(self), conn })
    }

    /// How many are open.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Arc<Peer>, Standing)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The oldest that has not said hello, then the oldest that is neither a session nor waits for an answer.
fn least_worth(open: &[(Arc<Peer>, Standing)]) -> Option<usize> {
    let silent = open.iter().position(|(_, standing)| *standing == Standing::Silent);
    silent.or_else(|| {
        open.iter().position(|(peer, standing)| *standing == Standing::Control && peer.open_requests() == 0)
    })
}

/// One connection's place; dropping it gives the place back.
#[derive(Debug)]
pub(super) struct Ticket {
    connections: Arc<Connections>,
    conn: Conn,
}

impl Ticket {
    /// Notes how far the connection has come.
    pub(super) fn set(&self, standing: Standing) {
        if let Some(entry) = self.connections.lock().iter_mut().find(|(peer, _)| peer.conn() == self.conn) {
            entry.1 = standing;
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.connections.lock().retain(|(peer, _)| peer.conn() != self.conn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::Responder;
    use wire::rpc::Id;

    fn peer(number: u64) -> Arc<Peer> {
        Peer::new(Conn(number)).0
    }

    /// 256 connections, all greeted; `special` ones are given another standing.
    fn full(special: &[(u64, Standing)]) -> (Arc<Connections>, Vec<(Arc<Peer>, Ticket)>) {
        let connections = Arc::new(Connections::default());
        let admit = |number| {
            let peer = peer(number);
            let ticket = connections.admit(peer.clone()).unwrap();
            let standing = special.iter().find(|(special, _)| *special == number).map_or(Standing::Control, |s| s.1);
            ticket.set(standing);
            (peer, ticket)
        };
        let open = (0..CONNECTIONS as u64).map(admit).collect();
        (connections, open)
    }

    fn left(connections: &Connections) -> Vec<u64> {
        let still = connections.lock();
        (0..CONNECTIONS as u64).filter(|n| !still.iter().any(|(peer, _)| peer.conn().0 == *n)).collect()
    }

    #[test]
    fn the_oldest_that_has_not_said_hello_goes_first() {
        let (connections, _open) = full(&[(7, Standing::Silent), (9, Standing::Silent)]);
        let _one = connections.admit(peer(1000)).unwrap();
        assert_eq!(left(&connections), [7]);
        assert_eq!(connections.count(), CONNECTIONS);
    }

    #[test]
    fn then_the_oldest_that_is_neither_session_nor_waiting() {
        let (connections, open) = full(&[(0, Standing::Session)]);
        let _waits = Responder::new(open[1].0.clone(), Id::from(1));
        let new = connections.admit(peer(1000)).unwrap();
        new.set(Standing::Control);
        let _two = connections.admit(peer(1001)).unwrap();
        assert_eq!(left(&connections), [2, 3]);
    }

    #[test]
    fn sessions_are_never_closed_for_another() {
        let all: Vec<_> = (0..CONNECTIONS as u64).map(|number| (number, Standing::Session)).collect();
        let (connections, mut open) = full(&all);
        assert_eq!(connections.admit(peer(1000)).unwrap_err(), Full);
        open.pop();
        assert!(connections.admit(peer(1000)).is_ok());
    }
}
