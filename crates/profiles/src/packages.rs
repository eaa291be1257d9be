//! Installed packages that bring agents: where packages are and what their manifests name. Never look into the folders
//! of agents here.

use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::disk::Disk;
use crate::note::{Note, Reason};
use crate::places::expand_home;
use crate::read::{self, MAX_SETTINGS};
use crate::walk::Bounds;

/// The most packages whose manifest is read.
const MAX_PACKAGES: usize = 1024;

/// One source of packages: a `settings.json` beside an `npm` and a `git` folder.
pub(crate) struct Origin<'a> {
    /// `<agentDir>`, or the project's `.pi`.
    pub(crate) base: &'a Path,
    /// The member `packages` of the settings.
    pub(crate) packages: &'a [String],
    /// Where the packages of this origin may lead.
    pub(crate) bounds: Bounds,
}

/// A package, and where its folders may lead.
#[derive(Clone)]
pub(crate) struct Package {
    pub(crate) root: PathBuf,
    pub(crate) bounds: Bounds,
}

/// The packages of an origin: everything npm installed, then what the settings name.
pub(crate) fn of_origin(disk: &Disk, origin: &Origin<'_>, home: &Path) -> Vec<Package> {
    let installed = installed(disk, &origin.base.join("npm/node_modules")).into_iter();
    let installed = installed.map(|root| Package { root, bounds: origin.bounds.clone() });
    let named =
        origin.packages.iter().take(MAX_PACKAGES).filter_map(|source| match locate(source, origin.base, home)? {
            Location::Installed(root) => Some(Package { root, bounds: origin.bounds.clone() }),
            Location::Local(root) => Some(Package { bounds: Bounds::new([root.as_path(), home]), root }),
        });
    installed.chain(named).collect()
}

/// The folders of agents that the packages' manifests name, and not many more than `limit`; a package counts once.
pub(crate) fn folders(
    disk: &Disk,
    packages: Vec<Package>,
    limit: usize,
    notes: &mut Vec<Note>,
) -> Vec<(PathBuf, Bounds)> {
    let mut seen = BTreeSet::new();
    let mut folders = Vec::new();
    for Package { root, bounds } in packages {
        if seen.len() >= MAX_PACKAGES {
            notes.push(Note::new(root, Reason::Cut { what: "packages", limit: MAX_PACKAGES }));
            break;
        }
        if !seen.insert(root.clone()) {
            continue;
        }
        for folder in manifest(disk, &root, &bounds, notes) {
            if folders.len() <= limit && !folders.iter().any(|(known, _)| *known == folder) {
                folders.push((folder, bounds.clone()));
            }
        }
    }
    folders
}

/// What the manifest of a package names; one that is missing or is no JSON names nothing.
fn manifest(disk: &Disk, root: &Path, bounds: &Bounds, notes: &mut Vec<Note>) -> Vec<PathBuf> {
    let path = root.join("package.json");
    if !disk.exists(&path) {
        return Vec::new();
    }
    let text = bounds.admit(disk, &path).and_then(|real| read::read(disk, &real, MAX_SETTINGS));
    let value = match text {
        Ok(text) => serde_json::from_str::<Value>(&text.text),
        Err(note) => {
            notes.push(note);
            return Vec::new();
        }
    };
    let Ok(Value::Object(manifest)) = value else { return Vec::new() };
    let member = |object: &Map<String, Value>, key: &str| object.get(key).and_then(Value::as_object).cloned();
    let declared = [member(&manifest, "pi-subagents"), member(&manifest, "pi").and_then(|pi| member(&pi, "subagents"))];
    let lists = declared.iter().flatten().filter_map(|object| object.get("agents")?.as_array());
    let entries = lists.flatten().filter_map(Value::as_str).filter(|entry| !entry.trim().is_empty());
    entries.map(|entry| root.join(entry)).collect()
}

/// What lies in a `node_modules` folder, one level below `@scope` folders, by name.
fn installed(disk: &Disk, modules: &Path) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for dir in subfolders(disk, modules) {
        let scoped = dir.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"@"));
        if scoped {
            roots.extend(subfolders(disk, &dir));
        } else {
            roots.push(dir);
        }
        if roots.len() > MAX_PACKAGES {
            break;
        }
    }
    roots
}

fn subfolders(disk: &Disk, dir: &Path) -> Vec<PathBuf> {
    let entries = disk.read_dir(dir).into_iter().flatten().flatten().take(MAX_PACKAGES);
    let is_folder = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_symlink());
    let hidden = |entry: &DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
    let mut dirs: Vec<_> = entries.filter(|e| is_folder(e) && !hidden(e)).map(|entry| entry.path()).collect();
    dirs.sort();
    dirs
}

