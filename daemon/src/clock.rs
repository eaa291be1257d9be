//! The clock: the only place that asks the system what time it is.
//!
//! Wall time is for people and records, monotonic time for every duration and deadline. Nothing that decides (queue
//! rules, lifecycle) belongs here: those are given the time as a value.

use std::fmt;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;

static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A moment of the wall clock, exact to the millisecond. Shown as RFC 3339 in UTC, `2026-11-30T08:12:03.120Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wall {
    unix_ms: i64,
}

impl Wall {
    /// The present moment. It can jump in both directions; use [`monotonic_ms`] for durations.
    pub fn now() -> Self {
        #[expect(clippy::disallowed_methods, reason = "this module is the home of the wall clock")]
        let now = SystemTime::now();
        let unix_ms = match now.duration_since(UNIX_EPOCH) {
            Ok(since) => whole_ms(since),
            Err(before) => -whole_ms(before.duration()),
        };
        Self { unix_ms }
    }

    /// The moment `unix_ms` milliseconds after the start of 1970 in UTC.
    pub fn from_unix_ms(unix_ms: i64) -> Self {
        Self { unix_ms }
    }

    /// Reads an RFC 3339 text such as the one [`Wall`] is shown as; parts of a millisecond are dropped.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<Timestamp>().ok().map(|moment| Self { unix_ms: moment.as_millisecond() })
    }

    /// Milliseconds since the start of 1970 in UTC.
    pub fn unix_ms(self) -> i64 {
        self.unix_ms
    }

    /// The day in UTC, `2026-11-30`.
    pub fn date(self) -> String {
        self.timestamp().strftime("%Y-%m-%d").to_string()
    }

    /// The time of day where the user is, `09:12:03`; in UTC when the system's zone cannot be read.
    pub fn local_time_of_day(self) -> String {
        self.timestamp().to_zoned_datetime(TimeZone::system()).strftime("%H:%M:%S").to_string()
    }

    /// The day where the user is, `2026-11-30`; in UTC when the system's zone cannot be read.
    pub fn local_day(self) -> String {
        self.timestamp().to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d").to_string()
    }

    /// Clamped to the years that a calendar text can hold, so that a broken clock never stops the daemon.
    fn timestamp(self) -> Timestamp {
        let edge = if self.unix_ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
        Timestamp::from_millisecond(self.unix_ms).unwrap_or(edge)
    }
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.timestamp())
    }
}

/// Milliseconds since the first call in this process. It never goes back, and on Linux stands still while the machine
/// sleeps, so that waiting is counted in time awake (D21).
pub fn monotonic_ms() -> u64 {
    u64::try_from(STARTED.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(unix_ms: i64, text: &str) {
        assert_eq!(Wall::from_unix_ms(unix_ms).to_string(), text);
    }

    #[test]
    fn text_is_rfc_3339_utc_with_three_digits() {
        check(0, "1970-01-01T00:00:00.000Z");
        check(1_796_026_323_120, "2026-11-30T08:12:03.120Z");
        check(-1, "1969-12-31T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
    }

    #[test]
    fn a_clock_beyond_the_calendar_is_clamped() {
        check(i64::MAX, "9999-12-30T22:00:00.999Z");
        assert!(Wall::from_unix_ms(i64::MIN).to_string().ends_with('Z'));
    }

    #[test]
    fn text_and_value_agree() {
        let now = Wall::now();
        assert_eq!(Wall::parse(&now.to_string()), Some(now));
        assert_eq!(now.to_string().get(..10), Some(now.date().as_str()));
        assert_eq!(Wall::parse("yesterday"), None);
    }

    #[test]
    fn time_of_day_has_its_form() {
        let text = Wall::from_unix_ms(0).local_time_of_day();
        assert_eq!(text.len(), 8);
        assert!(text.ends_with(":00"), "no zone is off by seconds today: {text}");
    }

    #[test]
    fn monotonic_time_does_not_go_back() {
        let earlier = monotonic_ms();
        assert!(earlier <= monotonic_ms());
    }
}
