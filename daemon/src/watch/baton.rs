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
    is_held: bool,
    waiting: usize,
    has_ended: bool,
}

impl Baton {
    /// Waits until nobody has it. `false`: nobody is to read any more.
    pub(super) fn take(&self) -> bool {
        let mut state = lock(&self.state);
        state.waiting += 1;
        while state.is_held && !state.has_ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
        state.is_held = true;
        !state.has_ended
    }

    /// For the one who has it: gives it to another who waits. `false`: nobody does, it stays where it is.
    pub(super) fn hand_over(&self) -> bool {
        let mut state = lock(&self.state);
        if state.waiting == 0 {
            return false;
        }
        state.is_held = false;
        drop(state);
        self.changed.notify_one();
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

    #[test]
    fn it_is_handed_to_one_who_waits_and_only_then() {
        let baton = Arc::new(Baton::default());
        assert!(baton.take());
        assert!(!baton.hand_over(), "nobody waits");
        let other = baton.clone();
        let thread = std::thread::spawn(move || (other.take(), other.hand_over(), other.take()));
        while !baton.hand_over() {
            std::thread::yield_now();
        }
        assert!(baton.take(), "the other hands it back");
        baton.end();
        assert_eq!(thread.join().unwrap(), (true, true, false));
        assert!(!baton.take());
    }
}
