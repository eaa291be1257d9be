//! Between bytes and messages: what rmcp reads from and writes to.
//!
//! It keeps the count of the requests that have no answer yet. That bounds what a client can pile up, finds ids that are
//! used twice, and lets nothing but the withdrawal of such a request through of all notifications: rmcp ends over one
//! that comes too early.

mod id;
mod judge;
pub(crate) mod limits;
pub(crate) mod reader;
mod withdrawn;
pub(crate) mod writer;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::transport::id::Id;
use crate::transport::judge::{Verdict, judge};
use crate::transport::reader::Input;
use crate::transport::withdrawn::Withdrawn;

/// One JSON object a line, in both directions.
#[derive(Debug)]
pub(crate) struct Lines {
    input: mpsc::Receiver<Input>,
    output: Option<mpsc::Sender<Vec<u8>>>,
    /// Answers of our own that are not on their way yet.
    answers: VecDeque<Vec<u8>>,
    places: Arc<Semaphore>,
    in_flight: HashMap<Id, OwnedSemaphorePermit>,
    withdrawn: Withdrawn,
    ended: CancellationToken,
}

impl Lines {
    /// `ended` is cancelled when the input is at its end.
    pub(crate) fn new(input: mpsc::Receiver<Input>, output: mpsc::Sender<Vec<u8>>, ended: CancellationToken) -> Self {
        let places = Arc::new(Semaphore::new(limits::REQUESTS));
        let (answers, in_flight, withdrawn) = (VecDeque::new(), HashMap::new(), Withdrawn::default());
        Self { input, output: Some(output), answers, places, in_flight, withdrawn, ended }
    }

    /// The message for rmcp, if the line is one.
    fn take(&mut self, input: Input, place: OwnedSemaphorePermit) -> Option<RxJsonRpcMessage<RoleServer>> {
        match judge(input) {
            Verdict::Ignore => None,
            Verdict::Answer(answer) => self.answer(&answer),
            Verdict::Cancel(id, message) => {
                drop(self.in_flight.remove(&id)?);
                self.withdrawn.insert(&id);
                serde_json::from_value(message).ok()
            }
            Verdict::Request(id, _) if self.in_flight.contains_key(&id) || self.withdrawn.contains(&id) => {
                self.answer(&judge::used(&id))
            }
            Verdict::Request(id, message) => match serde_json::from_value(message) {
                Err(_) => self.answer(&judge::unreadable(&id)),
                Ok(message) => {
                    self.in_flight.insert(id, place);
                    Some(message)
                }
            },
        }
    }

    fn answer<T>(&mut self, answer: &Value) -> Option<T> {
        self.answers.push_back(line(answer.to_string()));
        None
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        // The place is free once the answer is on its way: a client that does not read gets no further ones.
        let place = answered.and_then(|id| self.in_flight.remove(&id_of(id)));
        let text = serde_json::to_string(&message).map_err(io::Error::from);
        let output = self.output.clone();
        async move {
            let output = output.ok_or(io::ErrorKind::BrokenPipe)?;
            let sent = output.send(line(text?)).await;
            drop(place);
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    /// May be given up and called again at any moment: nothing that was read is lost.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            while !self.answers.is_empty() {
                let room = self.output.as_ref()?.reserve().await.ok()?;
                room.send(self.answers.pop_front()?);
            }
            let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
            let Some(input) = self.input.recv().await else {
                self.ended.cancel();
                return None;
            };
            if let Some(message) = self.take(input, place) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output = None;
        Ok(())
    }
}

fn id_of(id: &RequestId) -> Id {
    match id {
        RequestId::Number(number) => Id::Number(*number),
        RequestId::String(text) => Id::Text(text.to_string()),
    }
}

fn line(mut text: String) -> Vec<u8> {
    text.push('\n');
    text.into_bytes()
}
