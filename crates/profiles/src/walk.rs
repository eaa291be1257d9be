//! Finds the files of one place as pi-subagents does: recursive, links followed, loops cut. Never read a profile here.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use crate::disk::{Disk, is_absence};
use crate::note::{Note, Reason};
use crate::root::is_project_root;

/// The most directory entries of one place that are looked at.
pub(crate) const MAX_ENTRIES: usize = 4096;

/// The most directory entries of all places.
const MAX_ALL_ENTRIES: usize = 16 * 1024;

/// The most levels below a place.
pub(crate) const MAX_DEPTH: usize = 16;

/// Names of folders that are never searched.
const PRUNED: [&str; 4] = [".git", "node_modules", ".pi", "sync-backups"];

/// The folders that links may lead into. Clones share them.
///
/// Their real paths are looked up on first need: most places do not exist, and most that exist hold no link.
#[derive(Debug, Clone)]
pub(crate) struct Bounds(Rc<Folders>);

#[derive(Debug)]
struct Folders {
    named: Vec<PathBuf>,
    real: OnceCell<Vec<PathBuf>>,
}

impl Bounds {
    /// A place and the home; one that does not exist admits nothing.
    pub(crate) fn new<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Self {
        let named = folders.into_iter().map(Path::to_path_buf).collect();
        Self(Rc::new(Folders { named, real: OnceCell::new() }))
    }

    /// The real path of something that exists, if it stays inside.
    pub(crate) fn admit(&self, disk: &Disk, path: &Path) -> Result<PathBuf, Note> {
        let real = disk.canonicalize(path).map_err(|error| Note::unreadable(path, "follow it", &error))?;
        let find = || self.0.named.iter().filter_map(|folder| disk.canonicalize(folder).ok()).collect();
        let folders: &Vec<PathBuf> = self.0.real.get_or_init(find);
        if folders.iter().any(|folder| real.starts_with(folder)) {
            Ok(real)
        } else {
            Err(Note::new(path, Reason::OutsidePlace))
        }
    }

    /// As [`Bounds::admit`] for the folder of a place, which rarely is behind a link.
    fn admit_folder(&self, disk: &Disk, folder: &Path) -> Result<(), Note> {
        match self.0.named.iter().any(|named| goes_straight(disk, named, folder)) {
            true => Ok(()),
            false => self.admit(disk, folder).map(drop),
        }
    }
}

/// Whether the path goes on from the folder without a link or a dot segment: then it leads nowhere else.
fn goes_straight(disk: &Disk, from: &Path, path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix(from) else { return false };
    let mut at = from.to_path_buf();
    rest.components().all(|part| {
        at.push(part);
        matches!(part, Component::Normal(_)) && disk.lstat(&at).is_ok_and(|stamp| stamp.kind.is_dir())
    })
}

/// A file that may be a profile.
#[derive(Debug)]
pub(crate) struct Found {
    /// As it is named in the place.
    pub(crate) path: PathBuf,
    /// What to open: the same file without a link at the end.
    pub(crate) real: PathBuf,
}

/// The Markdown files below `folder`, sorted by path bytes (D27). A folder that does not exist has none.
///
/// `looked_at` counts the entries over all places.
pub(crate) fn files(
    disk: &Disk,
    folder: &Path,
    bounds: &Bounds,
    looked_at: &mut usize,
    notes: &mut Vec<Note>,
) -> Vec<Found> {
    match disk.stat(folder) {
        Err(error) if is_absence(&error) => {}
        Err(error) => notes.push(Note::unreadable(folder, "look at it", &error)),
        Ok(stamp) if !stamp.kind.is_dir() => notes.push(Note::new(folder, Reason::NotAFolder)),
        Ok(_) => {
            let end = MAX_ALL_ENTRIES.min(*looked_at + MAX_ENTRIES);
            let mut walk =
                Walk { disk, folder, bounds, notes, seen: BTreeSet::new(), looked_at, end, found: Vec::new() };
            match walk.bounds.admit_folder(disk, folder) {
                Ok(()) => walk.visit(folder, 0),
                Err(note) => walk.notes.push(note),
            }
            let mut found = walk.found;
            found.sort_by(|a, b| a.path.as_os_str().as_encoded_bytes().cmp(b.path.as_os_str().as_encoded_bytes()));
            return found;
        }
    }
    Vec::new()
}

