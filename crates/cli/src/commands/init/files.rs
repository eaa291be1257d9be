//! The files of a new project: queue, work log, `.gitignore` lines (D30, D65). Each is made only where none is.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use handoffd::config::WorkLogSettings;
use jiff::Timestamp;
use store::{Expected, ProjectDir, ReplaceError, WorkLog};

use super::Made;

/// What must not be committed: a pull could start work on another machine, and a lock means nothing there (D65).
const IGNORED: [&str; 5] =
    ["/tasks.json", "/tasks.json.lost-*", "/.tasks.json.*", "/.pi/pi-claude-handoff.lock*", "/.pi/.handoff-log.md.*"];
/// The most of a `.gitignore` that is read.
const MAX_GIT_IGNORE: u64 = 1024 * 1024;

/// An IDLE `tasks.json`.
pub(super) fn queue(project: &ProjectDir, now: Timestamp) -> Made {
    match project.replace_queue(Expected::Absent, queue::idle_document().as_bytes(), now) {
        Ok(_) => Made::New,
        Err(ReplaceError::Changed { .. }) => Made::Kept,
        Err(error) => Made::Failed(error.to_string()),
    }
}

/// The work log with its heading.
pub(super) fn work_log(project: &Arc<ProjectDir>, settings: &WorkLogSettings) -> Made {
    let made = WorkLog::new(project, &settings.path, &settings.heading).and_then(|log| log.create());
    match made {
        Ok(true) => Made::New,
        Ok(false) => Made::Kept,
        Err(error) => Made::Failed(error.to_string()),
    }
}

/// The lines of `.gitignore` that are missing, added at its end.
pub(super) fn git_ignore(root: &Path) -> Made {
    let path = root.join(".gitignore");
    match add_lines(&path) {
        Ok(made) => made,
        Err(error) => {
            let lines = IGNORED.join(" ");
            Made::Failed(format!("cannot add to {}: {error}; add these lines yourself: {lines}", path.display()))
        }
    }
}

fn add_lines(path: &Path) -> io::Result<Made> {
    let no_links = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).custom_flags(no_links.bits().cast_signed());
    let mut file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    (&file).take(MAX_GIT_IGNORE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_GIT_IGNORE {
        return Err(io::Error::other("it is very large"));
    }
    let missing: Vec<&str> =
        IGNORED.into_iter().filter(|line| !text.lines().any(|there| there.trim_end() == *line)).collect();
    if missing.is_empty() {
        return Ok(Made::Kept);
    }
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let more = format!("{gap}# The queue of handoffd belongs to this machine\n{}\n", missing.join("\n"));
    file.write_all(more.as_bytes())?;
    Ok(Made::New)
}
