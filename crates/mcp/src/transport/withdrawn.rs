//! Ids of requests that the client took back. Such a request may still be at work, and its result must not pass for the
//! answer to another one with the same id; the protocol forbids that anyway.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};

use crate::transport::id::Id;

/// The last of them, as hashes: an id may be as long as a line.
#[derive(Debug, Default)]
pub(crate) struct Withdrawn {
    known: HashSet<u64>,
    order: VecDeque<u64>,
    hasher: RandomState,
}

/// How many are remembered: several times as many as can be at work.
const MOST: usize = 1024;

impl Withdrawn {
    pub(crate) fn insert(&mut self, id: &Id) {
        let hash = self.hasher.hash_one(id);
        if self.known.insert(hash) {
            self.order.push_back(hash);
        }
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    pub(crate) fn contains(&self, id: &Id) -> bool {
        self.known.contains(&self.hasher.hash_one(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_remembered() {
        let mut withdrawn = Withdrawn::default();
        for at in 0..5_000 {
            assert!(!withdrawn.contains(&Id::Number(at)));
            withdrawn.insert(&Id::Number(at));
            withdrawn.insert(&Id::Number(at));
            assert!(withdrawn.contains(&Id::Number(at)));
        }
        assert_eq!((withdrawn.known.len(), withdrawn.order.len()), (MOST, MOST));
        assert!(!withdrawn.contains(&Id::Text("4999".into())), "a text is no number");
    }
}
