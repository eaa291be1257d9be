//! The work log: one line per task under one heading of a Markdown file that people edit too (D30, D67).
//!
//! `heading` is the pure rule about the text, `append` the one open file through which a line is checked and written,
//! `rotate` the move of old lines. What a line says is composed elsewhere.

mod append;
mod heading;
mod rotate;

use std::sync::Arc;

use queue::DispatchId;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::{Folder, OpenFile};
use crate::names;
use crate::project::{Moved, ProjectDir};
use crate::read::{Limit, ReadError, open_regular, read_open};
use crate::stamp::{Stamp, is_regular, size};

pub use append::OpenLog;
pub use rotate::Rotated;

/// Where a project's log is, and under which heading the lines stand.
#[derive(Debug, Clone)]
pub struct WorkLog {
    project: Arc<ProjectDir>,
    folders: Vec<String>,
    name: String,
    heading: String,
}

/// A log that can take a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogCheck {
    /// The state that was checked: while it stays, the check need not be repeated.
    pub stamp: Stamp,
    /// From 3 MiB on: what to tell.
    pub warning: Option<String>,
    /// And the command that helps, if one does.
    pub remedy: Option<&'static str>,
}

/// Why a log cannot take a line (or did not).
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The configured path or heading cannot be used.
    #[error("the work log cannot be `{place}`: {reason}")]
    BadPlace {
        /// The path or heading.
        place: String,
        /// Why.
        reason: &'static str,
    },
    /// There is no such file.
    #[error("there is no work log `{0}`: run `handoff init`")]
    Missing(String),
    /// A link, folder or device, or a link on the way.
    #[error("the work log `{0}` is not a regular file reached without links")]
    NotRegular(String),
    /// Over 4 MiB, or the line does not fit.
    #[error("the work log `{0}` is full: run `handoff log rotate`")]
    Full(String),
    /// As [`LogError::Full`], and a rotation would not help.
    #[error(
        "the work log `{0}` is full, and not with lines that a rotation moves: put it aside and run `handoff init`"
    )]
    FullOfOther(String),
    /// Not UTF-8.
    #[error("the work log `{0}` is not UTF-8")]
    NotUtf8(String),
    /// A second name of the file may lie outside the project.
    #[error("the work log `{path}` has {links} hard links: make it a file of its own")]
    HardLinked {
        /// The file.
        path: String,
        /// Its link count.
        links: u64,
    },
    /// No line is the heading.
    #[error("the work log has no line `{0}`: add it at its end")]
    HeadingMissing(String),
    /// More than one line is the heading.
    #[error("the work log has the heading `{heading}` {count} times: keep one of them, as the last heading")]
    HeadingRepeated {
        /// The heading.
        heading: String,
        /// How often.
        count: usize,
    },
    /// Another heading follows.
    #[error(
        "in the work log `{heading}` is not the last heading: `{after}` follows; move `{heading}` with its lines to the end"
    )]
    HeadingNotLast {
        /// The heading.
        heading: String,
        /// The last one.
        after: String,
    },
    /// Another file took the name meanwhile, or the content changed under a rotation.
    #[error("the work log `{0}` was replaced or changed meanwhile")]
    Changed(String),
    /// Only a part of the line was written.
    #[error("only a part of the line was written to `{0}`")]
    ShortWrite(String),
    /// The folders are no longer the ones that were opened (D18).
    #[error(transparent)]
    Moved(#[from] Moved),
    /// A failed append could not be cut back: a part of the line may stand in the file.
    #[error("{cut}; before that: {append}")]
    NotCutBack {
        /// Why the append failed.
        append: Box<Self>,
        /// Why it could not be undone.
        cut: IoFault,
    },
    /// The system refused.
    #[error(transparent)]
    Io(#[from] IoFault),
}

/// From this size on the log warns, in bytes.
const WARN_FROM: u64 = 3 << 20;
/// Room for a line with all its parts, which are far shorter, in bytes.
const LINE: usize = 8 << 10;
/// How much of the end recovery looks through, in bytes.
const TAIL: u64 = 64 << 10;

impl WorkLog {
    /// The default path, project-relative.
    pub const DEFAULT_PATH: &str = ".pi/handoff-log.md";
    /// The default heading.
    pub const DEFAULT_HEADING: &str = "## Work log";

    /// Names a log; touches nothing.
    ///
    /// # Errors
    ///
    /// [`LogError::BadPlace`] for a path that is not plainly beneath the project, or a heading that is not one.
    pub fn new(project: &Arc<ProjectDir>, path: &str, heading: &str) -> Result<Self, LogError> {
        let bad = |place: &str, reason| LogError::BadPlace { place: place.to_owned(), reason };
        let mut folders: Vec<String> = path.split('/').map(str::to_owned).collect();
        if path.contains('\0') || folders.iter().any(|part| matches!(part.as_str(), "" | "." | "..")) {
            return Err(bad(path, "it must be a plain path beneath the project"));
        }
        let name = folders.pop().unwrap_or_default();
        if !heading::is_heading(heading) {
            return Err(bad(heading, "a heading is one line that begins with `#`"));
        }
        Ok(Self { project: Arc::clone(project), folders, name, heading: heading.trim_end().to_owned() })
    }

    pub(crate) fn project(&self) -> &ProjectDir {
        &self.project
    }

    /// The path, project-relative.
    #[must_use]
    pub fn path(&self) -> String {
        self.folders.iter().chain([&self.name]).map(String::as_str).collect::<Vec<_>>().join("/")
    }

    /// The state of the file by name, to see whether a check still holds; `None` when there is nothing.
    ///
    /// # Errors
    ///
    /// [`LogError`] when it cannot be looked at.
    pub fn stamp(&self) -> Result<Option<Stamp>, LogError> {
        let stat = self.with_folder(|folder| Ok(folder.stat(&self.name)?));
        match stat {
            Ok(stat) => Ok(stat.as_ref().map(Stamp::of)),
            Err(LogError::Missing(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a line could be appended now: asked before a task is started (D30).
    ///
    /// # Errors
    ///
    /// See [`LogError`].
    pub fn check(&self) -> Result<LogCheck, LogError> {
        self.with_folder(|folder| {
            let file = self.open_file(folder, OFlags::RDONLY)?;
            let (stamp, text) = self.read(&file, Limit::LongLog)?;
            let found = heading::find(&text, &self.heading);
            self.has_room(&text, found.as_ref().ok().map(|range| range.end))?;
            let kept = found?.end;
            folder.may_write(&self.name)?;
            Ok(self.passed(stamp, kept))
        })
    }

    /// Makes the file with nothing but the heading, and the folders on the way; `false` when there is one already, which
    /// stays as it is.
    ///
    /// # Errors
    ///
    /// [`LogError`]; folders that were made stay.
    pub fn create(&self) -> Result<bool, LogError> {
        self.project.still_named()?;
        let folder = self.folder(Folder::open_or_make_shared)?;
        let text = format!("{}\n", self.heading);
        Ok(folder.as_ref().unwrap_or(&self.project.root).make_file(&self.name, text.as_bytes())?)
    }

    /// Which of these finished lines the end of the log lacks (the last 64 KiB), by their dispatch ids (D67).
    ///
    /// # Errors
    ///
    /// [`LogError`] when the log cannot be read.
    pub fn missing_lines<'l>(
        &self,
        lines: &'l [(DispatchId, String)],
    ) -> Result<Vec<&'l (DispatchId, String)>, LogError> {
        let tail = self.with_folder(|folder| {
            let file = self.open_file(folder, OFlags::RDONLY)?;
            let start = size(&file.stat()?).saturating_sub(TAIL);
            Ok(file.read(start, Limit::WorkLog.bytes(), usize::try_from(TAIL).unwrap_or(0))?)
        })?;
        let tail = String::from_utf8_lossy(&tail);
        Ok(lines.iter().filter(|(id, _)| !tail.contains(&format!("[{id}]"))).collect())
    }

    /// Runs `act` on the folder of the log, reached part by part with no link followed.
    fn with_folder<T>(&self, act: impl FnOnce(&Folder) -> Result<T, LogError>) -> Result<T, LogError> {
        // The usual place is open already.
        if let [only] = self.folders.as_slice()
            && only == names::PI
        {
            return act(&self.project.pi);
        }
        match self.folder(Folder::open_beneath)? {
            Some(folder) => act(&folder),
            None => act(&self.project.root),
        }
    }

    /// The folder of the log, each part opened from the one above; `None` when that is the root.
    fn folder(&self, open: fn(&Folder, &str) -> Result<Folder, IoFault>) -> Result<Option<Folder>, LogError> {
        let mut at: Option<Folder> = None;
        for part in &self.folders {
            let folder =
                open(at.as_ref().unwrap_or(&self.project.root), part).map_err(|fault| match fault.errno() {
                    Errno::NOENT => LogError::Missing(self.path()),
                    Errno::NOTDIR | Errno::LOOP => LogError::NotRegular(self.path()),
                    _ => LogError::Io(fault),
                })?;
            at = Some(folder);
        }
        Ok(at)
    }

    fn open_file(&self, folder: &Folder, access: OFlags) -> Result<OpenFile, LogError> {
        let opened = open_regular(folder, &self.name, access);
        opened.map(|(file, _)| file).map_err(|error| self.unreadable(error))
    }

    fn unreadable(&self, error: ReadError) -> LogError {
        match error {
            ReadError::Missing => LogError::Missing(self.path()),
            ReadError::NotRegular => LogError::NotRegular(self.path()),
            ReadError::TooLarge { limit } if limit > Limit::WorkLog.bytes() => LogError::FullOfOther(self.path()),
            ReadError::TooLarge { .. } => LogError::Full(self.path()),
            ReadError::Io(fault) => LogError::Io(fault),
        }
    }

    /// Checks the text of an open log; also returns the text, and how much of it a rotation would keep.
    fn check_open(&self, file: &OpenFile) -> Result<(LogCheck, String, usize), LogError> {
        let (stamp, text) = self.read(file, Limit::WorkLog)?;
        let kept = heading::find(&text, &self.heading)?.end;
        Ok((self.passed(stamp, kept), text, kept))
    }

    fn read(&self, file: &OpenFile, limit: Limit) -> Result<(Stamp, String), LogError> {
        self.check_links(file)?;
        let bytes = read_open(file, &file.stat()?, limit).map_err(|error| self.unreadable(error))?;
        let text = String::from_utf8(bytes.bytes).map_err(|_| LogError::NotUtf8(self.path()))?;
        Ok((bytes.stamp, text))
    }

    /// Whether a line fits behind the text; if not, whether it would after a rotation, which keeps `kept` bytes.
    fn has_room(&self, text: &str, kept: Option<usize>) -> Result<(), LogError> {
        let most = Limit::WorkLog.bytes().saturating_sub(LINE);
        match kept {
            _ if text.len() <= most => Ok(()),
            Some(kept) if kept <= most => Err(LogError::Full(self.path())),
            _ => Err(LogError::FullOfOther(self.path())),
        }
    }

    fn check_links(&self, file: &OpenFile) -> Result<(), LogError> {
        let stat = file.stat()?;
        if !is_regular(&stat) {
            return Err(LogError::NotRegular(self.path()));
        }
        #[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "the field's type differs by system")]
        let links = u64::from(stat.st_nlink);
        // No link at all: the name was taken away since it was opened.
        match links {
            0 => Err(LogError::Changed(self.path())),
            1 => Ok(()),
            links => Err(LogError::HardLinked { path: self.path(), links }),
        }
    }

    /// `kept`: what a rotation would keep, in bytes.
    fn passed(&self, stamp: Stamp, kept: usize) -> LogCheck {
        let is_long = stamp.size >= WARN_FROM;
        let remedy = (is_long && (kept as u64) < WARN_FROM).then_some("handoff log rotate");
        let warning = is_long.then(|| {
            let does = match remedy {
                Some(command) => format!("run `{command}`"),
                None => "move some of what stands above its heading to a file of its own".to_owned(),
            };
            format!("the work log `{}` has {} of its 4096 KiB: {does}", self.path(), stamp.size >> 10)
        });
        LogCheck { stamp, warning, remedy }
    }

    /// What a crash left of our temporaries beside the log; called with the log locked.
    fn sweep(&self, folder: &Folder) -> Result<(), IoFault> {
        for name in folder.list()? {
            if names::temporary_stage(&self.name, &name).is_some()
                && folder.stat(&name)?.as_ref().is_some_and(is_regular)
            {
                folder.unlink(&name)?;
            }
        }
        Ok(())
    }
}
