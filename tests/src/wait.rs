//! Waiting for conditions with a deadline. There is no other waiting in these tests: never a sleep whose length decides
//! the outcome.

use std::time::{Duration, Instant};

/// Long enough for a loaded machine with two cores; a test that needs all of it has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

const STEP: Duration = Duration::from_millis(4);

/// Calls `look` until it finds something, at most [`PATIENCE`] long.
///
/// # Panics
/// When the time is over; the message says what was awaited.
pub fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    until_within(PATIENCE, what, look)
}

/// As [`until`] with another deadline.
///
/// # Panics
/// When the time is over.
pub fn until_within<T>(limit: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < limit, "not within {limit:?}: {what}");
        std::thread::sleep(STEP);
    }
}

/// Waits until `holds` is true.
///
/// # Panics
/// When the time is over.
pub fn until_true(what: &str, mut holds: impl FnMut() -> bool) {
    until(what, || holds().then_some(()));
}

/// Waits until `look` says the same for `span`: for a rest that comes when it comes, where only a fault goes on and on.
///
/// # Panics
/// When it never does.
pub fn until_rests<T: PartialEq>(span: Duration, what: &str, mut look: impl FnMut() -> T) -> T {
    until(what, || {
        let (first, start) = (look(), Instant::now());
        while start.elapsed() < span {
            if look() != first {
                return None;
            }
            std::thread::sleep(STEP);
        }
        Some(first)
    })
}

/// Demands that `holds` stays true for `span`: for promises about what must *not* happen where no event marks the end.
///
/// # Panics
/// As soon as it does not hold.
pub fn stays(span: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while start.elapsed() < span {
        assert!(holds(), "no longer so after {:?}: {what}", start.elapsed());
        std::thread::sleep(STEP);
    }
}
