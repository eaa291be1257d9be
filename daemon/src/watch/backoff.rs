//! How often everything may be read again when a backend says that it lost events (F026).
//!
//! The first time at once, then after 1, 2, 4 … 60 s for as long as it goes on saying so. Time is given in.

use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// When the next time may be.
#[derive(Debug)]
pub(super) struct Backoff {
    delay: Duration,
    from: Instant,
}

impl Backoff {
    pub(super) fn new(now: Instant) -> Self {
        Self { delay: Duration::ZERO, from: now }
    }

    /// Not before this moment.
    pub(super) fn from(&self) -> Instant {
        self.from
    }

    /// It happened. After a time of quiet as long as the last delay, the delays start over.
    pub(super) fn happened(&mut self, now: Instant) {
        let quiet = now.saturating_duration_since(self.from) >= self.delay;
        self.delay = if quiet { FIRST } else { (self.delay * 2).min(LONGEST) };
        self.from = now + self.delay;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f026_a_storm_is_obeyed_a_few_times_a_minute() {
        let start = Instant::now();
        let mut backoff = Backoff::new(start);
        let mut times = Vec::new();
        for ms in 0..60_000 {
            let now = start + Duration::from_millis(ms);
            if now >= backoff.from() {
                backoff.happened(now);
                times.push(ms / 1000);
            }
        }
        assert_eq!(times, [0, 1, 3, 7, 15, 31]);
    }

    #[test]
    fn after_quiet_the_first_is_obeyed_at_once_again() {
        let start = Instant::now();
        let mut backoff = Backoff::new(start);
        backoff.happened(start);
        backoff.happened(backoff.from());
        let later = backoff.from() + Duration::from_secs(60);
        backoff.happened(later);
        assert_eq!(backoff.from(), later + FIRST);
    }
}
