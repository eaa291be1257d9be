//! The places in the order of precedence. Never decide here between two profiles of one name.

use std::path::{Path, PathBuf};

use crate::disk::Disk;
use crate::note::{Note, Reason};
use crate::overlay::Overlay;
use crate::packages::{self, Origin, Package};
use crate::places::{Places, expand_home};
use crate::walk::Bounds;

/// The most places that are searched.
const MAX_PLACES: usize = 256;

/// Who brought a profile. Settings treat builtins differently; within a package's folder the first of a name wins,
/// elsewhere the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Project,
    User,
    Package,
    Builtin,
}

/// A folder that is searched for profiles.
pub(crate) struct Place {
    pub(crate) source: Source,
    pub(crate) folder: PathBuf,
    /// Where its links may lead.
    pub(crate) bounds: Bounds,
}

/// All places, highest precedence first; `project_root` is what [`crate::root::project_root`] found.
pub(crate) fn places(
    disk: &Disk,
    places: &Places,
    project_root: Option<&Path>,
    overlay: &Overlay,
    notes: &mut Vec<Note>,
) -> Vec<Place> {
    let home = places.home.as_path();
    let mut all = Vec::new();
    let mut add = |source, folder: PathBuf, bound: &Path| {
        all.push(Place { source, folder, bounds: Bounds::new([bound, home]) });
    };
    if let Some(root) = project_root {
        add(Source::Project, root.join(".pi/agents"), root);
        add(Source::Project, root.join(".agents"), root);
    }
    for dir in scan_dirs(disk, &overlay.project.scan_dirs, places) {
        add(Source::Project, dir.clone(), &dir);
    }
    add(Source::User, home.join(".agents"), home);
    add(Source::User, places.agent_dir.join("agents"), &places.agent_dir);
    for dir in scan_dirs(disk, &overlay.user.scan_dirs, places) {
        add(Source::User, dir.clone(), &dir);
    }
    for dir in places.extra_dirs.iter().rev() {
        add(Source::User, dir.clone(), dir);
    }
    let packaged = packages::folders(disk, packages(disk, places, project_root, overlay), MAX_PLACES, notes);
    all.extend(packaged.into_iter().map(|(folder, bounds)| Place { source: Source::Package, folder, bounds }));
    if let Some(place) = all.get(MAX_PLACES) {
        notes.push(Note::new(&place.folder, Reason::Cut { what: "places", limit: MAX_PLACES }));
        all.truncate(MAX_PLACES);
    }
    all
}

/// The packages, highest precedence first: the project itself, those of the project, those of the user.
fn packages(disk: &Disk, places: &Places, project_root: Option<&Path>, overlay: &Overlay) -> Vec<Package> {
    let home = places.home.as_path();
    let root = project_root.unwrap_or(&places.root);
    let of_project =
        Origin { base: &root.join(".pi"), packages: &overlay.project.packages, bounds: Bounds::new([root, home]) };
    let of_user = Origin {
        base: &places.agent_dir,
        packages: &overlay.user.packages,
        bounds: Bounds::new([places.agent_dir.as_path(), home]),
    };
    let mut all = vec![Package { root: root.to_path_buf(), bounds: of_project.bounds.clone() }];
    all.extend(packages::of_origin(disk, &of_project, home));
    all.extend(packages::of_origin(disk, &of_user, home));
    all
}

/// The folders that `agentScanDirs` names, highest precedence first. A part that is `*` is any folder, once.
fn scan_dirs(disk: &Disk, patterns: &[String], places: &Places) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = Vec::new();
    for pattern in patterns.iter().take(MAX_PLACES) {
        let path = expand_home(Path::new(&pattern.trim().replace('\\', "/")), &places.home);
        for dir in expand(disk, &places.root.join(path)) {
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
    }
    dirs.reverse();
    dirs
}

fn expand(disk: &Disk, path: &Path) -> Vec<PathBuf> {
    let text = path.to_string_lossy();
    match text.matches('*').count() {
        0 => return vec![path.to_path_buf()],
        1 => {}
        _ => return Vec::new(),
    }
    let Some(at) = path.iter().position(|part| part == "*") else { return Vec::new() };
    let base: PathBuf = path.iter().take(at).collect();
    let rest: PathBuf = path.iter().skip(at + 1).collect();
    let entries = disk.read_dir(&base).into_iter().flatten().flatten().take(crate::walk::MAX_ENTRIES);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut dirs: Vec<_> = folders.map(|entry| entry.path().join(&rest)).filter(|dir| disk.exists(dir)).collect();
    dirs.sort();
    dirs.truncate(MAX_PLACES);
    dirs
}
