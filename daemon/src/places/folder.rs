//! Folders of our own: created private, and never used when they belong to somebody else (F159).
//!
//! Only ownership and mode of folders are judged here; which folders those are is said in the parent module.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, User, geteuid};

const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
const OTHERS_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// A folder that must not or cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It belongs to another user; the text names both and the command that repairs it.
    #[error("{} {hint}", path.display())]
    ForeignOwner {
        /// The folder, or the nearest one that exists above it.
        path: PathBuf,
        /// Owner, caller and remedy.
        hint: String,
    },
    /// Anyone may replace what is in it.
    #[error("{} can be written by every user: run `chmod o-w {}`", path.display(), quoted(path))]
    WorldWritable {
        /// The folder.
        path: PathBuf,
    },
    /// A file stands where the folder should be.
    #[error("{} is not a folder", .0.display())]
    NotFolder(PathBuf),
    /// The system refused a step.
    #[error("cannot {act} {}: {source}{hint}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The step, as a verb.
        act: &'static str,
        /// Empty, or ` (the command that repairs it)`.
        hint: String,
        /// The system's words.
        source: io::Error,
    },
}

/// Makes sure that `path` is a folder of this user that no one else can write; missing parts are created 0700.
///
/// An existing folder of ours that others may write is closed to them. As root, nothing is created below another
/// user's folder: one run with `sudo` would leave state behind that the user's own runs can no longer save (F159).
///
/// # Errors
/// [`FolderError`]: another owner, not a folder, or the system's refusal.
pub fn make_private(path: &Path) -> Result<(), FolderError> {
    let meta = make(path)?;
    check_owner(path, &meta)?;
    if meta.mode() & GROUP_OR_OTHERS_WRITE != 0 {
        let closed = Permissions::from_mode(meta.mode() & 0o7777 & !GROUP_OR_OTHERS_WRITE);
        fs::set_permissions(path, closed).map_err(|source| io_error("change the mode of", path, source))?;
    }
    Ok(())
}

/// As [`make_private`], and no other user can look into it either.
///
/// # Errors
/// [`FolderError`], as [`make_private`].
pub fn close(path: &Path) -> Result<(), FolderError> {
    make_private(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o700))
        .map_err(|source| io_error("change the mode of", path, source))
}

/// Makes sure that the folder of a socket that the user chose exists and cannot be tampered with by strangers.
///
/// Missing parts are created 0700. An existing one keeps its mode (it may be the user's home, or `/tmp`); it is
/// refused when everyone can write to it and it is not sticky, or when it belongs to neither this user nor root.
///
/// # Errors
/// [`FolderError`], as [`make_private`].
pub fn make_for_socket(path: &Path) -> Result<(), FolderError> {
    let meta = make(path)?;
    if meta.uid() != 0 {
        check_owner(path, &meta)?;
    }
    if meta.mode() & OTHERS_WRITE != 0 && meta.mode() & STICKY == 0 {
        return Err(FolderError::WorldWritable { path: path.to_path_buf() });
    }
    Ok(())
}

/// Whose `path` (or the nearest existing folder above) is and how to repair that; `None` if it is ours.
#[must_use]
pub fn owner_hint(path: &Path) -> Option<String> {
    let (nearest, meta) = path.ancestors().find_map(|path| Some((path, fs::metadata(path).ok()?)))?;
    let me = geteuid();
    (meta.uid() != me.as_raw()).then(|| hint(nearest, meta.uid(), me))
}

/// What repairs a missing permission, in brackets: whose it is (F159), or which mode is in the way; else nothing.
pub(crate) fn hint_for(path: &Path, source: &io::Error) -> String {
    if source.kind() != io::ErrorKind::PermissionDenied {
        return String::new();
    }
    let mode = || store::allow(path).or_else(|| store::allow(path.parent()?)).map(|command| format!("run `{command}`"));
    owner_hint(path).or_else(mode).map(|hint| format!(" ({hint})")).unwrap_or_default()
}

fn make(path: &Path) -> Result<Metadata, FolderError> {
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => return Ok(meta),
        Ok(_) => return Err(FolderError::NotFolder(path.to_path_buf())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(io_error("look at", path, source)),
    }
    check_ground(path)?;
    match DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Ok(()) => fs::metadata(path).map_err(|source| io_error("look at", path, source)),
        Err(source) if source.kind() == io::ErrorKind::PermissionDenied => match owner_hint(path) {
            Some(hint) => Err(FolderError::ForeignOwner { path: nearest_existing(path), hint }),
            None => Err(io_error("create", path, source)),
        },
        Err(source) => Err(io_error("create", path, source)),
    }
}

/// As root, refuses to create anything below a folder that belongs to somebody else.
///
/// # Errors
/// [`FolderError::ForeignOwner`]
pub fn check_ground(path: &Path) -> Result<(), FolderError> {
    let ground = nearest_existing(path);
    match fs::metadata(&ground) {
        Ok(meta) if geteuid().is_root() => check_owner(&ground, &meta),
        _ => Ok(()),
    }
}

