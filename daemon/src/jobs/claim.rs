//! Writing RUNNING (D13), rejecting a PENDING (D4), settling the displaced file (D64).

use lifecycle::{Claim, ClaimResult, Failure, SettleResult, WriteResult};
use queue::Document;
use store::{Expected, ProjectDir, RawHash, Settled};

use super::render::Unready;
use super::{Context, Files, failure};
use crate::convert;

impl Files {
    /// Everything that must hold before RUNNING is written, then the one durable write of a dispatch.
    pub(super) fn claim(&mut self, claim: &Claim, context: &Context) -> ClaimResult {
        let dir = match self.ours() {
            Ok(dir) => dir,
            Err(failure) => return ClaimResult::Failed(failure),
        };
        if is_stopped(context, claim.process.pid) {
            return ClaimResult::Stopped;
        }
        if let Err(words) = self.check_log(&dir, context) {
            return ClaimResult::WorkLog(words);
        }
        let hash = RawHash::from(claim.hash);
        let document = match self.document(&dir, hash) {
            Ok(document) => document,
            Err(failure) => return ClaimResult::Failed(failure),
        };
        let prepared = match self.prepare(&document, claim.dispatch, context) {
            Ok(prepared) => prepared,
            Err(Unready::ContextFile(words)) => return ClaimResult::ContextFile(words),
            Err(Unready::Changed) => return ClaimResult::Failed(Failure::Changed),
        };
        let text = match queue::start(&document, claim.dispatch, convert::timestamp(claim.started)) {
            Ok(text) => text,
            Err(full) => return ClaimResult::Failed(too_large(full.size)),
        };
        self.settle_leftover(&dir, context);
        match dir.replace_queue(Expected::Bytes(hash), text.as_bytes(), context.now) {
            Err(error) => ClaimResult::Failed(failure::replace(&dir, &error)),
            Ok(replaced) => {
                self.watched.note_write(replaced.stamp);
                let displaced = replaced.displaced.is_some();
                self.swap = replaced.displaced;
                self.warn_tight(&document);
                let (task_id, created) = (prepared.task_id.clone(), super::read::meta(&document).created_at);
                self.past(context).dispatches.note(&task_id, &created, claim.started);
                self.queue.status = Some(wire::status::TaskStatus::Running);
                self.prepared = Some(Box::new(prepared));
                ClaimResult::Claimed { hash: *RawHash::of(text.as_bytes()).as_bytes(), displaced }
            }
        }
    }

    fn warn_tight(&self, document: &Document) {
        if let Ok(room) = queue::Room::of(document)
            && room.is_tight()
        {
            let left = room.left_for_report();
            tracing::warn!(project = %self.path.display(), left, "little room is left in tasks.json for the report");
        }
    }

    /// A displaced file that nobody settled (a task that ended without acceptance).
    fn settle_leftover(&mut self, dir: &ProjectDir, context: &Context) {
        if let Some(swap) = self.swap.take()
            && let Err(error) = swap.settle(dir, context.now)
        {
            tracing::warn!(project = %self.path.display(), %error, "a displaced file could not be removed");
        }
    }

    pub(super) fn settle(&mut self, context: &Context) -> SettleResult {
        let (Some(swap), Some(dir)) = (self.swap.take(), self.dir.clone()) else { return SettleResult::Clean };
        match swap.settle(&dir, context.now) {
            Ok(Settled::Clean) => SettleResult::Clean,
            Ok(Settled::Lost { kept_as }) => SettleResult::Lost(kept_as.display().to_string()),
            Err(error) => {
                // It stays on disk under its own name; the sweep at the next start judges it again.
                tracing::warn!(project = %self.path.display(), %error, "a displaced file could not be looked at");
                SettleResult::Clean
            }
        }
    }

    pub(super) fn reject(&mut self, hash: RawHash, text: &str, context: &Context) -> WriteResult {
        let dir = self.ours()?;
        let document = self.document(&dir, hash)?;
        let new = queue::reject_with(&document, text, context.now).map_err(|full| too_large(full.size))?;
        let written = self.replace(&dir, hash, &new, context)?;
        self.queue.status = Some(wire::status::TaskStatus::Error);
        Ok(written)
    }

    /// One durable replace whose displaced file is settled at once; what it finds lost is told as a change.
    pub(super) fn replace(&mut self, dir: &ProjectDir, hash: RawHash, text: &str, context: &Context) -> WriteResult {
        let replaced = dir
            .replace_queue(Expected::Bytes(hash), text.as_bytes(), context.now)
            .map_err(|error| failure::replace(dir, &error))?;
        self.watched.note_write(replaced.stamp);
        if let Some(swap) = replaced.displaced {
            self.settle_now(&swap, dir, context);
        }
        Ok(*RawHash::of(text.as_bytes()).as_bytes())
    }

    pub(super) fn settle_now(&mut self, swap: &store::SwapFile, dir: &ProjectDir, context: &Context) {
        match swap.settle(dir, context.now) {
            Ok(Settled::Clean) => {}
            Ok(Settled::Lost { kept_as }) => {
                let kept = kept_as.display().to_string();
                tracing::warn!(project = %self.path.display(), kept, "a write to tasks.json that nobody had read was kept aside");
                self.warnings.push(format!("a write to tasks.json that nobody had read was kept as {kept}"));
            }
            Err(error) => {
                tracing::warn!(project = %self.path.display(), %error, "a displaced file could not be removed");
            }
        }
    }
}

pub(super) const fn too_large(size: usize) -> Failure {
    Failure::TooLarge { limit: queue::limits::QUEUE_BYTES, size }
}

/// State `T` (D24): such a session is not idle, whatever it said before.
fn is_stopped(context: &Context, pid: u32) -> bool {
    let look = i32::try_from(pid).map(|pid| context.hub.claimant.processes.look(pid));
    matches!(look, Ok(store::Presence::Alive { stopped: true, .. }))
}
