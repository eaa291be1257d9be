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
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::transport::id::Id;
use crate::transport::judge::{Verdict, judge};
use crate::transport::reader::Input;
use crate::transport::withdrawn::Withdrawn;
use crate::transport::writer::Output;

/// One JSON object a line, in both directions.
#[derive(Debug)]
pub(crate) struct Lines {
    input: mpsc::Receiver<Input>,
    output: Option<Output>,
    /// Answers of our own that are not on their way yet.
    answers: VecDeque<Vec<u8>>,
    /// Since when the output is full and the client takes nothing, and how many lines it had taken then.
    stalled: Option<(Instant, u64)>,
    places: Arc<Semaphore>,
    in_flight: HashMap<Id, OwnedSemaphorePermit>,
    withdrawn: Withdrawn,
    ended: CancellationToken,
}

impl Lines {
    /// `ended` is cancelled by the reader when the input is at its end.
    pub(crate) fn new(input: mpsc::Receiver<Input>, output: Output, ended: CancellationToken) -> Self {
        let places = Arc::new(Semaphore::new(limits::REQUESTS));
        let (answers, in_flight, withdrawn) = (VecDeque::new(), HashMap::new(), Withdrawn::default());
        Self { input, output: Some(output), answers, stalled: None, places, in_flight, withdrawn, ended }
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

    /// What is waited for, or `None`: the input is at its end and nothing has happened for a while, or the client asks for
    /// more and more and reads nothing, so that its end could not be seen behind what it has written.
    ///
    /// rmcp gives `receive` up and calls it again whenever an answer goes out, which is when the first while begins anew.
    async fn in_time<T>(&mut self, awaited: impl Future<Output = T>) -> Option<T> {
        let ended = self.ended.clone();
        let mut quiet = pin!(async {
            ended.cancelled().await;
            tokio::time::sleep(limits::QUIET).await;
        });
        let mut awaited = pin!(awaited);
        loop {
            if self.stalled_for() >= limits::STALL {
                return None;
            }
            tokio::select! {
                biased;
                got = &mut awaited => return Some(got),
                () = &mut quiet => return None,
                () = tokio::time::sleep(limits::LOOK) => {}
            }
        }
    }

    /// How long the client has been taking nothing of a full output.
    fn stalled_for(&mut self) -> Duration {
        let full = self.output.as_ref().filter(|output| output.is_full());
        let taken = full.map(Output::taken);
        if self.stalled.map(|(_, then)| then) != taken {
            self.stalled = taken.map(|taken| (Instant::now(), taken));
        }
        self.stalled.map_or(Duration::ZERO, |(since, _)| since.elapsed())
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
            sent
        }
    }

    /// May be given up and called again at any moment: nothing that was read is lost. After the last line it waits for the
    /// answers that are still out, as long as they come: rmcp would give all of them five seconds together.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            while !self.answers.is_empty() {
                let room = self.output.clone()?.room();
                let room = self.in_time(room).await?.ok()?;
                room.send(self.answers.pop_front()?);
            }
            let place = Arc::clone(&self.places).acquire_owned();
            let place = self.in_time(place).await?.ok()?;
            let Some(input) = self.input.recv().await else {
                let answered = self.in_flight.is_empty();
                return if answered { None } else { self.in_time(std::future::pending()).await };
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// A transport over channels, their other ends, and how many lines the client took.
    struct World {
        lines: Lines,
        input: mpsc::Sender<Input>,
        written: mpsc::Receiver<Vec<u8>>,
        taken: Arc<AtomicU64>,
        ended: CancellationToken,
    }

    fn world() -> World {
        let ((sender, input), (output, written)) = (mpsc::channel(limits::QUEUE), mpsc::channel(1));
        let ended = CancellationToken::new();
        let taken = Arc::<AtomicU64>::default();
        let lines = Lines::new(input, Output::new(output, Arc::clone(&taken)), ended.clone());
        World { lines, input: sender, written, taken, ended }
    }

    fn garbage() -> Input {
        Input::Line(b"x".to_vec())
    }

    /// Receives as rmcp does, which gives up and begins anew whenever something else happens.
    async fn received(lines: &mut Lines) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Ok(end) = tokio::time::timeout(Duration::from_secs(7), lines.receive()).await {
                return end;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_given_up() {
        for has_places in [true, false] {
            let World { mut lines, input, written: _written, .. } = world();
            for _ in 0..limits::QUEUE {
                input.try_send(garbage()).unwrap();
            }
            if !has_places {
                lines.output.clone().unwrap().send(Vec::new()).await.unwrap();
                lines.places = Arc::new(Semaphore::new(0));
            }
            let start = Instant::now();
            assert!(received(&mut lines).await.is_none());
            assert!((limits::STALL..limits::STALL * 2).contains(&start.elapsed()), "{:?}", start.elapsed());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_is_not() {
        let World { mut lines, input, mut written, taken, ended } = world();
        for _ in 0..limits::QUEUE {
            input.try_send(garbage()).unwrap();
        }
        drop(input);
        let reader = async {
            for _ in 0..limits::QUEUE {
                tokio::time::sleep(limits::STALL / 2).await;
                written.recv().await.unwrap();
                taken.fetch_add(1, Ordering::Relaxed);
            }
            ended.cancel();
        };
        let (end, ()) = tokio::join!(received(&mut lines), reader);
        assert!(end.is_none() && lines.answers.is_empty());
    }

    /// Others may be served first all the time.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_what_others_wrote_is_not() {
        let World { mut lines, input, written: _written, taken, .. } = world();
        for _ in 0..limits::QUEUE {
            input.try_send(garbage()).unwrap();
        }
        let reading = async {
            for _ in 0..100 {
                tokio::time::sleep(limits::STALL / 2).await;
                taken.fetch_add(1, Ordering::Relaxed);
            }
        };
        tokio::select! {
            _ = received(&mut lines) => panic!("it is not given up"),
            () = reading => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_waits_for_its_calls_is_not() {
        let World { mut lines, input: _input, written: _written, .. } = world();
        lines.places = Arc::new(Semaphore::new(0));
        let waiting = tokio::time::timeout(limits::STALL * 100, lines.receive()).await;
        assert!(waiting.is_err());
    }
}
