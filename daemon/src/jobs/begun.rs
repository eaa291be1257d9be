//! The first half of a claim: RUNNING beside the file, seen by nobody, and on its way to the disk on another thread.
//!
//! The wait for the disk is most of what a dispatch takes, so all the rest is done in its shadow. When a PENDING that is
//! read will most likely be claimed, this begins before it is judged. Making the private file is part of it: the folder
//! may still be held by the planner's rename, which takes as long as its old file needs to be freed. Nothing is decided
//! here: what turns out not to be wanted is removed.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use lifecycle::{Claim, Moment, Process, Wall};
use queue::{DispatchId, Document};
use store::{OpenQueue, ProjectDir, RawHash, ReplaceError, Staged, Unsynced};
use tokio::runtime::Handle;

use super::ahead::{Ahead, Errands, Found};
use crate::convert;

type Writing = Result<Staged<Arc<ProjectDir>>, ReplaceError>;

/// A claim of which the first half is under way.
pub struct Begun {
    dispatch: DispatchId,
    started: Wall,
    hash: RawHash,
    text: Arc<str>,
    writing: OnItsWay,
    ahead: Ahead,
}

/// What a dispatch will be made of if the file that is read now leads to one.
#[derive(Debug, Clone, Copy)]
pub struct Likely {
    /// The moment of the step that will decide: its wall clock and its chance make the dispatch.
    pub moment: Moment,
    /// The process of the idle session.
    pub session: Process,
}

/// A first half of which only the disk is not done.
pub(super) struct Rest {
    text: Arc<str>,
    writing: OnItsWay,
}

/// What there is when the first half is over.
pub(super) struct FirstHalf {
    /// The bytes of RUNNING.
    pub(super) text: Arc<str>,
    /// Those bytes on the disk.
    pub(super) writing: Writing,
}

enum OnItsWay {
    Syncing(Receiver<Writing>),
    Done(Box<Writing>),
}

impl Begun {
    /// Begins the claim of the file that was just read, which is likely to be decided upon.
    ///
    /// # Errors
    /// RUNNING does not fit into the file.
    pub(super) fn likely(
        project: &Arc<ProjectDir>,
        queue: OpenQueue,
        document: &Document,
        likely: Likely,
        ahead: Ahead,
    ) -> Result<Self, queue::QueueFull> {
        let (dispatch, started) = (DispatchId::from_random(likely.moment.entropy), likely.moment.wall);
        let (hash, text) = (queue.read.hash, running(document, dispatch, started)?);
        let (project, bytes) = (project.clone(), text.clone());
        let begin = move || Staged::begin_over(project, queue, bytes.as_bytes());
        let writing = OnItsWay::new(begin, ahead.errands().clone());
        Ok(Self { dispatch, started, hash, text, writing, ahead })
    }

    /// Begins a claim that is decided.
    ///
    /// # Errors
    /// RUNNING does not fit into the file.
    pub(super) fn decided(
        project: &Arc<ProjectDir>,
        document: &Document,
        claim: &Claim,
        ahead: Ahead,
    ) -> Result<Self, queue::QueueFull> {
        let (dispatch, started, hash) = (claim.dispatch, claim.started, RawHash::from(claim.hash));
        let text = running(document, dispatch, started)?;
        let (project, bytes) = (project.clone(), text.clone());
        let begin = move || Staged::begin(project, hash, bytes.as_bytes());
        let writing = OnItsWay::new(begin, ahead.errands().clone());
        Ok(Self { dispatch, started, hash, text, writing, ahead })
    }

    /// Whether this is the first half of exactly this claim.
    pub(super) fn is_for(&self, claim: &Claim) -> bool {
        let same = self.dispatch == claim.dispatch && self.started == claim.started;
        same && self.hash == RawHash::from(claim.hash) && self.ahead.is_for(claim.process)
    }

    /// What was found, and the wait for the disk as the step after it.
    pub(super) fn found(self) -> (Found, Rest) {
        (self.ahead.wait(), Rest { text: self.text, writing: self.writing })
    }
}

impl Rest {
    /// Waits until RUNNING is on the disk.
    pub(super) fn wait(self) -> FirstHalf {
        let writing = match self.writing {
            OnItsWay::Done(writing) => *writing,
            // The thread panicked: nothing is on the disk, and nothing in the project has changed.
            OnItsWay::Syncing(writing) => writing.recv().unwrap_or(Err(ReplaceError::Changed { kept_as: None })),
        };
        FirstHalf { text: self.text, writing }
    }
}

fn running(document: &Document, dispatch: DispatchId, started: Wall) -> Result<Arc<str>, queue::QueueFull> {
    queue::start(document, dispatch, convert::timestamp(started)).map(Arc::from)
}

impl OnItsWay {
    /// Another thread makes the private file and waits for the disk.
    fn new<F>(begin: F, errand: Errands) -> Self
    where
        F: FnOnce() -> Result<Unsynced<Arc<ProjectDir>>, ReplaceError> + Send + 'static,
    {
        let write = move || begin().and_then(Unsynced::sync);
        let Ok(runtime) = Handle::try_current() else { return Self::Done(Box::new(write())) };
        let (told, writing) = sync_channel(1);
        runtime.spawn_blocking(move || {
            // Whoever asked may have given up: then it is removed again.
            told.send(write()).ok();
            drop(errand);
        });
        Self::Syncing(writing)
    }
}
