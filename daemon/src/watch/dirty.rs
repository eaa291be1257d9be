//! The coalescing cell between those who notice and the one who looks: which projects to look at, and how.
//!
//! However much happens, it never holds more than one entry a project, and marking never blocks (F026).

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::lock;
use super::watched::Watched;

/// How seriously a mark is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Weight {
    /// Look, and tell the actor if something differs.
    Compare = 1,
    /// Tell the actor in any case.
    Always = 2,
}

impl Weight {
    /// The weight that an atomic cell holds; nothing is 0.
    pub(super) fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            0 => None,
            1 => Some(Self::Compare),
            _ => Some(Self::Always),
        }
    }
}

#[derive(Default)]
pub(super) struct Dirty {
    marks: Mutex<Marks>,
    woken: Condvar,
}

#[derive(Default)]
struct Marks {
    projects: Vec<Arc<Watched>>,
    all: bool,
    /// Which loop may take marks; another number ends the one that waits.
    turn: u64,
}

/// What a loop is to do next.
pub(super) enum Next {
    /// Look at the projects that were handed over; `all`: tell every actor (events were lost).
    Look { all: bool },
    /// Another loop has taken over, or the daemon stops.
    Stop,
}

impl Dirty {
    /// Marks one project.
    pub(super) fn mark(&self, watched: &Arc<Watched>, weight: Weight) {
        self.mark_quietly(watched, weight);
        self.wake();
    }

    /// Marks one project, as one of several; [`Dirty::wake`] or [`Dirty::take`] follows.
    pub(super) fn mark_quietly(&self, watched: &Arc<Watched>, weight: Weight) {
        if watched.mark(weight) {
            lock(&self.marks).projects.push(watched.clone());
        }
    }

    /// Wakes the loop if anything is marked.
    pub(super) fn wake(&self) {
        let is_marked = !lock(&self.marks).projects.is_empty();
        if is_marked {
            self.woken.notify_one();
        }
    }

    /// Takes what is marked now, for another thread than the loop's.
    pub(super) fn take(&self, batch: &mut Vec<Arc<Watched>>) {
        std::mem::swap(&mut lock(&self.marks).projects, batch);
    }

    /// Marks all projects, because nobody knows which.
    pub(super) fn mark_all(&self) {
        let before = std::mem::replace(&mut lock(&self.marks).all, true);
        if !before {
            self.woken.notify_one();
        }
    }

    /// Starts a new turn: the loop of the turn before ends.
    pub(super) fn next_turn(&self) -> u64 {
        let mut marks = lock(&self.marks);
        marks.turn += 1;
        self.woken.notify_all();
        marks.turn
    }

    /// Whether this loop is still the one.
    pub(super) fn is_turn(&self, turn: u64) -> bool {
        lock(&self.marks).turn == turn
    }

    /// Waits until there is something to look at or it is `until`. "All" is handed over from `all_from` on.
    pub(super) fn wait(&self, turn: u64, until: Instant, all_from: Instant, batch: &mut Vec<Arc<Watched>>) -> Next {
        let mut marks = lock(&self.marks);
        loop {
            let now = Instant::now();
            if marks.turn != turn {
                return Next::Stop;
            }
            let all = marks.all && now >= all_from;
            if all || !marks.projects.is_empty() || now >= until {
                std::mem::swap(&mut marks.projects, batch);
                marks.all &= !all;
                return Next::Look { all };
            }
            let wake = if marks.all { until.min(all_from) } else { until };
            let left = wake.saturating_duration_since(now).max(Duration::from_micros(1));
            marks = self.woken.wait_timeout(marks, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::tests::support::cell;

    #[test]
    fn f026_a_thousand_marks_are_one_entry() {
        let dirty = Dirty::default();
        let (turn, watched) = (dirty.next_turn(), cell("/p"));
        for _ in 0..1000 {
            dirty.mark(&watched, Weight::Compare);
            dirty.mark(&watched, Weight::Always);
            dirty.mark_all();
        }
        let (now, mut batch) = (Instant::now(), Vec::new());
        assert!(matches!(dirty.wait(turn, now, now, &mut batch), Next::Look { all: true }));
        assert_eq!(batch.len(), 1);
        assert_eq!(batch[0].unmark(), Some(Weight::Always));
        batch.clear();
        assert!(matches!(dirty.wait(turn, now, now, &mut batch), Next::Look { all: false }));
        assert!(batch.is_empty());
    }

    #[test]
    fn all_waits_for_its_time() {
        let dirty = Dirty::default();
        let (turn, mut batch) = (dirty.next_turn(), Vec::new());
        dirty.mark_all();
        let now = Instant::now();
        let later = now + Duration::from_secs(60);
        assert!(matches!(dirty.wait(turn, now, later, &mut batch), Next::Look { all: false }));
        assert!(matches!(dirty.wait(turn, now, now, &mut batch), Next::Look { all: true }));
    }

    #[test]
    fn a_new_turn_ends_the_old_loop() {
        let dirty = Dirty::default();
        let old = dirty.next_turn();
        let new = dirty.next_turn();
        let now = Instant::now();
        assert!(matches!(dirty.wait(old, now + Duration::from_secs(60), now, &mut Vec::new()), Next::Stop));
        assert!(dirty.is_turn(new));
    }
}
