//! What the paths of projects lead to, found out without waiting for file systems that do not answer: whoever means one project
//! often looks at all, under the lock of their list or before there is a daemon, and a dead mount must stop neither.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::folder_id::FolderId;

/// How long it waits for all of them: less than others wait for the lock of the list.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a path leads to, found out before by whoever must not wait for a file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// With links resolved; as named if that could not be found out.
    pub path: PathBuf,
    /// The folder; `None` if there is none, or it does not answer.
    pub id: Option<FolderId>,
}

impl Root {
    /// Looks at the file system, links followed. Blocks for as long as that does.
    #[must_use]
    pub fn look_at(path: &Path) -> Self {
        let id = FolderId::of(path).ok();
        Self { path: path.canonicalize().unwrap_or_else(|_| path.to_path_buf()), id }
    }

    /// Of a folder that does not answer.
    #[must_use]
    pub fn unknown(path: &Path) -> Self {
        Self { path: path.to_path_buf(), id: None }
    }
}

/// What several paths lead to.
#[derive(Debug, Default)]
pub struct Roots(HashMap<PathBuf, Root>);

impl Roots {
    /// Looks at all of them side by side. A folder that does not answer within two seconds is as if it were not there; the
    /// thread that looks at it stays until it does.
    pub fn look_at<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Self {
        Self::look_with(paths, Root::look_at, PATIENCE)
    }

    fn look_with<'p>(
        paths: impl IntoIterator<Item = &'p Path>,
        look: impl Fn(&Path) -> Root + Clone + Send + 'static,
        patience: Duration,
    ) -> Self {
        let paths: BTreeSet<&Path> = paths.into_iter().collect();
        let (told, answers) = mpsc::channel();
        for path in paths {
            let (path, told, look) = (path.to_owned(), told.clone(), look.clone());
            let work = move || {
                let root = look(&path);
                told.send((path, root)).ok();
            };
            // Where no thread can be had, it does not answer.
            thread::Builder::new().spawn(work).ok();
        }
        drop(told);
        let deadline = Instant::now() + patience;
        let next = || answers.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok();
        Self(std::iter::from_fn(next).collect())
    }

    /// What one of the paths leads to.
    #[must_use]
    pub fn root(&self, path: &Path) -> Root {
        self.0.get(path).cloned().unwrap_or_else(|| Root::unknown(path))
    }

    /// Its folder.
    #[must_use]
    pub fn id(&self, path: &Path) -> Option<FolderId> {
        self.0.get(path)?.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_does_not_answer_is_not_waited_for() {
        let (gate, opened) = mpsc::channel::<()>();
        let opened = std::sync::Arc::new(std::sync::Mutex::new(opened));
        let look = move |path: &Path| {
            if path == Path::new("/hangs") {
                opened.lock().unwrap().recv().unwrap_err();
            }
            Root::look_at(path)
        };
        let roots = Roots::look_with([Path::new("/hangs")], look.clone(), Duration::from_millis(50));
        assert_eq!(roots.root(Path::new("/hangs")), Root::unknown(Path::new("/hangs")));
        let roots = Roots::look_with([Path::new("/"), Path::new("/.")], look, Duration::from_secs(60));
        assert_eq!(roots.id(Path::new("/")), FolderId::of(Path::new("/")).ok());
        assert_eq!(roots.root(Path::new("/.")).path, Path::new("/"));
        drop(gate);
    }
}
