//! The files of a journal: `journal-<host>.jsonl`, and `.1`, `.2` … for those that were put aside, `.1` the newest.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// No journal keeps more files than this; it bounds every search.
const MOST: u32 = 999;

/// The file that was put aside `number` rotations ago.
pub(super) fn aside(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

/// Puts the newest file aside as `.1` and moves the others up, keeping `keep` of them. Each step is one rename, so that
/// an end in the middle loses nothing; a gap that it leaves is used by the next rotation.
pub(super) fn rotate(path: &Path, keep: u32) -> io::Result<()> {
    let keep = keep.clamp(1, MOST);
    let free = (1..keep).find(|&number| !exists(&aside(path, number))).unwrap_or(keep);
    for number in (1..free).rev() {
        rename(&aside(path, number), &aside(path, number + 1))?;
    }
    rename(path, &aside(path, 1))
}

/// Removes what an earlier, larger limit kept.
pub(super) fn remove_surplus(path: &Path, keep: u32) {
    for number in numbers(path).into_iter().filter(|&number| keep.clamp(1, MOST) < number) {
        // What cannot be removed costs space only, and is tried again at the next start.
        fs::remove_file(aside(path, number)).ok();
    }
}

/// The numbers of the files that were put aside, newest first.
pub(super) fn numbers(path: &Path) -> Vec<u32> {
    let (Some(dir), Some(own)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut numbers: Vec<u32> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let digits = name.to_str()?.strip_prefix(own)?.strip_prefix('.')?;
            let number: u32 = digits.parse().ok()?;
            ((1..=MOST).contains(&number) && digits == number.to_string()).then_some(number)
        })
        .collect();
    numbers.sort_unstable();
    numbers
}

/// What has the journal's name and is no regular file (a folder, a pipe, a link) is put aside before the journal is
/// opened: it must neither be written through nor keep the daemon from starting (D70).
///
/// # Errors
/// It cannot be renamed; opening the journal will tell of it.
pub fn set_odd_aside(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_file() => {
            let mut name = OsString::from(path);
            name.push(format!(".odd-{}", crate::clock::Wall::now().unix_ms()));
            tracing::warn!(path = %path.display(), "the journal's name led to something that is no file; it was put aside");
            rename(path, &PathBuf::from(name))
        }
        _ => Ok(()),
    }
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "whole files change their names; no content is replaced")]
    fs::rename(from, to)
}
