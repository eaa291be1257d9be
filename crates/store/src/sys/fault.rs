//! A gate for tests: records every call and lets one of them fail. Not for production, and free of any rule.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Call, Gate, Pass};

/// One call that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Its kind.
    pub call: Call,
    /// The name it was about; empty for calls on an open file.
    pub name: PathBuf,
}

/// Lets the calls of one kind, or of any kind, fail at and for a given count.
#[derive(Debug, Default)]
pub struct FaultPlan {
    only: Option<Call>,
    first: Option<usize>,
    count: usize,
    pass: Option<Pass>,
    seen: AtomicUsize,
    made: Mutex<Vec<Made>>,
}

impl FaultPlan {
    /// Records only.
    #[must_use]
    pub fn recorder() -> Self {
        Self::default()
    }

    /// The call with this number (from 0, of any kind) is answered with `pass`.
    #[must_use]
    pub fn nth(number: usize, pass: Pass) -> Self {
        Self { first: Some(number), count: 1, pass: Some(pass), ..Self::default() }
    }

    /// Every call of `kind` is answered with `pass`.
    #[must_use]
    pub fn every(kind: Call, pass: Pass) -> Self {
        Self { only: Some(kind), first: Some(0), count: usize::MAX, pass: Some(pass), ..Self::default() }
    }

    /// What was asked for so far.
    #[must_use]
    pub fn made(&self) -> Vec<Made> {
        self.made.lock().map(|made| made.clone()).unwrap_or_default()
    }
}

impl Gate for FaultPlan {
    fn pass(&self, call: Call, name: &Path) -> Pass {
        if let Ok(mut made) = self.made.lock() {
            made.push(Made { call, name: name.to_owned() });
        }
        if self.only.is_some_and(|only| only != call) {
            return Pass::Go;
        }
        let number = self.seen.fetch_add(1, Ordering::SeqCst);
        let hit = self.first.is_some_and(|first| number >= first && number - first < self.count);
        if hit { self.pass.unwrap_or(Pass::Go) } else { Pass::Go }
    }
}
