//! What the actor knows of its files, and whether a look differs from it. No file is touched here.
//!
//! Two equal stamps mean the same bytes, except within one tick of the file system's clock: a change right after a read
//! may leave the stamp as it was ("racily clean", F025, F040). So each new stamp is read once more after that time.
//! No wall clock is needed for it, and none that a server or a person sets can mislead it.

use std::time::{Duration, Instant};

use store::Stamp;

/// Longer than a tick of the clocks that keep fractions of a second (a jiffy).
const FINE_TICK: Duration = Duration::from_millis(50);
/// The tick of the coarsest clocks (FAT).
const COARSE_TICK: Duration = Duration::from_secs(2);

/// One look at a project whose folder is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// The names still lead to the opened folders (D18).
    Named {
        /// `tasks.json`; `None`: missing, or it cannot be looked at.
        queue: Option<Stamp>,
        /// The lock file; the same.
        lock: Option<Stamp>,
    },
    /// They do not.
    Moved,
}

/// What the actor has been told of or has read.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    queue: Option<Stamp>,
    lock: Option<Stamp>,
    moved: bool,
    /// Since when the queue's stamp is known, while it has not been read again after a tick.
    unconfirmed: Option<Instant>,
}

impl Stamps {
    /// The actor read the queue. Nothing to remember when there was nothing that could be read: whatever a look told
    /// of stays told, so that an unreadable file is not read again every second.
    pub(super) fn note_read(&mut self, stamp: Option<Stamp>, now: Instant) {
        if stamp.is_some() {
            self.queue_is(stamp, now);
        }
    }

    /// We wrote it. It is read once more all the same: whoever opened our new file before its stamp was taken, and
    /// wrote into it in place, is in that stamp already, and no later look would differ (F242).
    pub(super) fn note_write(&mut self, stamp: Option<Stamp>, now: Instant) {
        if stamp.is_some() {
            self.queue = stamp;
            self.unconfirmed = Some(now);
        }
    }

    /// What the lock file is, after we took, wrote or judged it.
    pub(super) fn note_lock(&mut self, stamp: Option<Stamp>) {
        self.lock = stamp;
    }

    /// Whether the actor must be told of `look`.
    pub(super) fn differs(&self, look: &Look, by: By, now: Instant) -> bool {
        match *look {
            Look::Moved => !self.moved,
            Look::Named { queue, lock } => lock != self.lock || self.queue_differs(queue, by, now),
        }
    }

    /// As [`Stamps::differs`], of the queue alone, in folders that were not looked at.
    pub(super) fn queue_differs(&self, queue: Option<Stamp>, by: By, now: Instant) -> bool {
        self.moved || queue != self.queue || self.is_doubtful(by, now)
    }

    /// The actor was told of `look`.
    pub(super) fn told(&mut self, look: &Look, now: Instant) {
        self.moved = matches!(look, Look::Moved);
        if let Look::Named { queue, lock } = *look {
            self.queue_is(queue, now);
            self.lock = lock;
        }
    }

    #[cfg(test)]
    pub(super) fn is_confirmed(&self) -> bool {
        self.unconfirmed.is_none()
    }

    fn queue_is(&mut self, stamp: Option<Stamp>, now: Instant) {
        if stamp != self.queue {
            self.queue = stamp;
            self.unconfirmed = stamp.map(|_| now);
        } else if self.is_ripe(now) {
            self.unconfirmed = None;
        }
    }

    /// The stamp is the known one, and yet the bytes may be others. An event on a coarse clock is believed at once.
    fn is_doubtful(&self, by: By, now: Instant) -> bool {
        let coarse_event = by == By::Event && self.queue.as_ref().is_some_and(is_coarse);
        self.is_ripe(now) || (coarse_event && self.unconfirmed.is_some())
    }

    fn is_ripe(&self, now: Instant) -> bool {
        let tick = tick(self.queue.as_ref().is_some_and(is_coarse));
        self.unconfirmed.is_some_and(|since| now.saturating_duration_since(since) >= tick)
    }
}

/// Why somebody looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The sweep.
    Sweep,
    /// An event.
    Event,
}

/// What is longer than a tick of a file system's clock, which may be one in whole seconds.
pub(crate) const fn tick(is_coarse: bool) -> Duration {
    if is_coarse { COARSE_TICK } else { FINE_TICK }
}

/// Whether the file system's clock may tick in whole seconds.
fn is_coarse(stamp: &Stamp) -> bool {
    const SECOND: i128 = 1_000_000_000;
    stamp.modified_ns % SECOND == 0 && stamp.changed_ns % SECOND == 0
}

