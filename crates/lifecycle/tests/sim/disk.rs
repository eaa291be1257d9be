//! The simulated disk: the queue file, what exchanges displace, the lock, the journal, the work log. It survives the
//! daemon; what a crash of the machine takes is in [`Disk::power_loss`].

use std::hash::{DefaultHasher, Hash, Hasher};

use lifecycle::{Binding, Content, Facts, Pending, TaskMeta, View, Wall};
use queue::{DispatchId, Run};

/// What `status` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    Idle,
    Pending,
    Running,
    Complete,
    Error,
}

/// A document; everything in it counts for the hash, `planner` and `edit` for the fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Doc {
    pub(crate) planner: u64,
    pub(crate) edit: u64,
    pub(crate) unknown: u64,
    pub(crate) valid: bool,
    pub(crate) status: Status,
    pub(crate) by: Option<DispatchId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Bytes {
    Garbage(u64),
    Doc(Doc),
}

/// A file and, if the planner wrote these bytes, as which of its writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) bytes: Bytes,
    pub(crate) write: Option<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct LockFile {
    /// 0: another program.
    pub(crate) instance: u64,
    pub(crate) boot: u32,
    pub(crate) inode: u64,
    pub(crate) binding: Option<Binding>,
}

#[derive(Debug, Clone)]
pub(crate) enum Row {
    Started {
        dispatch: DispatchId,
        planner: u64,
        edit: u64,
        wall: Wall,
    },
    Sent(DispatchId),
    Accepted(DispatchId),
    Run(DispatchId, Run),
    /// The finished line, written before the file.
    Line(DispatchId),
    Ended {
        dispatch: DispatchId,
        complete: bool,
    },
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    pub(crate) here: bool,
    pub(crate) file: Option<Entry>,
    pub(crate) fresh: Option<Entry>,
    /// What the exchange that is under way brought out.
    pub(crate) swap: Option<Entry>,
    /// What RUNNING replaced, until it is looked at once more.
    pub(crate) displaced: Option<Entry>,
    /// The exchange is not yet synced.
    pub(crate) unsynced: bool,
    pub(crate) kept: Vec<Entry>,
    pub(crate) lock: Option<LockFile>,
    pub(crate) journal: Vec<Row>,
    pub(crate) log: Vec<Option<DispatchId>>,
}

pub(crate) fn hash_of(bytes: &Bytes) -> [u8; 32] {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    spread(hasher.finish())
}

fn spread(number: u64) -> [u8; 32] {
    let mut all = [0; 32];
    all[..8].copy_from_slice(&number.to_le_bytes());
    all
}

impl Doc {
    pub(crate) fn meta(&self) -> TaskMeta {
        let mut hasher = DefaultHasher::new();
        (self.planner, self.edit).hash(&mut hasher);
        TaskMeta {
            task_id: format!("T-{}", self.planner),
            created_at: format!("{}", self.planner),
            fingerprint: spread(hasher.finish()),
        }
    }

    pub(crate) fn running(&self, by: DispatchId) -> Self {
        Self { status: Status::Running, by: Some(by), ..self.clone() }
    }

    pub(crate) fn ended(&self, complete: bool) -> Self {
        Self { status: if complete { Status::Complete } else { Status::Error }, ..self.clone() }
    }
}

impl Disk {
    pub(crate) fn doc(&self) -> Option<&Doc> {
        match self.file.as_ref().map(|entry| &entry.bytes) {
            Some(Bytes::Doc(doc)) => Some(doc),
            _ => None,
        }
    }

    pub(crate) fn hash(&self) -> Option<[u8; 32]> {
        self.file.as_ref().map(|entry| hash_of(&entry.bytes))
    }

    pub(crate) fn view(&self) -> View {
        let content = match self.file.as_ref().map(|entry| &entry.bytes) {
            None => Content::Missing,
            Some(Bytes::Garbage(_)) => Content::Unreadable { code: "invalid_json", message: "half".into() },
            Some(Bytes::Doc(doc)) => self.content(doc),
        };
        View { hash: self.hash(), content }
    }

    fn content(&self, doc: &Doc) -> Content {
        let task = Box::new(doc.meta());
        match doc.status {
            Status::Pending => Content::Pending(Box::new(Pending {
                task: *task,
                rejection: (!doc.valid).then(|| "Rejected PENDING task: it is invalid".to_owned()),
                full: false,
                tracked: false,
                dispatched_before: self.dispatched_before(doc.planner),
            })),
            Status::Running => {
                Content::Running { task, by: doc.by, facts: doc.by.and_then(|id| self.facts(id)).map(Box::new) }
            }
            Status::Idle | Status::Complete | Status::Error => {
                Content::Settled { by: doc.by, complete: doc.status == Status::Complete, task_id: Some(task.task_id) }
            }
        }
    }

    fn dispatched_before(&self, planner: u64) -> Vec<Wall> {
        let starts = self.journal.iter().rev().filter_map(|row| match row {
            Row::Started { planner: id, wall, .. } if *id == planner => Some(*wall),
            _ => None,
        });
        starts.take(2).collect()
    }

    pub(crate) fn facts(&self, dispatch: DispatchId) -> Option<Facts> {
        let mut facts = Facts::default();
        let mut known = false;
        for row in &self.journal {
            match row {
                Row::Started { dispatch: id, wall, .. } if *id == dispatch => facts.started = Some(*wall),
                Row::Sent(id) if *id == dispatch => facts.sent = true,
                Row::Accepted(id) if *id == dispatch => facts.accepted = true,
                Row::Ended { dispatch: id, .. } if *id == dispatch => facts.ended = true,
                Row::Run(id, run) if *id == dispatch => {
                    facts.runs.retain(|old| old.run_id != run.run_id);
                    facts.runs.push(run.clone());
                }
                _ => continue,
            }
            known = true;
        }
        known.then_some(facts)
    }

    /// Live runs of tasks that have ended in ERROR, by the journal.
    pub(crate) fn outlived(&self) -> Vec<(DispatchId, Run)> {
        let ended = self.journal.iter().filter_map(|row| match row {
            Row::Ended { dispatch, complete: false } => Some(*dispatch),
            _ => None,
        });
        let live =
            |id: DispatchId| self.facts(id).unwrap_or_default().runs.into_iter().filter(|run| run.state.is_live());
        ended.flat_map(|id| live(id).map(move |run| (id, run))).collect()
    }

    /// The displaced file is one of ours, or the planner's write is known from elsewhere (D64).
    pub(crate) fn is_known(&self, entry: &Entry) -> bool {
        let Bytes::Doc(swap) = &entry.bytes else { return false };
        let ours = swap.by.is_some() && matches!(swap.status, Status::Running | Status::Complete | Status::Error);
        let print = swap.meta().fingerprint;
        let queued = self.doc().is_some_and(|doc| doc.meta().fingerprint == print);
        let dispatched = self.journal.iter().any(
            |row| matches!(row, Row::Started { planner, edit, .. } if *planner == swap.planner && *edit == swap.edit),
        );
        ours || queued || dispatched
    }

    /// The machine went down: the journal is not synced, an exchange may not be.
    pub(crate) fn power_loss(&mut self, rows: usize, undo: bool) {
        self.journal.truncate(self.journal.len().saturating_sub(rows));
        if std::mem::take(&mut self.unsynced) && undo {
            std::mem::swap(&mut self.file, &mut self.swap);
        }
    }
}
