//! The names of log files, and which of them must go. Files with other names are never touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A log file: `handoffd.<date>.log`, and `handoffd.<date>.<n>.log` for those that were begun later that day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// `2026-11-30`; as a text it sorts like the day.
    pub(super) date: String,
    /// 0 for the first file of a day.
    pub(super) number: u32,
}

impl Name {
    pub(super) fn parse(name: &str) -> Option<Self> {
        let middle = name.strip_prefix("handoffd.")?.strip_suffix(".log")?;
        let (date, number) = match middle.split_once('.') {
            None => (middle, 0),
            Some((date, number)) => (date, later_number(number)?),
        };
        is_date(date).then(|| Self { date: date.to_owned(), number })
    }

    pub(super) fn path(&self, dir: &Path) -> PathBuf {
        match self.number {
            0 => dir.join(format!("handoffd.{}.log", self.date)),
            number => dir.join(format!("handoffd.{}.{number}.log", self.date)),
        }
    }
}

/// A log file as found in the folder.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: Name,
    pub(super) size: u64,
}

/// The daemon's log files in `dir`, newest first. A missing folder has none.
///
/// # Errors
/// When the folder exists and cannot be read.
pub fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(list(dir)?.into_iter().map(|found| found.name.path(dir)).collect())
}

/// As [`files`], with what the rotation needs to know.
pub(super) fn list(dir: &Path) -> io::Result<Vec<Found>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = Name::parse(entry.file_name().to_str()?)?;
            let meta = entry.metadata().ok()?;
            meta.is_file().then_some(Found { name, size: meta.len() })
        })
        .collect();
    found.sort_by(|a, b| b.name.cmp(&a.name));
    Ok(found)
}

/// Of `found` (newest first) those beyond the limits. `active` is never among them, and counts as large as it may become,
/// so that the limit holds until the next file is begun.
pub(super) fn surplus(found: &[Found], active: &Name, keep: u32, max_total: u64, reserve: u64) -> Vec<Name> {
    let active_size = found.iter().find(|file| file.name == *active).map_or(0, |file| file.size);
    let mut kept = 1;
    let mut total = active_size.max(reserve);
    found
        .iter()
        .filter(|file| file.name != *active)
        .filter(|file| {
            kept += 1;
            total = total.saturating_add(file.size);
            keep < kept || max_total < total
        })
        .map(|file| file.name.clone())
        .collect()
}

fn later_number(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    plain.then(|| text.parse().ok()).flatten()
}

fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<(&str, u32)>) {
        let parsed = Name::parse(name);
        assert_eq!(parsed.as_ref().map(|name| (name.date.as_str(), name.number)), expected);
        if let Some(parsed) = parsed {
            assert_eq!(parsed.path(Path::new("d")), Path::new("d").join(name));
        }
    }

    #[test]
    fn only_our_own_names() {
        check("handoffd.2026-11-30.log", Some(("2026-11-30", 0)));
        check("handoffd.2026-11-30.12.log", Some(("2026-11-30", 12)));
        for foreign in [
            "handoffd.log",
            "handoffd.2026-11-30.0.log",
            "handoffd.2026-11-30.01.log",
            "handoffd.2026-11-30.+1.log",
            "handoffd.2026-11-30.log.bak",
            "handoffd.2026-11-3x.log",
            "handoffd-other.2026-11-30.log",
            "handoffd.2026-11-30..log",
        ] {
            check(foreign, None);
        }
    }

    fn found(date: &str, number: u32, size: u64) -> Found {
        Found { name: Name { date: date.to_owned(), number }, size }
    }

    #[test]
    fn the_oldest_beyond_count_or_size_go() {
        let all = [found("2026-11-30", 10, 5), found("2026-11-30", 9, 50), found("2026-11-29", 0, 50)];
        let active = all[0].name.clone();
        let gone = |keep, total| surplus(&all, &active, keep, total, 0).len();
        assert_eq!(gone(3, 1000), 0);
        assert_eq!(gone(2, 1000), 1);
        assert_eq!(gone(3, 60), 1);
        assert_eq!(gone(3, 1), 2);
        assert_eq!(gone(0, 0), 2, "the active file stays");
        assert_eq!(surplus(&all, &active, 3, 110, 10).len(), 0);
        assert_eq!(surplus(&all, &active, 3, 110, 11).len(), 1, "room for what is still to be written");
    }
}
