//! Which texts are a date or time (D8, D48). Only validity is told; the value is kept as written.
//!
//! Written by hand because the list of accepted forms is closed: general parsers take more (comments, obsolete zones,
//! basic formats) and less (no offset, no seconds) than it.

use jiff::civil::{Date, Weekday};

/// Whether `text` is an ISO 8601 date, a date and time, or an RFC 2822 date-time, by D48.
pub(crate) fn is_valid(text: &str) -> bool {
    let iso = Reader(text.as_bytes()).iso();
    iso.is_some() || Reader(text.as_bytes()).rfc2822().is_some()
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fraction {
    Allowed,
    NotAllowed,
}

/// A day of the calendar.
fn civil(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// What is left of the text. Every method takes its piece from the front or gives `None`.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    /// `YYYY-MM-DD`, alone or with `T`, `t` or a space, a time and perhaps an offset.
    fn iso(mut self) -> Option<()> {
        let year = self.number(4)?;
        self.byte(b"-")?;
        let month = self.number(2)?;
        self.byte(b"-")?;
        let day = self.number(2)?;
        civil(year, month, day)?;
        if self.0.is_empty() {
            return Some(());
        }
        self.byte(b"Tt ")?;
        self.clock(Fraction::Allowed)?;
        if !self.0.is_empty() && self.byte(b"Zz").is_none() {
            self.iso_offset()?;
        }
        self.end()
    }

    /// `±HH`, `±HHMM` or `±HH:MM`.
    fn iso_offset(&mut self) -> Option<()> {
        self.byte(b"+-")?;
        self.below(24)?;
        if self.0.is_empty() {
            return Some(());
        }
        if self.0.first() == Some(&b':') {
            self.byte(b":")?;
        }
        self.below(60)
    }

    /// `[Mon, ]30 Nov 2026 08:00[:00] (+0000|GMT|UT)`.
    fn rfc2822(mut self) -> Option<()> {
        let weekday = self.weekday()?;
        let day = self.number(if matches!(self.0, [_, b'0'..=b'9', ..]) { 2 } else { 1 })?;
        self.spaces()?;
        let month = self.name(&MONTHS)? + 1;
        self.spaces()?;
        let year = self.number(4)?;
        self.spaces()?;
        let date = civil(year, i16::try_from(month).ok()?, day)?;
        if weekday.is_some_and(|weekday| weekday != date.weekday()) {
            return None;
        }
        self.clock(Fraction::NotAllowed)?;
        self.spaces()?;
        self.zone()?;
        self.end()
    }

    /// `Some(None)` when the text begins with a digit.
    fn weekday(&mut self) -> Option<Option<Weekday>> {
        if matches!(self.0, [b'0'..=b'9', ..]) {
            return Some(None);
        }
        let index = self.name(&WEEKDAYS)?;
        self.byte(b",")?;
        while self.byte(b" \t").is_some() {}
        let weekday = Weekday::from_monday_zero_offset(i8::try_from(index).ok()?).ok()?;
        Some(Some(weekday))
    }

    fn zone(&mut self) -> Option<()> {
        if self.byte(b"+-").is_some() {
            self.below(24)?;
            return self.below(60);
        }
        let is_known = self.0.eq_ignore_ascii_case(b"GMT") || self.0.eq_ignore_ascii_case(b"UT");
        if is_known {
            self.0 = &[];
        }
        is_known.then_some(())
    }

    /// `HH:MM[:SS[.digits]]`; second 60 is a leap second.
    fn clock(&mut self, fraction: Fraction) -> Option<()> {
        self.below(24)?;
        self.byte(b":")?;
        self.below(60)?;
        if self.byte(b":").is_none() {
            return Some(());
        }
        self.below(61)?;
        if fraction == Fraction::Allowed && self.byte(b".,").is_some() {
            self.digits()?;
        }
        Some(())
    }

    fn below(&mut self, limit: i16) -> Option<()> {
        (self.number(2)? < limit).then_some(())
    }

    /// Exactly `digits` digits.
    fn number(&mut self, digits: usize) -> Option<i16> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        number.iter().try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i16::from(digit - b'0')))
    }

    fn digits(&mut self) -> Option<()> {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.0 = &self.0[digits..];
        (digits > 0).then_some(())
    }

    fn byte(&mut self, any_of: &[u8]) -> Option<()> {
        let (first, rest) = self.0.split_first()?;
        any_of.contains(first).then(|| self.0 = rest)
    }

    fn spaces(&mut self) -> Option<()> {
        self.byte(b" \t")?;
        while self.byte(b" \t").is_some() {}
        Some(())
    }

    /// The index of the three-letter name that comes next.
    fn name(&mut self, names: &[&str]) -> Option<usize> {
        let (name, rest) = self.0.split_at_checked(3)?;
        self.0 = rest;
        names.iter().position(|known| known.as_bytes().eq_ignore_ascii_case(name))
    }

    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted() {
        for text in [
            "2026-11-30",
            "2026-11-30T08:00",
            "2026-11-30t08:00:00",
            "2026-11-30 08:00:00.1",
            "2026-11-30T08:00:00,123456789012z",
            "2026-11-30T23:59:60Z",
            "2026-11-30T08:00+05",
            "2026-11-30T08:00-0530",
            "2026-11-30T08:00+23:59",
            "2024-02-29",
            "0000-01-01",
            "9999-12-31T23:59:59-23:59",
            "Mon, 30 Nov 2026 08:00:00 GMT",
            "Mon,30 Nov 2026 08:00 UT",
            "30 Nov 2026 08:00 -0330",
            "1 Dec 2026 08:00:60 +0000",
            "01  dec 2026 08:00 gmt",
        ] {
            assert!(is_valid(text), "{text}");
        }
    }

    #[test]
    fn refused() {
        for text in [
            "",
            "2026-11-30Z",
            "2026-11-30T",
            "2026-11-30T08",
            "2026-11-30T08Z",
            "2026-11-30T24:00:00Z",
            "2026-11-30T08:60Z",
            "2026-11-30T08:00:61Z",
            "2026-11-30T08:00.5Z",
            "2026-11-30T08:00:00.Z",
            "2026-11-30T08:00:00+24:00",
            "2026-11-30T08:00:00+05:60",
            "2026-11-30T08:00:00+5",
            "2026-11-30T08:00:00+05:",
            "2026-11-30T08:00:00 +05:00",
            "2026-11-30T08:00:00\u{2212}05:00",
            "2026-11-30  08:00",
            " 2026-11-30",
            "2026-11-30 ",
            "2026-11-30\n",
            "2026-1-30",
            "26-11-30",
            "20261130T080000Z",
            "20261130",
            "+2026-11-30",
            "-2026-11-30",
            "2026-02-29",
            "2026-00-10",
            "2026-04-31",
            "2026-W48-1",
            "2026-334",
            "2026-11",
            "1764489600",
            "2026-11-30T08:00:00Z[UTC]",
            "Tue, 30 Nov 2026 08:00:00 GMT",
            "Mon 30 Nov 2026 08:00:00 GMT",
            "Monday, 30 Nov 2026 08:00:00 GMT",
            "30 Nov 2026 08:00",
            "30 Nov 2026 08:00 EST",
            "30 Nov 2026 08:00 Z",
            "30 Nov 2026 08:00 +00:00",
            "30 Nov 2026 08:00:00.5 GMT",
            "30 Nov 26 08:00 GMT",
            "31 Nov 2026 08:00 GMT",
            "30 Nov 2026 24:00 GMT",
            "30 Nov 2026 08:00 GMT ",
            "030 Nov 2026 08:00 GMT",
            "é6-11-30",
        ] {
            assert!(!is_valid(text), "{text}");
        }
    }
}
