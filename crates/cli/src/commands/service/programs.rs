//! Which programs a service should start: by the path that a person calls them with, which stays the same when an update
//! changes what a link leads to (F134).

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::failure::Failure;

/// The two programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Programs {
    /// The daemon.
    pub(super) handoffd: PathBuf,
    /// This program.
    pub(super) handoff: PathBuf,
}

impl Programs {
    /// As this process was called.
    pub(super) fn of_process(ctx: &Context) -> Result<Self, Failure> {
        let real = std::env::current_exe()
            .map_err(|error| Failure::usage(format!("the path of this program is not known: {error}")))?;
        let called = std::env::args_os().next().map(PathBuf::from);
        let path = ctx.env.path.clone().unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let here = ctx.working_dir().ok();
        Self::find(&real, called.as_deref(), here, &folders)
    }

    fn find(real: &Path, called: Option<&Path>, here: Option<&Path>, folders: &[PathBuf]) -> Result<Self, Failure> {
        let handoff = stable(real, called, here, folders).unwrap_or_else(|| real.to_path_buf());
        let beside = [&handoff, real].into_iter().filter_map(|program| Some(program.parent()?.join("handoffd")));
        let elsewhere = folders.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join("handoffd"));
        let looked: Vec<PathBuf> = beside.chain(elsewhere).collect();
        match looked.iter().find(|path| is_program(path)) {
            Some(handoffd) => Ok(Self { handoffd: handoffd.clone(), handoff }),
            None => {
                let beside = real.with_file_name("handoffd");
                let message =
                    format!("the daemon is not installed: there is no {}, and none in PATH", beside.display());
                Err(Failure::usage(message).hint("`cargo install --path daemon` puts it where cargo puts programs"))
            }
        }
    }
}

/// The path as called, absolute and with its links, if it leads to this very program.
fn stable(real: &Path, called: Option<&Path>, here: Option<&Path>, folders: &[PathBuf]) -> Option<PathBuf> {
    let called = called?;
    let candidates: Vec<PathBuf> = match called.components().count() {
        1 if !called.is_absolute() => folders.iter().map(|folder| folder.join(called)).collect(),
        _ if called.is_absolute() => vec![called.to_path_buf()],
        _ => vec![here?.join(called)],
    };
    let is_this = |path: &PathBuf| path.is_absolute() && identity(path).is_some_and(|it| Some(it) == identity(real));
    let found = candidates.into_iter().find(is_this)?;
    // `..` and `.` go, links stay.
    let folder = std::path::absolute(found.parent()?).ok()?;
    Some(if folder.components().any(|part| part.as_os_str() == "..") {
        real.to_path_buf()
    } else {
        folder.join(found.file_name()?)
    })
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Place(tempfile::TempDir);

    impl Place {
        /// `app-1/bin/{handoff,handoffd}`, and `bin/handoff` as a link to the first.
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            for name in ["app-1/bin/handoff", "app-1/bin/handoffd"] {
                let path = place.path(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::File::create(&path).unwrap();
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
            symlink(place.path("app-1"), place.path("app")).unwrap();
            std::fs::create_dir(place.path("bin")).unwrap();
            symlink("../app/bin/handoff", place.path("bin/handoff")).unwrap();
            place
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        #[track_caller]
        fn check(&self, called: &str, folders: &[&str], handoff: &str, handoffd: &str) {
            let called =
                if called.contains('{') { self.path(&called.replace("{}/", "")) } else { PathBuf::from(called) };
            let folders: Vec<PathBuf> = folders.iter().map(|name| self.path(name)).collect();
            let found = Programs::find(&self.path("app-1/bin/handoff"), Some(&called), Some(self.0.path()), &folders);
            let expected = Programs { handoffd: self.path(handoffd), handoff: self.path(handoff) };
            assert_eq!(found.unwrap(), expected);
        }
    }

    #[test]
    fn f134_the_stable_path_is_taken_and_not_where_it_leads_today() {
        let place = Place::new();
        place.check("{}/app/bin/handoff", &[], "app/bin/handoff", "app/bin/handoffd");
        place.check("app/bin/handoff", &[], "app/bin/handoff", "app/bin/handoffd");
        place.check("handoff", &["nowhere", "app/bin"], "app/bin/handoff", "app/bin/handoffd");
        symlink("../app/bin/handoffd", place.path("bin/handoffd")).unwrap();
        place.check("handoff", &["bin"], "bin/handoff", "bin/handoffd");
    }

    #[test]
    fn without_a_daemon_beside_the_link_the_one_beside_the_program_is_taken() {
        let place = Place::new();
        place.check("handoff", &["bin"], "bin/handoff", "app-1/bin/handoffd");
        place.check("{}/other", &[], "app-1/bin/handoff", "app-1/bin/handoffd");
    }

    #[test]
    fn without_any_daemon_it_says_so() {
        let place = Place::new();
        std::fs::remove_file(place.path("app-1/bin/handoffd")).unwrap();
        let found = Programs::find(&place.path("app-1/bin/handoff"), None, None, &[]);
        assert!(found.unwrap_err().message.contains("the daemon is not installed"));
    }
}
