//! Reading the lock file that is there, whatever it is.

use rustix::io::Errno;

use super::Claimant;
use super::content::LockContent;
use super::judge::{Facts, GuardState, Readable, Verdict, judge};
use crate::error::IoFault;
use crate::hash::RawHash;
use crate::names;
use crate::project::ProjectDir;
use crate::read::{Limit, ReadError, read_file};
use crate::stamp::Identity;

/// The lock file at one moment.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) content: Readable,
    pub(crate) uid: u32,
    pub(crate) identity: Identity,
    /// Of its bytes, when they could be read.
    pub(crate) hash: Option<RawHash>,
}

impl Found {
    /// `None` when there is no lock.
    pub(crate) fn read(project: &ProjectDir) -> Result<Option<Self>, IoFault> {
        let Some(stat) = project.pi.stat(names::LOCK)? else { return Ok(None) };
        let found = |content, hash| Some(Self { content, uid: stat.st_uid, identity: Identity::of(&stat), hash });
        Ok(match read_file(&project.pi, names::LOCK, Limit::Lock) {
            Err(ReadError::Missing) => None,
            Err(ReadError::NotRegular) => found(Readable::Malformed("it is not a regular file".to_owned()), None),
            Err(ReadError::TooLarge { .. }) => found(Readable::Malformed("it is over 4 KiB".to_owned()), None),
            Err(ReadError::Io(fault)) if fault.errno() == Errno::ACCESS => found(Readable::Forbidden, None),
            Err(ReadError::Io(fault)) => return Err(fault),
            Ok(file) => Some(Self {
                content: match LockContent::parse(&file.bytes) {
                    Ok(content) => Readable::Content(Box::new(content)),
                    Err(why) => Readable::Malformed(why),
                },
                uid: stat.st_uid,
                identity: file.stamp.identity,
                hash: Some(file.hash),
            }),
        })
    }

    pub(crate) fn judge(&self, project: &ProjectDir, guard: GuardState, me: &Claimant) -> Verdict {
        judge(&Facts { content: &self.content, guard, file_uid: self.uid, fs: project.fs_kind(), me })
    }
}