#[derive(Debug, PartialEq, Eq)]
enum Location {
    /// Where Pi's installer puts it.
    Installed(PathBuf),
    /// A path that the settings name.
    Local(PathBuf),
}

/// Where a text of `packages` leads; `None` for one that pi-subagents does not understand.
fn locate(source: &str, base: &Path, home: &Path) -> Option<Location> {
    let source = source.trim();
    if let Some(spec) = source.strip_prefix("npm:") {
        let name = npm_name(spec.trim())?;
        return Some(Location::Installed(base.join("npm/node_modules").join(name)));
    }
    if let Some(spec) = source.strip_prefix("git:") {
        return git_path(spec.trim()).map(|path| Location::Installed(base.join("git").join(path)));
    }
    let local = source.strip_prefix("file:").unwrap_or(source);
    let first = local.split('/').next().unwrap_or_default();
    if first == "~" {
        return Some(Location::Local(expand_home(Path::new(local), home)));
    }
    if local.starts_with('/') || matches!(first, "." | "..") {
        return Some(Location::Local(base.join(local)));
    }
    let is_url = ["http://", "https://"].iter().any(|scheme| source.to_ascii_lowercase().starts_with(scheme));
    is_url.then(|| git_path(source)).flatten().map(|path| Location::Installed(base.join("git").join(path)))
}

/// `@scope/name` or `name`, without a version.
fn npm_name(spec: &str) -> Option<&str> {
    let version = spec.char_indices().skip(1).find(|(_, c)| *c == '@');
    let name = version.map_or(spec, |(at, _)| &spec[..at]);
    is_plain(name).then_some(name)
}

/// `<host>/<path>` of a repository, from `git@host:path`, a URL, or `host/path`.
fn git_path(spec: &str) -> Option<String> {
    if let Some(rest) = spec.strip_prefix("git@") {
        let (host, path) = rest.split_once(':')?;
        return repository(host, path);
    }
    let Some((_, rest)) = spec.split_once("://") else {
        let (host, path) = spec.split_once('/')?;
        return repository(host, path);
    };
    let (authority, path) = rest.split_once('/')?;
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = host.split(':').next().unwrap_or(host).to_ascii_lowercase();
    repository(&host, path.split('?').next().unwrap_or(path))
}

fn repository(host: &str, path: &str) -> Option<String> {
    let path = path.split(['@', '#']).next().unwrap_or(path);
    let path = path.strip_suffix(".git").unwrap_or(path).trim_start_matches('/');
    (is_plain(host) && is_plain(path) && path.contains('/')).then(|| format!("{host}/{path}"))
}

/// A relative path without empty, `.` or `..` parts.
fn is_plain(path: &str) -> bool {
    path.split(['/', '\\']).all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: Option<&str>) {
        let path = match locate(source, Path::new("/base"), Path::new("/home/u")) {
            Some(Location::Installed(path) | Location::Local(path)) => Some(path),
            None => None,
        };
        assert_eq!(path.as_deref(), expected.map(Path::new), "{source}");
    }

    #[test]
    fn packages_are_located_as_the_installer_places_them() {
        check("npm:pi-kit", Some("/base/npm/node_modules/pi-kit"));
        check("npm:pi-kit@1.2.3", Some("/base/npm/node_modules/pi-kit"));
        check(" npm:@acme/kit@^2 ", Some("/base/npm/node_modules/@acme/kit"));
        check("npm:@acme/kit", Some("/base/npm/node_modules/@acme/kit"));
        check("npm:", None);
        check("npm:../kit", None);
        check("git:git@github.com:acme/kit.git", Some("/base/git/github.com/acme/kit"));
        check("git:github.com/acme/kit@v1", Some("/base/git/github.com/acme/kit"));
        check("https://github.com/acme/kit.git#main", Some("/base/git/github.com/acme/kit"));
        check("git:https://user@github.com:8443/acme/kit", Some("/base/git/github.com/acme/kit"));
        check("git:github.com/kit", None);
        check("git:github.com/../kit", None);
    }

    #[test]
    fn local_packages_are_paths() {
        check("./kit", Some("/base/./kit"));
        check("../kit", Some("/base/../kit"));
        check("file:/opt/kit", Some("/opt/kit"));
        check("~/kit", Some("/home/u/kit"));
        check("~", Some("/home/u"));
        check("kit", None);
        check("", None);
    }
}
