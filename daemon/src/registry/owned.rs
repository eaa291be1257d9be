//! `owned-<host>.json`: the projects whose lock this host's daemon holds (D71).
//!
//! A project that stands here and is no longer configured is still to be brought to its end. Only the daemon that
//! holds the instance lock writes it, so it needs no lock of its own.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::state_file::{self, StateFileError, VERSION};
use crate::files::{FileError, remove_leftovers};

const REMEDY: &str = "register again with `handoff projects add` what was removed while its task ran";

/// The list, and the file that it is kept in.
#[derive(Debug)]
pub struct Owned {
    file: PathBuf,
    content: Content,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Content {
    version: u64,
    projects: Vec<OwnedProject>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct OwnedProject {
    path: String,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl Owned {
    /// Reads the list; a file that does not exist is an empty one. Only for the holder of the instance lock.
    ///
    /// # Errors
    /// [`StateFileError`]; a damaged file is left alone.
    pub fn load(file: PathBuf) -> Result<Self, StateFileError> {
        remove_leftovers(&file);
        let empty = Content { version: VERSION, projects: Vec::new(), unknown: Map::new() };
        let content = state_file::read(&file, REMEDY)?.unwrap_or(empty);
        Ok(Self { file, content })
    }

    /// The roots, in the order they were added.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.content.projects.iter().map(|project| Path::new(&project.path))
    }

    /// Adds roots that are not listed yet, with one durable write; to be called before their locks are taken.
    ///
    /// # Errors
    /// [`StateFileError`]; the list is then as before. A path that is not UTF-8 cannot be a project and is refused.
    pub fn add<'p>(&mut self, roots: impl IntoIterator<Item = &'p Path>) -> Result<(), StateFileError> {
        let mut changed = self.content.clone();
        for root in roots {
            let Some(path) = root.to_str() else {
                let error = std::io::Error::new(std::io::ErrorKind::InvalidInput, "the project's path is not UTF-8");
                return Err(FileError::io("write", root, error).into());
            };
            if !changed.projects.iter().any(|project| project.path == path) {
                changed.projects.push(OwnedProject { path: path.to_owned(), unknown: Map::new() });
            }
        }
        self.keep(changed)
    }

    /// Removes a root; to be called after its lock was released. One that is not listed is fine.
    ///
    /// # Errors
    /// [`StateFileError`]; the list is then as before.
    pub fn remove(&mut self, root: &Path) -> Result<(), StateFileError> {
        let mut changed = self.content.clone();
        changed.projects.retain(|project| Path::new(&project.path) != root);
        self.keep(changed)
    }

    fn keep(&mut self, changed: Content) -> Result<(), StateFileError> {
        if changed.projects.len() != self.content.projects.len() {
            state_file::write(&self.file, &changed)?;
            self.content = changed;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write as _;

    fn paths(owned: &Owned) -> Vec<&str> {
        owned.paths().filter_map(Path::to_str).collect()
    }

    #[test]
    fn what_is_added_and_not_removed_is_there_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("owned-h.json");
        let mut owned = Owned::load(file.clone()).unwrap();
        owned.add(["/a", "/b", "/a", "/c"].map(Path::new)).unwrap();
        owned.remove(Path::new("/b")).unwrap();
        owned.remove(Path::new("/never")).unwrap();
        assert_eq!(paths(&owned), ["/a", "/c"]);
        assert_eq!(paths(&Owned::load(file).unwrap()), ["/a", "/c"]);
    }

    #[test]
    fn a_write_that_fails_leaves_list_and_file_as_they_were() {
        let dir = tempfile::tempdir().unwrap();
        let mut owned = Owned::load(dir.path().join("gone/owned-h.json")).unwrap();
        assert!(owned.add([Path::new("/a")]).is_err());
        assert_eq!(owned.paths().count(), 0);
    }

    #[test]
    fn unknown_members_survive_and_a_damaged_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("owned-h.json");
        let put = |text: &str| File::create(&file).unwrap().write_all(text.as_bytes()).unwrap();
        put(r#"{"version":1,"note":[1],"projects":[{"path":"/a","since":"x"}]}"#);
        Owned::load(file.clone()).unwrap().add([Path::new("/b")]).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["note"], serde_json::json!([1]));
        assert_eq!(value["projects"], serde_json::json!([{"path": "/a", "since": "x"}, {"path": "/b"}]));
        put("{\"version\":1");
        let error = Owned::load(file.clone()).unwrap_err().to_string();
        assert!(error.contains("is damaged") && error.contains("handoff projects add"), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"version\":1");
    }
}
