//! What the paths of projects lead to, found out without waiting for file systems that do not answer: whoever means one project
//! often looks at all, under the lock of their list or before there is a daemon, and a dead mount must stop neither.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::folder_id::FolderId;

/// How long it waits for all of them: less than others wait for the lock of the list.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long one that does not answer holds up the next.
const SLOW: Duration = Duration::from_millis(10);

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
    /// Looks at all of them. A folder that does not answer within two seconds is as if it were not there; the thread that looks
    /// at it stays until it does.
    pub fn look_at<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Self {
        Self::look_with(paths, Root::look_at, PATIENCE)
    }

    fn look_with<'p>(
        paths: impl IntoIterator<Item = &'p Path>,
        look: impl Fn(&Path) -> Root + Clone + Send + 'static,
        patience: Duration,
    ) -> Self {
        let paths: BTreeSet<PathBuf> = paths.into_iter().map(Path::to_owned).collect();
        let mut missing = paths.len();
        let paths = Arc::new(Mutex::new(paths));
        let (told, answers) = mpsc::channel();
        let mut roots = HashMap::new();
        let deadline = Instant::now() + patience;
        while missing > 0 && Instant::now() < deadline {
            // One thread does for a thousand folders that answer; each one that does not takes one away.
            if !lock(&paths).is_empty() {
                let (paths, told, look) = (Arc::clone(&paths), told.clone(), look.clone());
                // Where no thread can be had, it does not answer.
                thread::Builder::new().spawn(move || look_at_each(&paths, &told, look)).ok();
            }
            while missing > 0
                && Instant::now() < deadline
                && let Ok((path, root)) = answers.recv_timeout(SLOW)
            {
                roots.insert(path, root);
                missing -= 1;
            }
        }
        Self(roots)
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

fn look_at_each(paths: &Mutex<BTreeSet<PathBuf>>, told: &Sender<(PathBuf, Root)>, look: impl Fn(&Path) -> Root) {
    loop {
        // Not held while it looks.
        let Some(path) = lock(paths).pop_first() else { return };
        let root = look(&path);
        told.send((path, root)).ok();
    }
}

fn lock(paths: &Mutex<BTreeSet<PathBuf>>) -> MutexGuard<'_, BTreeSet<PathBuf>> {
    paths.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_does_not_answer_is_not_waited_for() {
        let (gate, opened) = mpsc::channel::<()>();
        let opened = Arc::new(Mutex::new(opened));
        let look = move |path: &Path| {
            if path.starts_with("/hangs") {
                opened.lock().unwrap().recv().unwrap_err();
            }
            Root::look_at(path)
        };
        let roots = Roots::look_with([Path::new("/hangs")], look.clone(), Duration::from_millis(50));
        assert_eq!(roots.root(Path::new("/hangs")), Root::unknown(Path::new("/hangs")));
        // Those that come after them in order are looked at all the same.
        let roots =
            Roots::look_with(["/", "/hangs", "/hangs/2", "/usr/.."].map(Path::new), look, Duration::from_secs(3));
        assert_eq!(roots.id(Path::new("/")), FolderId::of(Path::new("/")).ok());
        assert_eq!(roots.root(Path::new("/usr/..")).path, Path::new("/"));
        assert_eq!(roots.id(Path::new("/hangs/2")), None);
        drop(gate);
    }

    #[test]
    fn all_that_answer_are_known() {
        let paths: Vec<PathBuf> = (0..500).map(|number| PathBuf::from(format!("/{}", "../".repeat(number)))).collect();
        let roots = Roots::look_with(paths.iter().map(|path| &**path), Root::look_at, Duration::from_secs(60));
        assert!(paths.iter().all(|path| roots.id(path).is_some()));
    }
}
