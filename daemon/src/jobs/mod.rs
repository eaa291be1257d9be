//! The file work of one project: each `lifecycle::Job` carried out on `store`, `queue` and `profiles`, on a blocking
//! thread. What a result means is decided by the state machine; nothing here does.

mod acquire;
mod begun;
mod claim;
mod end;
mod failure;
mod read;
mod render;
mod report;
mod submit;
mod warnings;

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use lifecycle::{Body, Done, Job};
use queue::DispatchId;
use store::{ProjectDir, RawHash};

use crate::actor::bodies::BodyRef;
use crate::config::Settings;
use crate::git::TrackedCache;
use crate::history::{Outlived, Past};
use crate::hub::Hub;
use crate::watch::Watched;

pub use begun::{Begun, Likely};
pub use render::{Prepared, Renderer};
pub use warnings::Warnings;

/// What one project keeps open between jobs. It travels into each job and comes back with its result.
pub struct Files {
    /// The root as it was registered.
    pub path: Arc<Path>,
    /// The PENDING document that was read last, for the job that follows.
    pub fresh: Option<Box<(RawHash, queue::Document)>>,
    /// The first half of the claim that is likely to follow.
    pub begun: Option<Box<Begun>>,
    /// Root and `.pi`, opened once (D18).
    pub dir: Option<Arc<ProjectDir>>,
    /// Our ownership of the queue.
    pub lock: Option<Box<store::Lock>>,
    /// What the last durable replace of a claim displaced (D64).
    pub swap: Option<Box<store::SwapFile>>,
    /// The work log, open between its check and the append (D67).
    pub log: Option<Box<store::OpenLog>>,
    /// Since when the dead owner of this boot had the lock that we recovered.
    pub dead_owner_since: Option<Timestamp>,
    /// The work log when it was last found good (D30).
    pub log_checked: Option<Box<store::Stamp>>,
    /// The line that belongs to the end being written.
    pub line: Option<String>,
    /// The message of the last claim.
    pub prepared: Option<Box<Prepared>>,
    /// The journal's row of the end that was written last.
    pub ended: Option<Box<wire::journal::Ended>>,
    /// Runs of an ended task that outlived the daemon before this one (D66); told once.
    pub outlived: Option<Box<Outlived>>,
    /// Who left the lock that was taken over; told once.
    pub left_by: Option<LeftBy>,
    /// Writes of the planner that nobody saw, kept aside on the way (D64).
    pub kept: Vec<String>,
    /// The settings of the dispatch that was claimed, with the project's own file as it is now (D68, D71).
    pub claimed_with: Option<Arc<Settings>>,
    /// Where the last unlock moved a lock.
    pub moved_to: Option<String>,
    /// What git's index said (D65).
    pub tracked: TrackedCache,
    /// What the journal said at the start, and the dispatches since (D22, D65, D67).
    pub past: Option<Box<Past>>,
    /// What `daemon.status` shows of the file.
    pub queue: wire::status::QueueStatus,
    /// Things that still work but with less than they could, for `daemon.status`.
    pub warnings: Warnings,
    /// The watcher's cell: what was read last.
    pub watched: Arc<Watched>,
}

/// Whose the lock was that lay there and counted as dead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftBy {
    /// A daemon that stopped in order and left it for a task that runs (D19).
    Before,
    /// Ourselves: the folder was away and is back.
    Us,
    /// An owner that died: who it was, as far as the lock says, and how old the lock is (F060).
    Dead(Box<str>),
}

/// What a job is given beside the files.
#[derive(Clone)]
pub struct Context {
    /// Shared parts of the daemon.
    pub hub: Arc<Hub>,
    /// The settings that count: those of the moment of dispatch while a task runs (D71).
    pub settings: Arc<Settings>,
    /// Wall-clock time of the step that asked for the job.
    pub now: Timestamp,
    /// The RUNNING dispatch.
    pub running: Option<DispatchId>,
    /// The body that the job is about.
    pub body: Option<BodyRef>,
    /// The owner's session.
    pub session_id: Option<String>,
    /// For a reading that may well lead to a dispatch.
    pub likely: Option<Likely>,
}

impl Files {
    /// Nothing is open yet.
    #[must_use]
    pub fn new(path: Arc<Path>, watched: Arc<Watched>, queue: wire::status::QueueStatus) -> Self {
        Self {
            path,
            fresh: None,
            begun: None,
            dir: None,
            lock: None,
            swap: None,
            log: None,
            dead_owner_since: None,
            log_checked: None,
            line: None,
            prepared: None,
            ended: None,
            moved_to: None,
            outlived: None,
            left_by: None,
            kept: Vec::new(),
            claimed_with: None,
            tracked: TrackedCache::default(),
            past: None,
            queue,
            warnings: Warnings::default(),
            watched,
        }
    }

    /// Carries out `job`. Blocking.
    #[must_use]
    pub fn perform(mut self: Box<Self>, job: Job, context: &Context) -> (Box<Self>, Done) {
        if !matches!(job, Job::WriteEnd(_) | Job::AppendLog) {
            // An end that was given up half-way must not keep the log locked: the next one would wait for itself.
            self.log = None;
        }
        if !matches!(job, Job::Claim(_)) {
            self.begun = None;
        }
        let done = match job {
            Job::Read => {
                let (files, seen) = self.read(context);
                return (files, Done::Read(seen));
            }
            Job::Acquire => Done::Acquired(self.acquire(context)),
            Job::Bind(binding) => Done::Bound(self.bind(binding.as_ref(), context)),
            Job::Release(keep) => self.release(keep),
            Job::Unlock { confirm } => self.unlock(confirm, context),
            Job::Claim(claim) => Done::Claimed(self.claim(&claim, context)),
            Job::Settle => Done::Settled(self.settle(context)),
            Job::Reject { hash, text } => Done::Rejected(self.reject(RawHash::from(hash), &text, context)),
            Job::CheckReport { hash, runs, .. } => {
                Done::Checked(self.check_report(RawHash::from(hash), &runs, context))
            }
            Job::OpenLog => Done::LogOpened(self.open_log(context)),
            Job::WriteEnd(write) => Done::EndWritten(self.write_end(&write, context)),
            Job::AppendLog => Done::LogAppended(self.append_log(context)),
            Job::ReplayLog { running } => Done::Replayed(self.replay_log(running, context)),
            Job::Submit { hash, .. } => Done::Submitted(self.submit(hash.map(RawHash::from), context)),
        };
        (self, done)
    }

    fn opened(&self) -> Result<Arc<ProjectDir>, lifecycle::Failure> {
        self.dir.clone().ok_or(lifecycle::Failure::Missing)
    }

    /// Folder and lock must still be ours before anything is written (D18).
    fn ours(&mut self) -> Result<Arc<ProjectDir>, lifecycle::Failure> {
        let dir = self.opened()?;
        let lock = self.lock.as_mut().ok_or(lifecycle::Failure::LockLost)?;
        lock.still_ours().map_err(|error| acquire::lock_failure(&dir, &error))?;
        Ok(dir)
    }
}

/// Which body a job is about, if any.
#[must_use]
pub const fn body_of(job: &Job) -> Option<Body> {
    match job {
        Job::CheckReport { body, .. } | Job::Submit { body, .. } => Some(*body),
        Job::WriteEnd(write) => match write.outcome {
            lifecycle::Outcome::Report { body, .. } => Some(body),
            lifecycle::Outcome::Ours(_) | lifecycle::Outcome::Demote(_) => None,
        },
        _ => None,
    }
}
