//! The calls of this client that have no answer yet.

use crate::Raw;
use crate::error::ErrorObject;
use crate::rpc::{Id, Response};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// What the daemon answered.
pub(super) type Outcome = Result<Raw, ErrorObject>;

/// Who waits for which answer.
#[derive(Debug)]
pub(super) struct Pending(Mutex<State>);

#[derive(Debug)]
enum State {
    Open { next_id: u64, waiting: HashMap<u64, oneshot::Sender<Outcome>> },
    Closed { why: String },
}

/// A place in the table; it is given up when the call is dropped, answered or not.
#[derive(Debug)]
pub(super) struct Ticket<'a> {
    table: &'a Pending,
    number: u64,
    pub(super) answer: oneshot::Receiver<Outcome>,
}

impl Pending {
    pub(super) fn new() -> Self {
        Self(Mutex::new(State::Open { next_id: 1, waiting: HashMap::new() }))
    }

    /// Opens a place for one call. Fails with the reason if the connection has ended.
    pub(super) fn open(&self) -> Result<Ticket<'_>, String> {
        match &mut *self.state() {
            State::Closed { why } => Err(why.clone()),
            State::Open { next_id, waiting } => {
                let number = *next_id;
                *next_id += 1;
                let (sender, answer) = oneshot::channel();
                waiting.insert(number, sender);
                Ok(Ticket { table: self, number, answer })
            }
        }
    }

    /// Hands an answer to the call that waits for it; an answer nobody waits for any more is dropped.
    pub(super) fn resolve(&self, response: Response) {
        let Some(number) = response.id.as_ref().and_then(Id::as_u64) else { return };
        if let State::Open { waiting, .. } = &mut *self.state()
            && let Some(caller) = waiting.remove(&number)
        {
            // The caller may have given up in this very moment.
            caller.send(response.outcome).ok();
        }
    }

    /// Ends every waiting call and refuses new ones.
    pub(super) fn close(&self, why: String) {
        let mut state = self.state();
        if matches!(*state, State::Open { .. }) {
            *state = State::Closed { why };
        }
    }

    /// Why the connection has ended.
    pub(super) fn closed_why(&self) -> String {
        match &*self.state() {
            State::Closed { why } => why.clone(),
            State::Open { .. } => "the answer was lost".to_owned(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket<'_> {
    pub(super) fn id(&self) -> Id {
        Id::from(self.number)
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if let State::Open { waiting, .. } = &mut *self.table.state() {
            waiting.remove(&self.number);
        }
    }
}