#[cfg(test)]
mod tests {
    use store::Identity;

    use super::*;

    fn stamp(size: u64, changed_ns: i128) -> Stamp {
        Stamp { identity: Identity { device: 1, inode: 2 }, size, modified_ns: changed_ns, changed_ns }
    }

    const FINE: i128 = 1_790_000_000_123_456_789;
    const COARSE: i128 = 1_790_000_000_000_000_000;

    /// After `note`, a look with the same stamp `ms` later.
    #[track_caller]
    fn check(note: fn(&mut Stamps, Option<Stamp>, Instant), at: i128, by: By, ms: u64, expected: bool) {
        let (mut stamps, start, file) = (Stamps::default(), Instant::now(), Some(stamp(5, at)));
        note(&mut stamps, file, start);
        let look = Look::Named { queue: file, lock: None };
        assert_eq!(stamps.differs(&look, by, start + Duration::from_millis(ms)), expected, "{at} {by:?} {ms}");
    }

    #[test]
    fn f040_a_new_stamp_is_read_once_more_after_a_tick() {
        check(Stamps::note_read, FINE, By::Sweep, 49, false);
        check(Stamps::note_read, FINE, By::Event, 49, false);
        check(Stamps::note_read, FINE, By::Sweep, 50, true);
        check(Stamps::note_read, COARSE, By::Sweep, 1999, false);
        check(Stamps::note_read, COARSE, By::Event, 1, true);
        check(Stamps::note_read, COARSE, By::Sweep, 2000, true);
    }

    #[test]
    fn f050_our_own_write_is_read_once_more_and_its_event_is_no_news() {
        check(Stamps::note_write, FINE, By::Event, 1, false);
        check(Stamps::note_write, FINE, By::Sweep, 49, false);
        check(Stamps::note_write, FINE, By::Sweep, 50, true);
        check(Stamps::note_write, COARSE, By::Sweep, 2000, true);
    }

    #[test]
    fn the_second_read_is_the_last() {
        let (mut stamps, start, file) = (Stamps::default(), Instant::now(), Some(stamp(5, COARSE)));
        stamps.note_read(file, start);
        let look = Look::Named { queue: file, lock: None };
        let later = start + COARSE_TICK;
        assert!(stamps.differs(&look, By::Sweep, later));
        stamps.told(&look, later);
        stamps.note_read(file, later);
        assert!(!stamps.differs(&look, By::Event, later));
        assert!(!stamps.differs(&look, By::Sweep, later + COARSE_TICK));
    }

    #[test]
    fn an_unreadable_file_is_told_of_once_and_then_when_it_changes() {
        let (mut stamps, mut now) = (Stamps::default(), Instant::now());
        let mut told = 0;
        for size in [5, 5, 5, 5, 6, 6, 6, 6] {
            now += Duration::from_secs(1);
            let look = Look::Named { queue: Some(stamp(size, FINE)), lock: None };
            if stamps.differs(&look, By::Sweep, now) {
                told += 1;
                stamps.told(&look, now);
                stamps.note_read(None, now);
            }
        }
        assert_eq!(told, 4, "each content once, and once more to be sure");
    }

    #[test]
    fn any_part_of_the_stamp_counts() {
        let (mut stamps, now) = (Stamps::default(), Instant::now());
        let base = stamp(5, FINE);
        stamps.note_write(Some(base), now);
        let other_inode = Stamp { identity: Identity { device: 1, inode: 3 }, ..base };
        let set_back = Stamp { changed_ns: FINE + 1, ..base };
        for (queue, lock) in [
            (Some(other_inode), None),
            (Some(set_back), None),
            (Some(Stamp { size: 6, ..base }), None),
            (Some(Stamp { modified_ns: 7, ..base }), None),
            (None, None),
            (Some(base), Some(base)),
        ] {
            assert!(stamps.differs(&Look::Named { queue, lock }, By::Sweep, now));
        }
        assert!(!stamps.differs(&Look::Named { queue: Some(base), lock: None }, By::Sweep, now));
    }

    #[test]
    fn f030_a_moved_folder_is_told_of_once() {
        let (mut stamps, now) = (Stamps::default(), Instant::now());
        assert!(stamps.differs(&Look::Moved, By::Sweep, now));
        stamps.told(&Look::Moved, now);
        assert!(!stamps.differs(&Look::Moved, By::Sweep, now));
        let back = Look::Named { queue: None, lock: None };
        assert!(stamps.differs(&back, By::Sweep, now));
        stamps.told(&back, now);
        assert!(!stamps.differs(&back, By::Sweep, now));
    }
}
