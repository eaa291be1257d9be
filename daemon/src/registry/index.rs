//! Where in a list a project is, by its path and by its folder: one look instead of a walk, for lists of a thousand.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;

use crate::folder_id::FolderId;

/// Positions in a list. Paths are compared part by part: `/a//b/` is `/a/b`.
#[derive(Debug, Default)]
pub(crate) struct Index<P> {
    by_path: HashMap<P, usize>,
    by_folder: HashMap<FolderId, usize>,
}

impl<P: Borrow<Path> + Eq + Hash> Index<P> {
    pub(crate) fn of(list: impl IntoIterator<Item = (P, Option<FolderId>)>) -> Self {
        let mut index = Self { by_path: HashMap::new(), by_folder: HashMap::new() };
        for (at, (path, folder)) in list.into_iter().enumerate() {
            index.add(path, folder, at);
        }
        index
    }

    /// Notes what is at a position; what was noted before comes first.
    pub(crate) fn add(&mut self, path: P, folder: Option<FolderId>, at: usize) {
        self.by_path.entry(path).or_insert(at);
        if let Some(folder) = folder {
            self.by_folder.entry(folder).or_insert(at);
        }
    }

    /// The first position with this path or this folder (D72).
    pub(crate) fn find(&self, path: &Path, folder: Option<FolderId>) -> Option<usize> {
        let by_path = self.by_path.get(path);
        let by_folder = folder.and_then(|folder| self.by_folder.get(&folder));
        by_path.into_iter().chain(by_folder).min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_with_the_path_or_the_folder_is_found() {
        let folder = |inode| Some(FolderId { device: 1, inode });
        let index = Index::of([
            (Path::new("/w/a"), folder(1)),
            (Path::new("/w/b"), None),
            (Path::new("/w/c"), folder(1)),
            (Path::new("/w/b"), folder(4)),
        ]);
        for (path, id, expected) in [
            ("/w//a/", None, Some(0)),
            ("/w/c", None, Some(2)),
            ("/w/c", folder(1), Some(0)),
            ("/w/b", folder(9), Some(1)),
            ("/elsewhere", folder(4), Some(3)),
            ("/elsewhere", folder(9), None),
            ("/elsewhere", None, None),
        ] {
            assert_eq!(index.find(Path::new(path), id), expected, "{path} {id:?}");
        }
    }
}
