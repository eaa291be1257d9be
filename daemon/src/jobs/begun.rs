//! The first half of a claim: RUNNING beside the file, on the disk and seen by nobody, and the message for the session.
//!
//! The wait for the disk is most of what a dispatch takes. When a PENDING that is read will most likely be claimed, the
//! thread that has read it writes and waits at once, and another one judges the task and makes the message meanwhile.
//! That way round, because the folder may still be held by the planner's rename, which takes as long as its old file
//! needs to be freed: who waits for it leaves its processor to the planner. Nothing is decided here: what turns out not
//! to be wanted is removed.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use lifecycle::{Claim, ClaimResult, Moment, Process, TaskMeta, Wall};
use queue::{DispatchId, Document};
use store::{ProjectDir, RawHash, ReplaceError, Staged};
use tokio::runtime::Handle;

use super::Prepared;
use crate::config::Settings;
use crate::convert;
use crate::pool::Aside;

/// What a dispatch will be made of if the file that is read now leads to one.
#[derive(Debug, Clone, Copy)]
pub struct Likely {
    /// The moment of the step that will decide: its wall clock and its chance make the dispatch.
    pub moment: Moment,
    /// The process of the idle session.
    pub session: Process,
}

/// What the first half of a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct About {
    pub(super) dispatch: DispatchId,
    pub(super) started: Wall,
    /// Of the file with PENDING.
    pub(super) hash: RawHash,
    pub(super) session: Process,
}

/// A first half that is over.
pub struct Begun {
    pub(super) about: About,
    /// The bytes of RUNNING.
    pub(super) text: Arc<str>,
    /// Those bytes on the disk.
    pub(super) writing: Result<Staged<Arc<ProjectDir>>, ReplaceError>,
    pub(super) ready: Result<Box<Ready>, ClaimResult>,
}

/// All that must hold before RUNNING is written, held.
pub(super) struct Ready {
    pub(super) settings: Arc<Settings>,
    pub(super) prepared: Prepared,
    pub(super) task: TaskMeta,
    /// For the journal, if it can be written.
    pub(super) row: Option<String>,
}

impl About {
    pub(super) fn likely(likely: Likely, hash: RawHash) -> Self {
        let (dispatch, started) = (DispatchId::from_random(likely.moment.entropy), likely.moment.wall);
        Self { dispatch, started, hash, session: likely.session }
    }

    pub(super) fn decided(claim: &Claim) -> Self {
        let Claim { dispatch, started, hash, process, .. } = *claim;
        Self { dispatch, started, hash: RawHash::from(hash), session: process }
    }

    /// RUNNING over this document.
    ///
    /// # Errors
    /// It does not fit into the file.
    pub(super) fn running(&self, document: &Document) -> Result<Arc<str>, queue::QueueFull> {
        queue::start(document, self.dispatch, convert::timestamp(self.started)).map(Arc::from)
    }
}

/// Does `here` on this thread and `there` on another one, if there is one. A panic in either is one of this thread.
pub(super) fn both<H, T>(aside: &Aside, here: impl FnOnce() -> H, there: impl FnOnce() -> T + Send + 'static) -> (H, T)
where
    T: Send + 'static,
{
    let (told, done) = sync_channel(1);
    let there = move || {
        // Whoever asked may have panicked.
        told.send(there()).ok();
    };
    if let Err(there) = aside.ask(Box::new(there)) {
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(there)),
            Err(_) => there(),
        }
    }
    let here = here();
    match done.recv() {
        Ok(there) => (here, there),
        // The panic is in the log already.
        Err(_) => resume_unwind(Box::new("the other half panicked")),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn both_halves_are_done_at_the_same_time_if_there_is_a_thread_for_the_other() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _entered = runtime.enter();
        let aside = Aside::default();
        for round in 0..20 {
            // Each waits for the other.
            let (tell_there, hear_here) = (channel(), channel());
            let here = || {
                tell_there.0.send(round).unwrap();
                hear_here.1.recv().unwrap()
            };
            let there = move || {
                hear_here.0.send(round + 1).unwrap();
                tell_there.1.recv().unwrap()
            };
            assert_eq!(both(&aside, here, there), (round + 1, round));
        }
    }

    #[test]
    fn without_a_runtime_one_thread_may_have_to_do_both() {
        let aside = Aside::default();
        for round in 0..20 {
            assert_eq!(both(&aside, || round, move || round + 1), (round, round + 1));
        }
    }

    #[test]
    fn a_panic_of_the_other_half_is_one_of_the_whole() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _entered = runtime.enter();
        let panicked = catch_unwind(AssertUnwindSafe(|| both(&Aside::default(), || 1, || panic!("boom"))));
        assert!(panicked.map(|(_, ()): (i32, ())| ()).is_err());
    }
}
