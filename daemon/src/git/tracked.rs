//! Whether the index of the repository around a project names `tasks.json` (D65): then a pull could start work here.
//! The index's own form is `index`'s business.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufReader, Seek as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::error::CannotTell;
use super::index::{self, Fault, Hash, Link};
use super::read::{self, Links, Stamp};
use super::repository;

/// The largest index that is read; one with a million files has about 100 MB.
const MAX_INDEX: u64 = 256 * 1024 * 1024;
/// How many other spellings of the name are compared with the file on disk.
const MAX_ALIKE: usize = 256;

/// Whether git tracks a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tracking {
    /// Its name is in the index.
    Tracked,
    /// There is no repository, or its index does not have the name.
    NotTracked,
    /// The index could not be read. It counts as not tracked, with a note: a strange repository must not stop a project.
    Unknown(CannotTell),
}

/// What an index said the last time; the caller keeps it, so that the index is read again only when it has changed.
#[derive(Debug, Clone, Default)]
pub struct TrackedCache {
    known: Option<Box<Known>>,
}

/// The answer of one state of one index about one name.
#[derive(Debug, Clone)]
struct Known {
    index: PathBuf,
    stamp: Stamp,
    name: Vec<u8>,
    answer: Result<Names, CannotTell>,
}

/// What of an index matters.
#[derive(Debug, Clone, Default)]
struct Names {
    /// The name itself is there.
    exact: bool,
    /// Names that a file system that folds letters could take for it.
    alike: Vec<Vec<u8>>,
}

impl TrackedCache {
    /// Whether git tracks `name` (project-relative, `/`-separated) in the repository that holds `project_root`: the one
    /// with the nearest `.git` upward. Blocking; a few stats when nothing changed.
    pub fn look_up(&mut self, project_root: &Path, name: &str) -> Tracking {
        self.try_look_up(project_root, name).unwrap_or_else(Tracking::Unknown)
    }

    fn try_look_up(&mut self, project_root: &Path, name: &str) -> Result<Tracking, CannotTell> {
        let root = fs::canonicalize(project_root).map_err(|error| CannotTell::io("resolve", project_root, &error))?;
        let Some(repository) = repository::find(&root)? else { return Ok(Tracking::NotTracked) };
        let file = root.join(name);
        let Ok(inside) = file.strip_prefix(&repository.work_tree) else { return Ok(Tracking::NotTracked) };
        let inside = inside.as_os_str().as_bytes();

        let index = repository.git_dir.join("index");
        // No index: nothing was ever added.
        let Some((opened, stamp)) = read::open(&index, MAX_INDEX, Links::Follow)? else {
            return Ok(Tracking::NotTracked);
        };
        let fresh = |known: &Known| known.index == index && known.stamp == stamp && known.name == inside;
        if !self.known.as_deref().is_some_and(fresh) {
            let answer = names(opened, stamp, &index, &repository.git_dir, inside);
            self.known = Some(Box::new(Known { index, stamp, name: inside.to_owned(), answer }));
        }
        let answer = self.known.as_ref().map_or_else(|| Ok(Names::default()), |known| known.answer.clone())?;
        let tracked = answer.exact || answer.alike.iter().any(|other| same_file(&repository.work_tree, other, &file));
        Ok(if tracked { Tracking::Tracked } else { Tracking::NotTracked })
    }
}

/// Reads an index and, when it is split, its base beside it.
fn names(file: File, stamp: Stamp, path: &Path, git_dir: &Path, name: &[u8]) -> Result<Names, CannotTell> {
    let own = scan(file, stamp, path, name)?;
    let mut names = Names { exact: !own.exact.is_empty(), alike: own.alike };
    let Some(link) = own.link else { return Ok(names) };
    let base_path = git_dir.join(format!("sharedindex.{}", link.base));
    let Some((base, stamp)) = read::open(&base_path, MAX_INDEX, Links::Follow)? else {
        return Err(CannotTell::format(path, format!("its base {} is not there", base_path.display())));
    };
    let base = scan(base, stamp, &base_path, name)?;
    names.exact |= base.exact.iter().any(|position| !link.deleted.contains(*position));
    names.alike.extend(base.alike);
    Ok(names)
}

/// One index file, as far as it concerns one name.
struct Scanned {
    /// The positions of the name; more than one while a merge is unresolved.
    exact: Vec<u64>,
    alike: Vec<Vec<u8>>,
    link: Option<Link>,
}

/// Tries both lengths of hashes; only the right one adds up.
fn scan(file: File, stamp: Stamp, path: &Path, name: &[u8]) -> Result<Scanned, CannotTell> {
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut first_fault = None;
    for hash in Hash::ALL {
        reader.rewind().map_err(|error| CannotTell::io("read", path, &error))?;
        let mut scanned = Scanned { exact: Vec::new(), alike: Vec::new(), link: None };
        let mut visit = |position, entry: &[u8]| {
            if entry == name {
                scanned.exact.push(position);
            } else if scanned.alike.len() < MAX_ALIKE && could_be(entry, name) {
                scanned.alike.push(entry.to_owned());
            }
        };
        match index::scan(&mut reader, stamp.size(), hash, &mut visit) {
            Ok(link) => return Ok(Scanned { link, ..scanned }),
            Err(Fault::Read(error)) => return Err(CannotTell::io("read", path, &error)),
            Err(Fault::Format(fault)) => first_fault = first_fault.or(Some(fault)),
        }
    }
    Err(CannotTell::format(path, first_fault.unwrap_or("it is no index")))
}

/// Whether a file system that ignores letter case, or Unicode forms, could open `entry` under `name`.
fn could_be(entry: &[u8], name: &[u8]) -> bool {
    let last = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_ascii_lowercase();
    entry.eq_ignore_ascii_case(name) || !name.is_ascii() && last(entry) == last(name)
}

fn same_file(work_tree: &Path, entry: &[u8], file: &Path) -> bool {
    let identity = |path: &Path| fs::symlink_metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let other = identity(&work_tree.join(OsStr::from_bytes(entry)));
    other.is_some() && other == identity(file)
}
