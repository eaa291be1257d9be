//! The time now, and times as people read them.

use handoffd::clock::Wall;
use jiff::Timestamp;

/// The wall clock.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_millisecond(Wall::now().unix_ms()).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// How long ago an RFC 3339 time was: `5 s`, `3 min`, `2 h`, `4 d`. Times ahead of the clock are `0 s`.
pub(crate) fn age(since: &str, now: Timestamp) -> String {
    let Ok(since) = since.parse::<Timestamp>() else { return "?".to_owned() };
    match now.as_second().saturating_sub(since.as_second()).max(0) {
        seconds @ ..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// The time of day of an RFC 3339 time where the user is.
pub(crate) fn of_day(at: &str) -> String {
    Wall::parse(at).map_or_else(|| at.to_owned(), Wall::local_time_of_day)
}

/// A moment to come: the time of day where the user is, with its date unless that is today's.
pub(crate) fn moment(at: &str, now: Timestamp) -> String {
    let Some(then) = Wall::parse(at) else { return at.to_owned() };
    let day = then.local_day();
    let today = Wall::from_unix_ms(now.as_millisecond()).local_day();
    let time = then.local_time_of_day();
    if day == today { time } else { format!("{day} {time}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_of_another_day_has_its_date() {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let length = |at: &str| moment(at, now).len();
        assert_eq!(length("2026-11-30T12:00:05Z"), "12:00:05".len());
        assert_eq!(length("2026-12-02T12:00:00Z"), "2026-12-02 12:00:00".len());
        assert_eq!(moment("soon", now), "soon");
    }

    #[test]
    fn ages_have_one_unit() {
        let now = "2026-11-30T08:00:00Z".parse().unwrap();
        let check = |since: &str, expected: &str| assert_eq!(age(since, now), expected, "{since}");
        check("2026-11-30T07:59:01.500Z", "59 s");
        check("2026-11-30T07:59:00Z", "1 min");
        check("2026-11-30T06:59:59Z", "1 h");
        check("2026-11-28T08:00:01Z", "47 h");
        check("2026-11-27T08:00:00Z", "3 d");
        check("2026-11-30T09:00:00Z", "0 s");
        check("soon", "?");
    }
}
