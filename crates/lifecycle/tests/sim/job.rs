//! File work in sub-steps on the simulated disk, so that anything can happen between two of them. Faults come from
//! [`Faults`]; nothing here knows the state machine.

use lifecycle::{
    Acquired, Checked, ClaimResult, Done, EndWrite, Failure, Holder, Job, Keep, Outcome, Process, Reason, Recovered,
    Seen, SettleResult, SubmitResult, Verdict,
};
use queue::DispatchId;

use super::disk::{Bytes, Doc, Entry, LockFile, Row, Status, hash_of};
use super::mutant::Mutant;
use super::world::{Fate, World};

/// What fails next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    pub(crate) writes: u8,
    pub(crate) reads: u8,
    pub(crate) log: bool,
}

/// A job on its way.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) job: Job,
    stage: u8,
    /// What is to stand in the file.
    next: Option<Entry>,
}

enum Replaced {
    More,
    Failed(Failure),
    Written([u8; 32]),
}

impl Work {
    pub(crate) const fn new(job: Job) -> Self {
        Self { job, stage: 0, next: None }
    }
}

fn cannot() -> Failure {
    Failure::CannotWrite("no space left".into())
}

impl World {
    /// One sub-step; `Some` when the job is done.
    pub(crate) fn work(&mut self, work: &mut Work) -> Option<Done> {
        let done = match work.job.clone() {
            Job::Acquire => Done::Acquired(self.acquire()),
            Job::Read => Done::Read(self.read()),
            Job::Bind(binding) => Done::Bound(match self.lock_failure() {
                Some(failure) => Err(failure),
                None if self.write_fails() => Err(cannot()),
                None => {
                    if let Some(lock) = &mut self.disk.lock {
                        lock.binding = binding;
                    }
                    Ok([0; 32])
                }
            }),
            Job::Release(keep) => self.release(keep),
            Job::Unlock { confirm } => {
                let foreign = self.disk.lock.as_ref().is_some_and(|lock| lock.instance == 0);
                let moved = confirm && foreign && !self.foreign_alive;
                if moved {
                    self.disk.lock = None;
                }
                Done::Unlocked { moved }
            }
            Job::Claim(claim) => return self.claim(work, claim.dispatch, claim.hash, claim.process),
            Job::Settle => Done::Settled(self.settle()),
            Job::Reject { hash, .. } => {
                let result = self.over(work, Some(hash), |doc| doc.ended(false))?;
                if result.is_ok() {
                    self.retire(Fate::Rejected);
                }
                Done::Rejected(result)
            }
            Job::CheckReport { body, hash, .. } => Done::Checked(self.check_report(body, hash)),
            Job::OpenLog => Done::LogOpened(if self.faults.log { Err("the heading is gone".into()) } else { Ok(()) }),
            Job::WriteEnd(end) => return self.write_end(work, &end),
            Job::AppendLog => {
                let line = self.last_line;
                Done::LogAppended(self.append(line))
            }
            Job::ReplayLog { running } => Done::Replayed(self.replay(running)),
            Job::Submit { body, hash } => return self.submit(work, body, hash),
        };
        Some(done)
    }

    fn write_fails(&mut self) -> bool {
        let fails = self.faults.writes > 0;
        self.faults.writes = self.faults.writes.saturating_sub(1);
        fails
    }

    /// Folder and lock are still those we took (D18).
    fn lock_failure(&self) -> Option<Failure> {
        if !self.disk.here {
            return Some(Failure::Missing);
        }
        let ours = self
            .disk
            .lock
            .as_ref()
            .is_some_and(|lock| lock.instance == self.instance && Some(lock.inode) == self.lock_inode);
        (!ours).then_some(Failure::LockLost)
    }

    fn acquire(&mut self) -> Acquired {
        if !self.disk.here {
            return Acquired::Missing;
        }
        let old = self.disk.lock.clone();
        if old.as_ref().is_some_and(|lock| lock.instance == 0 && self.foreign_alive) {
            let (text, holder) = ("another program owns it".to_owned(), Holder::default());
            return Acquired::Blocked(Verdict { rule: 8, reason: Reason::LockLive, text, holder });
        }
        if self.write_fails() {
            return Acquired::Failed(cannot());
        }
        let old = old.filter(|lock| lock.instance != self.instance);
        let recovered = old.map(|lock| {
            let binding = lock.binding.filter(|_| lock.boot == self.boot);
            let alive = binding.as_ref().is_some_and(|binding| self.is_alive(binding.process));
            Recovered { binding, alive }
        });
        self.inodes += 1;
        self.lock_inode = Some(self.inodes);
        let binding = recovered.as_ref().and_then(|old| old.binding.clone());
        let lock = LockFile { instance: self.instance, boot: self.boot, inode: self.inodes, binding };
        self.disk.lock = Some(lock);
        self.disk.fresh = None;
        self.disk.unsynced = false; // taking the lock syncs the folder
        if let Some(Doc { status: Status::Running, by: Some(by), .. }) = self.disk.doc() {
            self.durable.insert(*by);
        }
        let lost = self.sweep();
        Acquired::Ours { recovered, fresh_folder: false, lost, halted: None }
    }