struct Walk<'a> {
    disk: &'a Disk,
    folder: &'a Path,
    bounds: &'a Bounds,
    notes: &'a mut Vec<Note>,
    /// Device and inode of the folders that were searched.
    seen: BTreeSet<(u64, u64)>,
    looked_at: &'a mut usize,
    /// Where `looked_at` ends.
    end: usize,
    found: Vec<Found>,
}

impl Walk<'_> {
    fn visit(&mut self, dir: &Path, depth: usize) {
        match self.disk.stat(dir) {
            Ok(stamp) if self.seen.insert(stamp.identity) => {}
            Ok(_) => return,
            Err(error) => return self.notes.push(Note::unreadable(dir, "look at it", &error)),
        }
        if depth > MAX_DEPTH {
            return self.notes.push(Note::new(dir, Reason::Cut { what: "levels", limit: MAX_DEPTH }));
        }
        for entry in self.list(dir) {
            self.enter(&entry.path(), &entry, depth);
        }
    }

    /// The entries of a folder by name, as far as the budget of the place reaches.
    fn list(&mut self, dir: &Path) -> Vec<fs::DirEntry> {
        let mut entries = Vec::new();
        let read = match self.disk.read_dir(dir) {
            Ok(read) => read,
            Err(error) => {
                self.notes.push(Note::unreadable(dir, "list it", &error));
                return entries;
            }
        };
        for entry in read {
            if *self.looked_at >= self.end {
                let limit = if self.end < MAX_ALL_ENTRIES { MAX_ENTRIES } else { MAX_ALL_ENTRIES };
                self.notes.push(Note::new(dir, Reason::Cut { what: "entries", limit }));
                break;
            }
            *self.looked_at += 1;
            match entry {
                Ok(entry) => entries.push(entry),
                Err(error) => {
                    self.disk.is_vague();
                    self.notes.push(Note::unreadable(dir, "list it", &error));
                }
            }
        }
        entries.sort_by_key(fs::DirEntry::file_name);
        entries
    }

    fn enter(&mut self, path: &Path, entry: &fs::DirEntry, depth: usize) {
        let Ok(kind) = entry.file_type() else { return };
        let name = entry.file_name();
        let is_profile_name = is_profile_name(&name);
        let is_dir = kind.is_dir() || (kind.is_symlink() && self.disk.is_dir(path));
        if !is_dir && !(is_profile_name && (kind.is_file() || kind.is_symlink())) {
            return;
        }
        let Some(name) = name.to_str() else {
            return self.notes.push(Note::new(path, Reason::NotUtf8));
        };
        if is_dir && self.is_pruned(path, name) || !is_dir && self.is_skill(path) {
            return;
        }
        let real = match kind.is_symlink() {
            true => self.bounds.admit(self.disk, path),
            false => Ok(path.to_path_buf()),
        };
        match real {
            Ok(_) if is_dir => self.visit(path, depth + 1),
            Ok(real) => self.found.push(Found { path: path.to_path_buf(), real }),
            Err(note) => self.notes.push(note),
        }
    }

    fn is_pruned(&self, dir: &Path, name: &str) -> bool {
        PRUNED.contains(&name) || self.disk.exists(&dir.join(".git")) || is_project_root(self.disk, dir)
    }

    /// Below `.agents/skills`, in any letter case.
    fn is_skill(&self, path: &Path) -> bool {
        let base = self.folder.file_name().into_iter().filter(|name| name.eq_ignore_ascii_case(".agents"));
        let below = path.strip_prefix(self.folder).unwrap_or(path).iter();
        let parts: Vec<_> = base.chain(below).collect();
        parts.windows(2).any(|pair| pair[0].eq_ignore_ascii_case(".agents") && pair[1].eq_ignore_ascii_case("skills"))
    }
}

fn is_profile_name(name: &std::ffi::OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.ends_with(b".md") && !bytes.ends_with(b".chain.md")
}
