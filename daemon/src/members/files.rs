//! What the members' file work keeps between jobs: what a look found, what could not be put on record yet, what is watched.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use lifecycle::members::Packet;
use team::Home;
use team::delivered::{self, DeliveredError, Step};
use tokio::sync::Notify as Signal;

use super::look::Signature;
use super::watching::Watching;
use crate::config::WatchMode;

/// A step of a dispatch that is to be put on record.
#[derive(Debug, Clone)]
pub(super) struct Owed {
    pub(super) goal: String,
    pub(super) round: u32,
    pub(super) dispatch_id: String,
    pub(super) step: OwedStep,
    pub(super) at: Timestamp,
}

/// As [`Step`], with its own text.
#[derive(Debug, Clone)]
pub(super) enum OwedStep {
    Accepted,
    Released(&'static str),
    Ended(Option<String>),
}

/// Moves into each job and comes back.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) home: Home,
    /// What the last look at each goal found.
    pub(super) goals: HashMap<String, Goal>,
    /// Steps that are not on record yet, oldest first.
    owed: VecDeque<Owed>,
    /// Faults that were logged, so that each is told once.
    told: HashSet<String>,
    pub(super) watching: Watching,
}

/// What a look at one goal found.
#[derive(Debug, Clone, Default)]
pub(super) struct Goal {
    /// Of its folders.
    pub(super) folders: Signature,
    /// Of every file in them.
    pub(super) files: Signature,
    /// The rounds that were read; `None`: all of them.
    pub(super) rounds: Option<Vec<u32>>,
    pub(super) packets: Vec<Packet>,
    /// Why nothing can be delivered to who takes part in this round, or in any (`None`).
    pub(super) problems: Vec<(Option<u32>, String)>,
}

impl Files {
    pub(super) fn new(home: Home, mode: WatchMode, changed: Arc<Signal>) -> Self {
        Self {
            home,
            goals: HashMap::new(),
            owed: VecDeque::new(),
            told: HashSet::new(),
            watching: Watching::new(mode, changed),
        }
    }

    /// The configuration names another home.
    pub(super) fn move_to(&mut self, home: Home) {
        if self.home.path() != home.path() {
            self.home = home;
            self.goals.clear();
            self.owed.clear();
        }
    }

    /// Puts a step on record, behind those that are owed still.
    pub(super) fn record(&mut self, owed: Owed) {
        self.owed.push_back(owed);
        // What cannot be written is told there, and written with the next job.
        self.settle().ok();
    }

    /// Puts everything on record that is owed.
    ///
    /// # Errors
    /// The system's words; what is not on record stays owed.
    pub(super) fn settle(&mut self) -> Result<(), String> {
        while let Some(next) = self.owed.front() {
            let step = match &next.step {
                OwedStep::Accepted => Step::Accepted,
                OwedStep::Released(why) => Step::Released(why),
                OwedStep::Ended(reason) => Step::Ended(reason.as_deref()),
            };
            match delivered::record(&self.home, &next.goal, next.round, &next.dispatch_id, step, next.at) {
                // Without its folder there is nothing left that could be sent again.
                Ok(()) | Err(DeliveredError::NoRound) => {}
                Err(error) => {
                    let words = crate::causes::chain(&error);
                    self.tell_once(format!("what was delivered cannot be put on record: {words}"));
                    return Err(words);
                }
            }
            self.owed.pop_front();
        }
        Ok(())
    }

    /// Whether this fault was logged.
    pub(super) fn has_told(&self, fault: &str) -> bool {
        self.told.contains(fault)
    }

    /// Logs a fault once; it is told again when it changed meanwhile.
    pub(super) fn tell_once(&mut self, fault: String) {
        if self.told.len() > 256 {
            self.told.clear();
        }
        if !self.told.contains(&fault) {
            tracing::warn!("{fault}");
            self.told.insert(fault);
        }
    }
}