    /// Temporaries of a daemon that died (D64).
    fn sweep(&mut self) -> Vec<String> {
        let mut lost = Vec::new();
        for entry in [self.disk.swap.take(), self.disk.displaced.take()].into_iter().flatten() {
            if self.disk.is_known(&entry) {
                self.settle_fate(&entry, Fate::Claimed(None));
            } else {
                lost.push(self.keep(entry));
            }
        }
        lost
    }

    fn keep(&mut self, entry: Entry) -> String {
        self.settle_fate(&entry, Fate::Kept);
        self.disk.kept.push(entry);
        format!("tasks.json.lost-{}", self.disk.kept.len())
    }

    fn read(&mut self) -> Seen {
        if let Some(failure) = self.lock_failure() {
            return Seen::Failed(failure);
        }
        if self.faults.reads > 0 {
            self.faults.reads -= 1;
            return Seen::Failed(cannot());
        }
        Seen::View(self.disk.view())
    }

    fn release(&mut self, keep: Keep) -> Done {
        if self.lock_failure().is_none() && keep == Keep::Remove {
            self.disk.lock = None;
        }
        self.lock_inode = None;
        Done::Released
    }

    /// The durable replace of D64, one sub-step at a time.
    fn replace(&mut self, work: &mut Work, expected: Option<[u8; 32]>) -> Replaced {
        work.stage += 1;
        match work.stage {
            1 if self.write_fails() => return Replaced::Failed(cannot()),
            1 => self.disk.fresh.clone_from(&work.next),
            2 => {
                if let Some(failure) = self.lock_failure() {
                    return Replaced::Failed(failure);
                }
                if self.disk.hash() != expected {
                    self.disk.fresh = None;
                    return Replaced::Failed(Failure::Changed);
                }
            }
            3 if self.write_fails() => {
                self.disk.fresh = None;
                return Replaced::Failed(cannot());
            }
            3 => {
                self.disk.swap = std::mem::replace(&mut self.disk.file, self.disk.fresh.take());
                self.disk.unsynced = true;
                self.published.extend(work.next.as_ref().and_then(|entry| entry.write));
            }
            4 if self.disk.swap.as_ref().map(|entry| hash_of(&entry.bytes)) != expected => {
                return self.exchange_back(work);
            }
            _ => {
                self.disk.unsynced = false;
                let hash = work.next.as_ref().map(|entry| hash_of(&entry.bytes)).unwrap_or_default();
                return Replaced::Written(hash);
            }
        }
        Replaced::More
    }

    /// What came out is not what the re-check saw: the planner's bytes go back, whatever it wrote meanwhile.
    fn exchange_back(&mut self, work: &Work) -> Replaced {
        if self.disk.file == work.next {
            std::mem::swap(&mut self.disk.file, &mut self.disk.swap);
        }
        // Else a still newer write stands there, and what came out was superseded by it.
        self.retire(Fate::Superseded);
        self.disk.unsynced = false;
        Replaced::Failed(Failure::Changed)
    }

    /// Replaces the document in the file by what `change` makes of it.
    fn over(
        &mut self,
        work: &mut Work,
        hash: Option<[u8; 32]>,
        change: impl Fn(&Doc) -> Doc,
    ) -> Option<Result<[u8; 32], Failure>> {
        if work.stage == 0 {
            if let Some(failure) = self.lock_failure() {
                return Some(Err(failure));
            }
            match self.disk.doc() {
                Some(doc) if self.disk.hash() == hash => {
                    work.next = Some(Entry { bytes: Bytes::Doc(change(doc)), write: None });
                }
                _ => return Some(Err(Failure::Changed)),
            }
        }
        match self.replace(work, hash) {
            Replaced::More => None,
            Replaced::Failed(failure) => Some(Err(failure)),
            Replaced::Written(hash) => Some(Ok(hash)),
        }
    }

