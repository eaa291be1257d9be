//! Who listens to which process. One entry a process, however many projects depend on it. No system call is made here.

use lifecycle::{Event, Process, Stopped};
use tokio::sync::mpsc::WeakSender;
use tokio::task::AbortHandle;

use crate::actor::mail::Mail;

/// One entry of the table; an entry that was removed and made again has another number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) process: Process,
    number: u64,
}

/// Somebody who depends on a process.
#[derive(Debug, Clone)]
pub(super) struct Listener {
    pub(super) mail: WeakSender<Box<Mail>>,
    pub(super) tell: Tell,
}

/// As what the process is known there.
#[derive(Debug, Clone)]
pub(super) enum Tell {
    /// A session's process.
    Process,
    /// The process of a run (D66).
    Run(String),
}

#[derive(Default)]
pub(super) struct Table {
    entries: Vec<Entry>,
    next: u64,
    /// Where the next sampling goes on.
    cursor: usize,
    sampling: bool,
}

struct Entry {
    key: Key,
    members: Vec<Member>,
    waiting: Option<AbortHandle>,
    /// The system does not tell us of its end.
    sampled_for_end: bool,
}

struct Member {
    number: u64,
    listener: Listener,
    /// What it was told last.
    stopped: Stopped,
}

/// What [`Table::add`] did.
pub(super) struct Added {
    pub(super) key: Key,
    pub(super) listener: u64,
    /// Nobody listened to this process before.
    pub(super) first: bool,
    /// Nothing is being sampled.
    pub(super) start_sampling: bool,
}

impl Table {
    pub(super) fn add(&mut self, process: Process, listener: Listener) -> Added {
        self.next += 2;
        let (number, listener_number) = (self.next, self.next + 1);
        let member = Member { number: listener_number, listener, stopped: Stopped::No };
        let start_sampling = !std::mem::replace(&mut self.sampling, true);
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.key.process == process) {
            entry.members.push(member);
            return Added { key: entry.key, listener: listener_number, first: false, start_sampling };
        }
        let key = Key { process, number };
        self.entries.push(Entry { key, members: vec![member], waiting: None, sampled_for_end: false });
        Added { key, listener: listener_number, first: true, start_sampling }
    }

    /// The task that waits for its end. Without an entry it has ended already, and the task is telling so.
    pub(super) fn is_waited_for(&mut self, key: Key, task: AbortHandle) {
        if let Some(entry) = self.entry(key) {
            entry.waiting = Some(task);
        }
    }

    /// Its end must be found by sampling.
    pub(super) fn sample_for_end(&mut self, key: Key) {
        if let Some(entry) = self.entry(key) {
            entry.sampled_for_end = true;
        }
    }

    pub(super) fn remove(&mut self, process: Process, listener: u64) {
        for entry in self.entries.iter_mut().filter(|entry| entry.key.process == process) {
            entry.members.retain(|member| member.number != listener);
            if entry.members.is_empty()
                && let Some(task) = entry.waiting.take()
            {
                task.abort();
            }
        }
        self.entries.retain(|entry| !entry.members.is_empty());
    }

    /// Takes an entry out and returns who listened.
    pub(super) fn take(&mut self, key: Key) -> Vec<Listener> {
        let Some(at) = self.entries.iter().position(|entry| entry.key == key) else { return Vec::new() };
        self.entries.swap_remove(at).members.into_iter().map(|member| member.listener).collect()
    }

    /// The next processes to sample, in turn; `None` when nothing is watched any more, which ends the sampling.
    pub(super) fn next_samples(&mut self, most: usize) -> Option<Vec<(Key, bool)>> {
        if self.entries.is_empty() {
            self.sampling = false;
            return None;
        }
        let count = self.entries.len();
        let from = self.cursor % count;
        self.cursor = from + most.min(count);
        let turn = self.entries.iter().cycle().skip(from).take(most.min(count));
        Some(turn.map(|entry| (entry.key, entry.sampled_for_end)).collect())
    }

    /// Notes what was sampled; returns who must be told that it changed.
    pub(super) fn is_stopped(&mut self, key: Key, stopped: Stopped) -> Vec<Listener> {
        let members = self.entry(key).map(|entry| entry.members.iter_mut()).into_iter().flatten();
        members
            .filter(|member| member.stopped != stopped)
            .map(|member| {
                member.stopped = stopped;
                member.listener.clone()
            })
            .collect()
    }

    #[cfg(test)]
    pub(super) fn processes(&self) -> usize {
        self.entries.len()
    }

    #[cfg(test)]
    pub(super) fn is_sampling(&self) -> bool {
        self.sampling
    }

    fn entry(&mut self, key: Key) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }
}

impl Listener {
    /// Waits for room: an end is told once and must not be lost.
    pub(super) async fn tell_end(self, process: Process) {
        let event = match self.tell {
            Tell::Process => Event::ProcessGone(process),
            Tell::Run(run_id) => Event::RunsGone(vec![run_id]),
        };
        send(&self.mail, event).await;
    }

    /// The state of a run's process is of no interest.
    pub(super) async fn tell_stopped(self, process: Process, stopped: Stopped) {
        if matches!(self.tell, Tell::Process) {
            send(&self.mail, Event::ProcessStopped { process, stopped }).await;
        }
    }
}

async fn send(mail: &WeakSender<Box<Mail>>, event: Event) {
    if let Some(mail) = mail.upgrade() {
        // An actor that has ended needs no letters.
        mail.send(Box::new(Mail::Event(event))).await.ok();
    }
}
