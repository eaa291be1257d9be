//! The place for the one answer to a client's request.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lifecycle::Conn;
use serde::Serialize;
use wire::error::{ErrorCode, ErrorObject, Refusal};
use wire::rpc::Id;

use super::{Peer, Pieces};

type OnRefusal = Box<dyn FnOnce(&ErrorObject) + Send>;

/// The place for the one answer to a client's request. A request that nobody answers is answered when this is dropped,
/// so that no client waits in vain.
pub struct Responder {
    peer: Arc<Peer>,
    id: Id,
    answered: bool,
    on_refusal: Option<OnRefusal>,
}

impl Responder {
    /// For the request `id` of `peer`.
    #[must_use]
    pub fn new(peer: Arc<Peer>, id: Id) -> Self {
        peer.open.fetch_add(1, Ordering::Relaxed);
        Self { peer, id, answered: false, on_refusal: None }
    }

    /// For requests of our own, whose answer nobody waits for.
    #[must_use]
    pub fn nobody() -> Self {
        let (peer, _) = Peer::new(Conn(0));
        Self::new(peer, Id::from(0))
    }

    /// Does something before the refusal goes out, if it comes to that.
    #[must_use]
    pub fn on_refusal(mut self, act: impl FnOnce(&ErrorObject) + Send + 'static) -> Self {
        self.on_refusal = Some(Box::new(act));
        self
    }

    /// Whose request it is.
    #[must_use]
    pub const fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Answers well.
    pub fn result<T: Serialize>(mut self, result: &T) {
        self.answered = true;
        self.peer.result(&self.id, result);
    }

    /// Answers well, with a long list: see [`Peer::result_with_list`].
    pub fn result_with_list<T: Serialize>(mut self, result: &T, list: Pieces) {
        self.answered = true;
        self.peer.result_with_list(&self.id, result, list);
    }

    /// Refuses.
    pub fn error(mut self, error: impl Into<ErrorObject>) {
        self.refuse(&error.into());
    }

    fn refuse(&mut self, error: &ErrorObject) {
        self.answered = true;
        if let Some(act) = self.on_refusal.take() {
            act(error);
        }
        self.peer.error(Some(&self.id), error);
    }
}

/// A daemon that stops gives up what it waits for; clients know that word, and wait for the next daemon.
fn given_up(peer: &Peer) -> ErrorObject {
    match peer.stopping.load(Ordering::SeqCst) {
        true => Refusal::new(ErrorCode::ShuttingDown, "the daemon is stopping").into(),
        false => ErrorObject::internal("the request was given up: what it was about has ended"),
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !self.answered {
            self.refuse(&given_up(&self.peer));
        }
        if self.peer.open.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.peer.all_answered.notify_one();
        }
    }
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Responder").field("conn", &self.peer.conn).field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::super::Outbound;
    use super::*;

    fn line(lines: &mut mpsc::UnboundedReceiver<Outbound>) -> String {
        String::from_utf8(lines.try_recv().unwrap().line).unwrap()
    }

    #[test]
    fn a_request_is_answered_once_also_when_nobody_answers_it() {
        let (peer, mut lines) = Peer::new(Conn(1));
        Responder::new(peer.clone(), Id::from(7)).result(&true);
        assert_eq!(line(&mut lines), "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":true}\n");
        drop(Responder::new(peer.clone(), Id::from(8)));
        assert!(line(&mut lines).contains("\"id\":8,\"error\":{\"code\":-32603"));
        assert!(lines.try_recv().is_err());
        assert_eq!(peer.open_requests(), 0);
    }

    #[test]
    fn what_a_stopping_daemon_gives_up_is_told_as_its_stop() {
        let stopping = Arc::default();
        let (peer, mut lines) = Peer::of_daemon(Conn(1), &stopping);
        let request = Responder::new(peer, Id::from(7));
        stopping.store(true, Ordering::SeqCst);
        drop(request);
        assert!(line(&mut lines).contains("shutting_down"));
    }

    #[test]
    fn a_refusal_is_acted_on_before_it_goes_out_and_a_result_is_not() {
        let (told, heard) = std::sync::mpsc::channel();
        let (peer, mut lines) = Peer::new(Conn(1));
        let ask = |number: u64| {
            let told = told.clone();
            Responder::new(peer.clone(), Id::from(number)).on_refusal(move |_| told.send(number).unwrap())
        };
        ask(1).result(&());
        ask(2).error(ErrorObject::internal("no"));
        drop(ask(3));
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), [2, 3]);
        assert_eq!(std::iter::from_fn(|| lines.try_recv().ok()).count(), 3);
    }
}