    fn claim(&mut self, work: &mut Work, dispatch: DispatchId, hash: [u8; 32], process: Process) -> Option<Done> {
        if work.stage == 0 && self.is_stopped(process) {
            return Some(Done::Claimed(ClaimResult::Stopped));
        }
        if work.stage == 0 && self.faults.log {
            return Some(Done::Claimed(ClaimResult::WorkLog("the heading is gone".into())));
        }
        if self.mutant == Mutant::NoClaim {
            return Some(Done::Claimed(ClaimResult::Claimed { hash, displaced: false }));
        }
        let result = self.over(work, Some(hash), |doc| doc.running(dispatch))?;
        Some(Done::Claimed(match result {
            Ok(hash) => {
                self.durable.insert(dispatch);
                self.disk.displaced = self.disk.swap.take();
                self.note_claimed(dispatch);
                ClaimResult::Claimed { hash, displaced: true }
            }
            Err(failure) => ClaimResult::Failed(failure),
        }))
    }

    fn settle(&mut self) -> SettleResult {
        match self.disk.displaced.take() {
            Some(entry) if self.is_open(&entry) && self.mutant != Mutant::NoSettle => {
                SettleResult::Lost(self.keep(entry))
            }
            _ => SettleResult::Clean,
        }
    }

    /// Removes what an exchange brought out; what became of the planner's write in it is `fate`.
    fn retire(&mut self, fate: Fate) {
        if let Some(entry) = self.disk.swap.take() {
            self.settle_fate(&entry, fate);
        }
    }

    fn check_report(&mut self, body: lifecycle::Body, hash: [u8; 32]) -> Checked {
        if self.disk.hash() != Some(hash) {
            return Checked::Changed(self.disk.view());
        }
        match self.bodies.get(&body).map(|body| body.kind % 8) {
            _ if self.mutant == Mutant::AnyReport => Checked::Accepted { complete: true },
            Some(0 | 4 | 5) => Checked::Accepted { complete: true },
            Some(1 | 6) => Checked::Accepted { complete: false },
            Some(2) => Checked::Accepted { complete: true },
            _ => Checked::Refused { problems: 1 },
        }
    }

    fn write_end(&mut self, work: &mut Work, end: &EndWrite) -> Option<Done> {
        if let Outcome::Report { body, .. } = &end.outcome
            && self.bodies.get(body).is_some_and(|body| body.kind % 8 == 2)
        {
            return Some(Done::EndWritten(Err(Failure::TooLarge { limit: 1, size: 2 })));
        }
        if work.stage == 0 {
            self.last_line = end.dispatch;
            self.disk.journal.extend(end.dispatch.map(Row::Line));
        }
        if self.mutant == Mutant::NoEnd {
            return Some(Done::EndWritten(Ok(end.hash)));
        }
        let complete = matches!(end.outcome, Outcome::Report { complete: true, demoted: None, .. });
        let result = self.over(work, Some(end.hash), |doc| doc.ended(complete))?;
        if result.is_ok() {
            self.note_end(end, complete);
            self.retire(Fate::Ended);
        }
        Some(Done::EndWritten(result))
    }

    fn append(&mut self, line: Option<DispatchId>) -> Result<(), String> {
        if self.faults.log || self.write_fails() {
            return Err("no space left".into());
        }
        self.disk.log.push(line);
        Ok(())
    }

    fn replay(&mut self, running: Option<DispatchId>) -> Result<(), (Vec<DispatchId>, String)> {
        let mut missing: Vec<DispatchId> = Vec::new();
        for row in &self.disk.journal {
            if let Row::Line(id) = row
                && Some(*id) != running
                && !self.disk.log.contains(&Some(*id))
                && !missing.contains(id)
            {
                missing.push(*id);
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        if self.faults.log || self.write_fails() {
            return Err((missing, "no space left".into()));
        }
        self.disk.log.extend(missing.into_iter().map(Some));
        Ok(())
    }

    fn submit(&mut self, work: &mut Work, body: lifecycle::Body, hash: Option<[u8; 32]>) -> Option<Done> {
        if work.stage == 0 {
            if self.bodies.get(&body).is_some_and(|body| body.kind % 8 == 7) {
                return Some(Done::Submitted(SubmitResult::Invalid));
            }
            if let Some(failure) = self.lock_failure() {
                return Some(Done::Submitted(SubmitResult::Failed(failure)));
            }
            work.next = Some(self.new_pending(true));
        }
        let result = match self.replace(work, hash) {
            Replaced::More => return None,
            Replaced::Failed(failure) => SubmitResult::Failed(failure),
            Replaced::Written(hash) => {
                self.retire(Fate::Superseded);
                SubmitResult::Written(hash)
            }
        };
        Some(Done::Submitted(result))
    }
}
