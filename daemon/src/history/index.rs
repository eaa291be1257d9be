//! What a daemon remembers of the time before it started: one pass over the journal, taken apart by project (D22, D65, D67).
//!
//! Each project takes its part once, when it is opened; nothing of it stays here afterwards.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use lifecycle::{Facts, Halted, Wall};
use queue::DispatchId;
use wire::control::Lifted;
use wire::event::LockChange;
use wire::journal::{Entry, Row};
use wire::session::EndStatus;
use wire::status::{ProjectState, StateReason};

use crate::journal::{self, Journal};

/// Dispatches of one project that are remembered.
const REMEMBERED: usize = 32;
/// Lines that a recovery compares with the work log: only the newest can be missing, a few more cost nothing.
const LINES: usize = 4;

/// What the journal says of one project.
#[derive(Debug, Default)]
pub struct Past {
    /// When its tasks were dispatched.
    pub dispatches: Dispatches,
    /// The finished lines of the newest ended dispatches, oldest first (D67).
    pub lines: VecDeque<(DispatchId, String)>,
    /// The newest dispatch and what is known of it (D22).
    pub newest: Option<(DispatchId, Facts)>,
    /// The task of that dispatch, if it ended in ERROR and nobody lifted the wait for its runs (D66).
    failed: Option<String>,
    /// The daemon before this one let go of the project in order.
    released: bool,
    /// The halt in which that daemon left it (D11, D64).
    halted: Option<StateReason>,
    /// Where the newest write that nobody had read is kept.
    kept: Option<String>,
}

/// A task, its dispatch, and its runs that may still be at work (D66).
pub type Outlived = (String, DispatchId, Vec<queue::Run>);

/// All projects of the journal.
pub type Index = HashMap<String, Past>;

/// Reads the whole journal once. Blocking.
#[must_use]
pub fn build(journal: &Journal) -> Index {
    let mut index = Index::new();
    let mut any_halted = false;
    let result = journal::index(journal.path(), crate::clock::Wall::from_unix_ms(i64::MIN), |line| {
        any_halted |= line.contains(HALTED);
        if !is_of_interest(line, any_halted) {
            return;
        }
        let Ok(Row { at, project: Some(project), entry, .. }) = Row::parse(line) else { return };
        // What is only said to be well makes no entry: a start tells that of every project.
        let past = match &entry {
            Entry::State(row) if row.state != ProjectState::Halted => index.get_mut(&project),
            _ => Some(index.entry(project).or_default()),
        };
        if let Some(past) = past {
            past.note(entry, super::wall(&at));
        }
    });
    if let Err(error) = result {
        tracing::warn!(%error, "the journal cannot be read; tasks that ran before are not known");
    }
    index
}

/// As it stands in a row about a state.
const HALTED: &str = "\"state\":\"halted\"";

/// A cheap look before the parse: rows of other kinds say nothing that outlives a daemon. Most rows of a long journal are
/// about states; they count only where a halt can have ended.
fn is_of_interest(line: &str, any_halted: bool) -> bool {
    line.contains("\"dispatch_id\":\"")
        || ["\"kind\":\"resumed\"", "\"kind\":\"lock\"", "\"kind\":\"lost\""].iter().any(|kind| line.contains(kind))
        || (any_halted && line.contains("\"kind\":\"state\""))
}

