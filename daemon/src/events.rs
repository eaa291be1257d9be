//! The event stream (wire protocol, `events.subscribe`): numbered, per subscriber bounded, never in anybody's way.
//!
//! A subscriber that reads slowly loses events and is told which (`gap`); the project they came from never waits.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use wire::event::{Event, EventKind};

use crate::clock;
use crate::peer::Peer;

/// Bytes that may wait for a subscriber before it loses events.
const ROOM: usize = 256 * 1024;

/// The stream of one daemon instance.
#[derive(Debug, Default)]
pub struct Events {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    seq: u64,
    subscribers: Vec<Subscriber>,
}

#[derive(Debug)]
struct Subscriber {
    peer: Weak<Peer>,
    project: Option<String>,
    /// The first event that was lost since the last that was sent.
    lost: Option<u64>,
}

impl Events {
    /// Sends every event from now on to `peer`, or those of one project (its path), instead of what it had subscribed to
    /// before. Answers the last number so far.
    pub fn subscribe(&self, peer: &Arc<Peer>, project: Option<String>) -> u64 {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.subscribers.retain(|known| known.peer.upgrade().is_some_and(|known| known.conn() != peer.conn()));
        inner.subscribers.push(Subscriber { peer: Arc::downgrade(peer), project, lost: None });
        inner.seq
    }

    /// Numbers an event and queues it for everybody who asked.
    pub fn publish(&self, project: Option<&str>, what: EventKind) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.seq += 1;
        if inner.subscribers.is_empty() {
            return;
        }
        let event =
            Event { seq: inner.seq, at: clock::Wall::now().to_string(), project: project.map(str::to_owned), what };
        inner.subscribers.retain_mut(|subscriber| subscriber.offer(&event));
    }
}

impl Subscriber {
    /// `false` when the connection is gone.
    fn offer(&mut self, event: &Event) -> bool {
        let Some(peer) = self.peer.upgrade() else { return false };
        if self.project.is_some() && event.project.is_some() && self.project != event.project {
            return true;
        }
        if peer.backlog() > ROOM {
            self.lost.get_or_insert(event.seq);
            return true;
        }
        if let Some(from) = self.lost.take() {
            let what = EventKind::Gap { from, to: event.seq - 1 };
            peer.notify(&Event { seq: event.seq, at: event.at.clone(), project: None, what });
        }
        peer.notify(event);
        true
    }
}

#[cfg(test)]
mod tests {
    use lifecycle::Conn;
    use wire::daemon_calls::NoticeLevel;

    use super::*;

    fn notice(text: &str) -> EventKind {
        EventKind::Notice { level: NoticeLevel::Info, text: text.to_owned() }
    }

    #[tokio::test]
    async fn f118_a_slow_subscriber_is_told_which_events_it_lost() {
        let (peer, mut lines) = Peer::new(Conn(1));
        let events = Events::default();
        assert_eq!(events.subscribe(&peer, None), 0);
        events.publish(None, notice(&"x".repeat(ROOM)));
        events.publish(None, notice("lost"));
        events.publish(None, notice("lost too"));
        let first = lines.recv().await.unwrap();
        peer.written(first.line.len());
        events.publish(None, notice("seen"));
        let gap = String::from_utf8(lines.recv().await.unwrap().line).unwrap();
        assert!(gap.contains("\"kind\":\"gap\"") && gap.contains("\"from\":2") && gap.contains("\"to\":3"), "{gap}");
        let seen = String::from_utf8(lines.recv().await.unwrap().line).unwrap();
        assert!(seen.contains("\"seq\":4") && seen.contains("seen"), "{seen}");
    }
}
