//! Mode, owner, group and extended attributes of a file, carried over to the one that takes its place (D3).

use std::ffi::CString;

use rustix::fs::Stat;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::OpenFile;
use crate::stamp::permissions;

/// What a file is beside its bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    mode: u32,
    xattrs: Vec<(CString, Vec<u8>)>,
}

/// Why attributes could not be given to a file.
pub(crate) enum CannotKeep {
    /// Owner or group: the system lets us not give files away.
    Owner,
    Io(IoFault),
}

impl From<IoFault> for CannotKeep {
    fn from(fault: IoFault) -> Self {
        Self::Io(fault)
    }
}

impl Attributes {
    /// Of an open file whose state is `stat`.
    pub(crate) fn of(file: &OpenFile, stat: &Stat) -> Result<Self, IoFault> {
        let mut xattrs = Vec::new();
        for name in names(file)? {
            match file.sys.xattr(file.fd(), &name) {
                Err(Errno::NODATA) => {}
                outcome => xattrs.push((name, file.fault("read the attributes of", outcome)?)),
            }
        }
        xattrs.sort();
        Ok(Self { uid: stat.st_uid, gid: stat.st_gid, mode: permissions(stat), xattrs })
    }

    /// Owner first (a change of owner clears mode bits), then mode, then attributes (an ACL refines the mode).
    pub(crate) fn give_to(&self, file: &OpenFile) -> Result<(), CannotKeep> {
        let stat = file.stat()?;
        if (stat.st_uid, stat.st_gid) != (self.uid, self.gid) {
            match file.sys.chown(file.fd(), self.uid, self.gid) {
                Err(Errno::PERM | Errno::INVAL) => return Err(CannotKeep::Owner),
                outcome => file.fault("give the owner to", outcome)?,
            }
        }
        file.fault("give the mode to", file.sys.chmod(file.fd(), self.mode))?;
        for inherited in names(file)?.iter().filter(|name| !self.xattrs.iter().any(|(kept, _)| kept == *name)) {
            file.fault("remove an attribute of", file.sys.remove_xattr(file.fd(), inherited))?;
        }
        for (name, value) in &self.xattrs {
            file.fault("give the attributes to", file.sys.set_xattr(file.fd(), name, value))?;
        }
        Ok(())
    }
}

/// All but `security.*`: those are labels that the system itself gives by place (SELinux) or by content (IMA, EVM).
fn names(file: &OpenFile) -> Result<Vec<CString>, IoFault> {
    match file.sys.xattrs(file.fd()) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(Vec::new()),
        outcome => {
            let mut names = file.fault("list the attributes of", outcome)?;
            names.retain(|name| !name.as_bytes().starts_with(b"security."));
            Ok(names)
        }
    }
}