impl Past {
    /// Nothing is known: the project need not keep it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dispatches.is_empty()
            && self.lines.is_empty()
            && self.newest.is_none()
            && self.failed.is_none()
            && self.halted.is_none()
    }

    /// What is known of a dispatch that another daemon started (D22).
    #[must_use]
    pub fn facts(&self, dispatch: DispatchId) -> Option<Facts> {
        self.newest.as_ref().filter(|(id, _)| *id == dispatch).map(|(_, facts)| facts.clone())
    }

    pub(super) fn note(&mut self, entry: Entry, at: Option<Wall>) {
        match entry {
            Entry::Running(row) => {
                let started = super::wall(&row.started_at).or(at);
                if let (Some(id), Some(started)) = (DispatchId::parse(&row.dispatch_id), started) {
                    self.dispatches.note(&row.task_id, row.created_at.as_deref().unwrap_or_default(), started);
                    // It leaves the moment RUNNING is durable; only a refusal proves that it did not arrive (D69).
                    let facts =
                        Facts { started: Some(started), last_seen: Some(started), sent: true, ..Facts::default() };
                    self.newest = Some((id, facts));
                    self.failed = None;
                }
            }
            Entry::Sent(row) => self.change(&row.dispatch_id, at, |facts| facts.sent = true),
            // A refusal is proof of non-delivery (D69): as if it had never left.
            Entry::NotAccepted(row) => self.change(&row.dispatch_id, at, |facts| facts.sent = false),
            // Given up by a person: whatever the file says, it is not running any more (D11).
            Entry::Abandoned(row) => {
                self.halted = None;
                self.change(&row.dispatch_id, at, |facts| facts.ended = true);
            }
            Entry::Accepted(row) => self.change(&row.dispatch_id, at, |facts| facts.accepted = true),
            Entry::ReportRefused(row) => self.change(&row.dispatch_id, at, |facts| facts.accepted = true),
            Entry::Run(row) => {
                let run = crate::convert::run(row.run);
                self.change(&row.dispatch_id, at, |facts| {
                    match facts.runs.iter_mut().find(|known| known.run_id == run.run_id) {
                        Some(known) => *known = run,
                        None => facts.runs.push(run),
                    }
                });
            }
            Entry::NotEnded(row) => {
                let id = DispatchId::parse(&row.dispatch_id);
                self.lines.retain(|(known, _)| Some(*known) != id);
                self.failed = None;
            }
            Entry::Lock(row) => self.released = row.change == LockChange::Released,
            Entry::Resumed(row) => {
                self.failed.take_if(|_| row.lifted.contains(&Lifted::RunsAlive));
                self.halted.take_if(|_| row.lifted.contains(&Lifted::Halted));
            }
            Entry::State(row) if row.state == ProjectState::Halted => self.halted = row.reason,
            Entry::State(row) if !hides_a_halt(&row.state) => self.halted = None,
            Entry::Lost(row) => self.kept = Some(row.path),
            Entry::Ended(row) => {
                let newest = self.newest.as_ref().map(|(id, _)| id.to_string());
                // A task that ended before it ran says nothing about the runs of the one before it.
                if row.dispatch_id.is_some() {
                    let failed = row.status == EndStatus::Error && newest == row.dispatch_id;
                    self.failed = failed.then(|| row.task_id.clone());
                }
                if let (Some(id), Some(line)) = (row.dispatch_id.as_deref().and_then(DispatchId::parse), row.log_line) {
                    self.lines.retain(|(known, _)| *known != id);
                    self.lines.push_back((id, line));
                    if self.lines.len() > LINES {
                        self.lines.pop_front();
                    }
                }
            }
            _ => {}
        }
    }

    /// The background runs of the newest task that were alive when it ended in ERROR, on this boot (D66). Told once.
    pub fn take_outlived(&mut self) -> Option<Outlived> {
        let task_id = self.failed.take()?;
        let (dispatch, facts) = self.newest.as_ref()?;
        if facts.last_seen.is_none_or(|seen| seen.0 < boot_ms()) {
            return None; // a reboot ends every run
        }
        let runs: Vec<_> = facts.runs.iter().filter(|run| run.background && run.state.is_live()).cloned().collect();
        (!runs.is_empty()).then_some((task_id, *dispatch, runs))
    }

    /// The halt that nobody lifted. Told once.
    pub fn take_halted(&mut self) -> Option<Halted> {
        match self.halted.take()? {
            StateReason::LostWrite => Some(Halted::Lost(self.kept.take().unwrap_or_default())),
            _ => Some(Halted::Replaced),
        }
    }

    /// Whether the daemon before this one stopped in order. Told once.
    pub fn take_released(&mut self) -> bool {
        std::mem::take(&mut self.released)
    }

    fn change(&mut self, dispatch: &str, at: Option<Wall>, change: impl FnOnce(&mut Facts)) {
        if let Some((id, facts)) = &mut self.newest
            && DispatchId::parse(dispatch) == Some(*id)
        {
            facts.last_seen = at.or(facts.last_seen);
            change(facts);
        }
    }
}

/// States that come before `halted`: it may be so behind them.
const fn hides_a_halt(state: &ProjectState) -> bool {
    use ProjectState::{Blocked, Cancelling, Disabled, Leaving, Missing, Other, Starting, Stuck};
    matches!(state, Disabled | Missing | Starting | Stuck | Blocked | Leaving | Cancelling | Other)
}

/// When tasks of one project were dispatched, newest last (D65). Tasks are kept as hashes of id and `created_at`: two
/// that collide would only be shown as one that ran before.
#[derive(Debug, Default)]
pub struct Dispatches {
    known: VecDeque<(u64, Wall)>,
}

impl Dispatches {
    fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// When this task was dispatched before, newest first, two at most.
    #[must_use]
    pub fn before(&self, task_id: &str, created_at: &str) -> Vec<Wall> {
        let wanted = key(task_id, created_at);
        self.known.iter().rev().filter(|(key, _)| *key == wanted).map(|(_, at)| *at).take(2).collect()
    }

    /// Notes a dispatch.
    pub fn note(&mut self, task_id: &str, created_at: &str, at: Wall) {
        if self.known.len() == REMEMBERED {
            self.known.pop_front();
        }
        self.known.push_back((key(task_id, created_at), at));
    }
}

/// When this machine was booted, in milliseconds since 1970.
fn boot_ms() -> i64 {
    let up = rustix::time::clock_gettime(BOOT_CLOCK);
    crate::clock::Wall::now().unix_ms() - up.tv_sec.saturating_mul(1_000)
}

/// Counts sleep too; macOS has only the monotonic one, which also starts at boot.
#[cfg(target_os = "linux")]
const BOOT_CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const BOOT_CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;

fn key(task_id: &str, created_at: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (task_id, created_at).hash(&mut hasher);
    hasher.finish()
}
