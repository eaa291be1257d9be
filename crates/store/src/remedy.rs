//! Commands for a person's shell that mend what was found: nothing here changes anything.

use std::path::{Path, PathBuf};

use queue::quoted;
use rustix::fs::{Access, AtFlags, CWD, accessat, lstat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::IoFault;
use crate::names;
use crate::project::OpenError;
use crate::worklog::{LogError, WorkLog};

/// Acts that need the folder's permission and not the file's.
const OF_FOLDER: [&str; 5] = ["create", "create the folder", "replace", "put in place", "remove"];

pub(crate) fn of(fault: &IoFault) -> Option<String> {
    match fault.errno() {
        Errno::ACCESS if OF_FOLDER.contains(&fault.act) => allow(fault.path.parent()?),
        Errno::ACCESS => allow(&fault.path),
        Errno::NOSPC | Errno::DQUOT => Some(format!("df -h {}", word(nearest_folder(&fault.path)))),
        _ => None,
    }
}

/// The command that lets this user read and write `path`, and enter it if it is a folder; `None` when nothing forbids it, or
/// what forbids it is not this user's to change.
#[must_use]
pub fn allow(path: &Path) -> Option<String> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    above.reverse();
    if let Some(closed) = above.into_iter().find(|folder| folder.exists() && !may(folder, Access::EXEC_OK)) {
        return opened(closed, "u+rwx");
    }
    let is_folder = path.is_dir();
    let needed = Access::READ_OK | Access::WRITE_OK | if is_folder { Access::EXEC_OK } else { Access::EXISTS };
    if may(path, needed) || !path.exists() {
        return None;
    }
    opened(path, if is_folder { "u+rwx" } else { "u+rw" })
}

/// Only a missing permission forbids it: on a file system that is mounted read-only a mode changes nothing.
fn may(path: &Path, access: Access) -> bool {
    accessat(CWD, path, access, AtFlags::EACCESS) != Err(Errno::ACCESS)
}

/// What root left in a project is the user's to take back; anything else of another owner is not.
fn opened(path: &Path, mode: &str) -> Option<String> {
    let owner = lstat(path).ok()?.st_uid;
    if owner == geteuid().as_raw() {
        return Some(format!("chmod {mode} {}", word(path)));
    }
    let is_ours = path.components().any(|part| part.as_os_str() == names::PI) || path.ends_with(names::QUEUE);
    (is_ours && owner == 0).then(|| format!("sudo chown -R \"$(id -un)\" {}", word(path)))
}

fn nearest_folder(path: &Path) -> &Path {
    path.ancestors().find(|path| path.is_dir()).unwrap_or(path)
}

impl OpenError {
    /// The one command that mends it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Io(fault) => fault.remedy(),
            Self::NoPiFolder(path) => Some(format!("handoff init {}", word(path.parent()?))),
            Self::PiNotAFolder(path) => Some(aside(path, path.parent()?)),
            Self::Missing(_) | Self::NotAFolder(_) | Self::NotUtf8(_) => None,
        }
    }
}

impl WorkLog {
    /// The one command that mends it, for the shell of somebody in the project's root.
    #[must_use]
    pub fn remedy(&self, error: &LogError) -> Option<String> {
        let root = self.project().resolved_path();
        let path = root.join(self.path());
        match error {
            LogError::Missing(_) => Some("handoff init".to_owned()),
            LogError::Full(_) => Some("handoff log rotate".to_owned()),
            LogError::FullOfOther(_) | LogError::NotRegular(_) | LogError::NotUtf8(_) => Some(aside(&path, root)),
            LogError::HeadingMissing(heading) => {
                Some(format!("printf '\\n%s\\n' {} >> {}", quoted(heading), word(&path)))
            }
            LogError::HardLinked { .. } => {
                let (path, own) = (word(&path), word(&root.join(format!("{}.own", self.path()))));
                Some(format!("cp {path} {own} && mv {own} {path}"))
            }
            LogError::Io(fault) => fault.remedy(),
            LogError::BadPlace { .. }
            | LogError::HeadingRepeated { .. }
            | LogError::HeadingNotLast { .. }
            | LogError::Changed(_)
            | LogError::ShortWrite(_)
            | LogError::Moved(_)
            | LogError::NotCutBack { .. } => None,
        }
    }
}

/// What is in the way gets a name that is free, and what should be there is made.
fn aside(path: &Path, root: &Path) -> String {
    format!("{} && handoff init {}", put_aside(path), word(root))
}

/// The command that gives a file or folder a name that is free.
#[must_use]
pub fn put_aside(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let free = |name: String| Some(path.with_file_name(name)).filter(|path| path.symlink_metadata().is_err());
    let old = names::candidates(&format!("{name}.old")).find_map(free);
    let old: PathBuf = old.unwrap_or_else(|| path.with_file_name(format!("{name}.old")));
    format!("mv {} {}", word(path), word(&old))
}

fn word(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}
