//! Moving the lines of a long log to a file of their own (D67, end).

use std::path::PathBuf;

use jiff::civil::Date;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{LogError, WorkLog, heading};
use crate::attributes::{Attributes, CannotKeep};
use crate::error::IoFault;
use crate::exchange::{Swapped, exchange_in};
use crate::folder::Folder;
use crate::hash::RawHash;
use crate::names;
use crate::read::Limit;
use crate::temporary::Temporary;
use crate::turn::Turn;

/// What a rotation did.
#[derive(Debug, PartialEq, Eq)]
pub enum Rotated {
    /// There is no line under the heading.
    Nothing,
    /// The lines stand in this file now, under the same heading.
    Moved(PathBuf),
}

impl WorkLog {
    /// Moves the heading and all below it to `<log>-<date>.md` beside the log; the text above and a fresh heading stay.
    ///
    /// The archive is durable before the log is replaced: a crash in between leaves the lines in both, never in none.
    ///
    /// # Errors
    ///
    /// See [`LogError`]; the log is as it was then. [`LogError::FullOfOther`] when it would be full all the same,
    /// [`LogError::Changed`] when somebody wrote to it meanwhile.
    pub fn rotate(&self, date: Date) -> Result<Rotated, LogError> {
        self.project.still_named()?;
        self.with_folder(|folder| {
            let file = self.open_file(folder, OFlags::RDONLY)?;
            Turn::of(&file)?;
            self.sweep(folder)?;
            let (_, text) = self.read(&file, Limit::LongLog)?;
            let range = heading::find(&text, &self.heading)?;
            if let Err(error @ LogError::FullOfOther(_)) = self.has_room(&text, Some(range.end)) {
                return Err(error);
            }
            if text[range.end..].trim().is_empty() {
                return Ok(Rotated::Nothing);
            }
            let attributes = Attributes::of(&file, &file.stat()?)?;
            let (kept, moved) = (format!("{}\n", &text[..range.end]), &text[range.start..]);
            let archive = self.archive(folder, &attributes, moved, date)?;
            match self.shorten(folder, &attributes, &text, &kept) {
                Ok(()) => Ok(Rotated::Moved(folder.shown(&archive))),
                Err(error) => {
                    self.drop_archive(folder, &archive, moved);
                    Err(error)
                }
            }
        })
    }

    /// Writes the archive under a free name, durably; its name.
    fn archive(&self, folder: &Folder, attributes: &Attributes, moved: &str, date: Date) -> Result<String, LogError> {
        let temporary = Temporary::create(folder, &self.name, 0o600)?;
        give(attributes, &temporary)?;
        temporary.fill(moved.as_bytes())?;
        let (stem, end) = self.name.rsplit_once('.').unwrap_or((&self.name, "md"));
        for base in names::candidates(&format!("{stem}-{date}")) {
            let name = format!("{base}.{end}");
            match temporary.publish(&name) {
                Err(fault) if fault.errno() == Errno::EXIST => {}
                outcome => return Ok(outcome.map(|()| name)?),
            }
        }
        Err(IoFault::new("find a free name for", folder.shown(&format!("{stem}-{date}.{end}")), Errno::EXIST).into())
    }

    /// Puts the short log in the place of the one with exactly this `text`.
    fn shorten(&self, folder: &Folder, attributes: &Attributes, text: &str, kept: &str) -> Result<(), LogError> {
        let temporary = Temporary::create(folder, &self.name, 0o600)?;
        give(attributes, &temporary)?;
        temporary.fill(kept.as_bytes())?;
        let ours = temporary.private.as_seen(kept.as_bytes());
        let expected = RawHash::of(text.as_bytes());
        match exchange_in(folder, &temporary.private, &self.name, Limit::LongLog, &expected.into(), ours)? {
            // Old text is in the archive; a leftover name goes at the next rotation.
            Swapped::Displaced(_) => {
                folder.unlink(&temporary.private.name).ok();
                Ok(())
            }
            Swapped::Plain => Ok(()),
            Swapped::Changed | Swapped::Unseen => Err(LogError::Changed(self.path())),
        }
    }

    /// After a failed rotation the archive goes, but only if the log itself still has all of it.
    fn drop_archive(&self, folder: &Folder, archive: &str, moved: &str) {
        let log = self.open_file(folder, OFlags::RDONLY).and_then(|file| self.read(&file, Limit::LongLog));
        if log.is_ok_and(|(_, text)| text.contains(moved)) {
            folder.unlink(archive).ok();
        }
    }
}

fn give(attributes: &Attributes, temporary: &Temporary<'_>) -> Result<(), LogError> {
    attributes.give_to(&temporary.private.file).map_err(|why| match why {
        CannotKeep::Owner => LogError::Io(IoFault::new("give the owner to", &temporary.private.file.path, Errno::PERM)),
        CannotKeep::Io(fault) => LogError::Io(fault),
    })
}
