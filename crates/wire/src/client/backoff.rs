//! How long a client waits before it tries to connect again. Waiting itself is the caller's.

use crate::limits::{RECONNECT_FIRST, RECONNECT_LONGEST};
use std::time::Duration;

/// Delays of 50 ms, then twice as long each time, never more than 5 s.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    next: Duration,
}

impl Backoff {
    /// Begins with the shortest delay; make a new one when a connection has said hello.
    #[must_use]
    pub const fn new() -> Self {
        Self { next: RECONNECT_FIRST }
    }

    /// The delay before the next attempt.
    pub fn delay(&mut self) -> Duration {
        let delay = self.next;
        self.next = (delay * 2).min(RECONNECT_LONGEST);
        delay
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_five_seconds() {
        let mut backoff = Backoff::new();
        let delays: Vec<u128> = (0..10).map(|_| backoff.delay().as_millis()).collect();
        assert_eq!(delays, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
    }
}
