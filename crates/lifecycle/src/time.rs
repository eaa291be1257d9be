//! Time as the machine sees it: awake milliseconds for deadlines, the wall clock for what people read (D21).

/// Milliseconds awake: monotonic, without the gaps in which the machine or the daemon did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Awake(pub u64);

impl Awake {
    /// This moment plus `ms` milliseconds.
    #[must_use]
    pub const fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

/// Milliseconds since 1970, UTC. Never decides anything but what a person reads and the count of D65.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Wall(pub i64);

/// What the shell says of the moment of an event.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// For deadlines.
    pub awake: Awake,
    /// For people.
    pub wall: Wall,
    /// 128 random bits, fresh for each step; a new dispatch takes its id from them.
    pub entropy: u128,
}

/// Turns a monotonic clock into awake time: a step of more than [`AwakeClock::GAP_MS`] does not count (D21).
///
/// Read it at least once a second; whoever reads first after a gap is told of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct AwakeClock {
    last: u64,
    skipped: u64,
}

impl AwakeClock {
    /// Two readings further apart than this many milliseconds have a gap between them.
    pub const GAP_MS: u64 = 60_000;

    /// A clock that starts at the monotonic reading `mono_ms`.
    #[must_use]
    pub const fn start(mono_ms: u64) -> Self {
        Self { last: mono_ms, skipped: 0 }
    }

    /// The awake time at the monotonic reading `mono_ms`, and the gap in milliseconds that ended just now.
    pub const fn read(&mut self, mono_ms: u64) -> (Awake, Option<u64>) {
        let step = mono_ms.saturating_sub(self.last);
        let gap = if step > Self::GAP_MS { Some(step) } else { None };
        if let Some(ms) = gap {
            self.skipped = self.skipped.saturating_add(ms);
        }
        if mono_ms > self.last {
            self.last = mono_ms;
        }
        (Awake(self.last.saturating_sub(self.skipped)), gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_do_not_count() {
        let mut clock = AwakeClock::start(1_000);
        assert_eq!(clock.read(2_000), (Awake(2_000), None));
        assert_eq!(clock.read(62_000), (Awake(62_000), None));
        assert_eq!(clock.read(7_200_000), (Awake(62_000), Some(7_138_000)));
        assert_eq!(clock.read(7_200_500), (Awake(62_500), None));
    }

    #[test]
    fn a_step_back_stands_still() {
        let mut clock = AwakeClock::start(5_000);
        assert_eq!(clock.read(4_000), (Awake(5_000), None));
    }
}