fn check_owner(path: &Path, meta: &Metadata) -> Result<(), FolderError> {
    let me = geteuid();
    if meta.uid() == me.as_raw() {
        return Ok(());
    }
    Err(FolderError::ForeignOwner { path: path.to_path_buf(), hint: hint(path, meta.uid(), me) })
}

/// Owner, caller and the exact remedy. `chown` is advised only for what root left behind in a folder that is ours by
/// name: on any other path that advice could hand over half a system.
fn hint(path: &Path, owner: u32, me: Uid) -> String {
    let owner = Uid::from_raw(owner);
    let ours_by_name = path.components().any(|part| part.as_os_str() == "handoffd");
    let fix = if me.is_root() {
        match User::from_uid(owner).ok().flatten() {
            Some(user) => format!("run this as {}, without sudo", user.name),
            None => format!("run this as the user with uid {owner}, without sudo"),
        }
    } else if owner.is_root() && ours_by_name {
        format!("run `sudo chown -R {me} {}`", quoted(path))
    } else {
        "choose a folder of your own".to_owned()
    };
    format!("belongs to {}, not to {}: {fix}", named(owner), named(me))
}

fn named(uid: Uid) -> String {
    match User::from_uid(uid).ok().flatten() {
        Some(user) => format!("{} (uid {uid})", user.name),
        None => format!("uid {uid}"),
    }
}

fn nearest_existing(path: &Path) -> PathBuf {
    path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/")).to_path_buf()
}

fn io_error(act: &'static str, path: &Path, source: io::Error) -> FolderError {
    FolderError::Io { path: path.to_path_buf(), act, hint: hint_for(path, &source), source }
}

/// A path as one word of a shell command.
fn quoted(path: &Path) -> String {
    queue::quoted(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn missing_folders_are_created_private() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        make_private(&deep).unwrap();
        assert_eq!((mode(&deep), mode(&dir.path().join("a"))), (0o700, 0o700));
        make_private(&deep).unwrap();
    }

    #[test]
    fn a_folder_that_others_can_write_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        set_mode(dir.path(), 0o777);
        make_private(dir.path()).unwrap();
        assert_eq!(mode(dir.path()), 0o755);
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(make_private(file.path()), Err(FolderError::NotFolder(_))));
        assert!(make_private(&file.path().join("below")).is_err());
    }

    #[test]
    fn the_folder_of_a_chosen_socket_keeps_its_mode_unless_everyone_can_write() {
        let dir = tempfile::tempdir().unwrap();
        for open in [0o755, 0o775, 0o1777] {
            set_mode(dir.path(), open);
            make_for_socket(dir.path()).unwrap();
            assert_eq!(mode(dir.path()), open);
        }
        set_mode(dir.path(), 0o777);
        let error = make_for_socket(dir.path()).unwrap_err().to_string();
        assert!(error.contains("can be written by every user: run `chmod o-w "), "{error}");
    }

    #[test]
    fn a_folder_of_another_user_is_refused_with_owner_and_fix() {
        // Root owns `/`; as root we give a folder away first.
        if geteuid().is_root() {
            let dir = tempfile::tempdir().unwrap();
            let foreign = dir.path().join("foreign");
            fs::create_dir(&foreign).unwrap();
            std::os::unix::fs::chown(&foreign, Some(54_321), None).unwrap();
            for path in [foreign.clone(), foreign.join("below/it")] {
                let error = make_private(&path).unwrap_err().to_string();
                assert!(error.contains("belongs to uid 54321, not to root (uid 0): run this as"), "{error}");
            }
            assert!(!foreign.join("below").exists());
        } else {
            let error = make_private(Path::new("/")).unwrap_err().to_string();
            assert!(error.contains("/ belongs to root (uid 0)") && error.contains("choose a folder"), "{error}");
        }
    }

    #[test]
    fn hints_tell_a_user_and_root_different_remedies() {
        let check = |path: &str, owner, me, expected: &str| {
            let text = hint(path.as_ref(), owner, Uid::from_raw(me));
            assert!(text.ends_with(expected), "{text}");
        };
        check("/s/handoffd", 0, 4_242_424, "not to uid 4242424: run `sudo chown -R 4242424 /s/handoffd`");
        check("/s p/handoffd/x", 0, 4_242_424, "run `sudo chown -R 4242424 '/s p/handoffd/x'`");
        check("/s", 4_242_424, 0, "run this as the user with uid 4242424, without sudo");
    }

    #[test]
    fn chown_is_never_advised_for_a_folder_that_is_not_ours_by_name() {
        for (path, owner) in [("/", 0), ("/var/lib", 0), ("/home/x/handoffd", 4_242_425)] {
            let text = hint(path.as_ref(), owner, Uid::from_raw(4_242_424));
            assert!(text.ends_with("choose a folder of your own"), "{text}");
        }
    }
}
