//! Of a few threads one reads; the others work, or wait to read on. Whoever has read something that is urgent hands the
//! reading over and does it at once, instead of waking another thread for it.

use std::sync::{Condvar, Mutex, PoisonError};

use super::lock;

#[derive(Default)]
pub(super) struct Baton {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The number of the next one who comes.
    next: u64,
    /// Whose turn it is: whoever came first, so that it is not taken back from one who is still waking up.
    turn: u64,
    has_ended: bool,
}

impl Baton {
    /// Waits for the turn. `false`: nobody is to read any more.
    pub(super) fn take(&self) -> bool {
        let mut state = lock(&self.state);
        let number = state.next;
        state.next += 1;
        while state.turn != number && !state.has_ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.has_ended
    }

    /// For the one whose turn it is: now it is that of another who waits. `false`: nobody does, all stays as it is.
    pub(super) fn hand_over(&self) -> bool {
        let mut state = lock(&self.state);
        if state.turn + 1 == state.next {
            return false;
        }
        state.turn += 1;
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Sends everybody home.
    pub(super) fn end(&self) {
        lock(&self.state).has_ended = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// As soon as somebody waits.
    fn hand_over(baton: &Baton) {
        while !baton.hand_over() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn it_is_handed_to_one_who_waits_and_only_then() {
        let baton = Arc::new(Baton::default());
        assert!(baton.take());
        assert!(!baton.hand_over(), "nobody waits");
        let other = baton.clone();
        let thread = std::thread::spawn(move || {
            assert!(other.take());
            hand_over(&other);
            other.take()
        });
        hand_over(&baton);
        assert!(baton.take(), "the other hands it back");
        baton.end();
        assert!(!thread.join().unwrap(), "nobody is to read any more");
        assert!(!baton.take());
    }
}
