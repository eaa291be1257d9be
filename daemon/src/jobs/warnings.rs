//! What a project has less of than it could have, for `daemon.status`: one sentence for each matter, as long as it is so.

use std::collections::BTreeMap;

/// What a sentence is about; the next one about the same takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Matter {
    /// File locks.
    Locks,
    /// Events of the file system.
    Events,
    /// The exchange of two files (D64).
    Exchange,
    /// Room for the report in `tasks.json`.
    Room,
    /// The work log.
    WorkLog,
}

/// The sentences.
#[derive(Debug, Default)]
pub struct Warnings(BTreeMap<Matter, String>);

impl Warnings {
    /// What is to be said of a matter now, if anything.
    pub fn set(&mut self, matter: Matter, text: Option<String>) {
        match text {
            Some(text) => drop(self.0.insert(matter, text)),
            None => drop(self.0.remove(&matter)),
        }
    }

    /// Nothing is known any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// All of them.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.0.values().cloned().collect()
    }
}
