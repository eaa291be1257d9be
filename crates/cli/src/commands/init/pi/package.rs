//! The files of the Pi extension. A package of the system brings them in a folder beside the program and renews them with it;
//! a program without such a folder brings them inside, and writes them to the user's data folder.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use handoffd::env::Env;
use handoffd::files::{FileError, Links, read_bounded, replace_durably};
use serde_json::Value;

use super::Made;
use crate::failure::Failure;

/// The package's name; what bears it is the extension, wherever it lies.
const NAME: &str = "pi-handoffd";
/// Where it lies below a prefix such as `/usr`.
const SHARED: &str = "share/handoffd/clients/pi";
/// The most of a file of it that is read.
const MAX_FILE: u64 = 1024 * 1024;

/// The files that this program was built with.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pi_extension.rs"));

/// The folder that came with this program, if there is one: `/usr/share/…` for `/usr/bin/handoff`.
pub(super) fn shared() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let folder = program.parent()?.parent()?.join(SHARED);
    is_ours(&folder).then_some(folder)
}

/// Where a copy for this user goes.
pub(super) fn copy_place(env: &Env) -> Result<PathBuf, Failure> {
    let data = env.xdg_data_home.clone().or_else(|| Some(env.home.as_ref()?.join(".local/share")));
    let data = data.ok_or_else(|| Failure::usage("there is no home to put the Pi extension into: HOME is not set"))?;
    Ok(data.join("handoffd/clients/pi"))
}

/// Writes the copy, or what of it is not as it should be. What is behind a link is somebody's own, such as a checkout that
/// is worked on: it is left alone.
pub(super) fn copy(folder: &Path) -> Result<Made, FileError> {
    if let Some(link) = folders(folder).into_iter().find(|path| is_link(path)) {
        let why = io::Error::other("it is a link; nothing is written through it, remove it to have a copy made");
        return Err(FileError::io("write the Pi extension to", &link, why));
    }
    let mut made = Made::Kept;
    for (name, text) in FILES {
        let path = folder.join(name);
        if read_bounded(&path, MAX_FILE, Links::Refuse).ok().flatten().is_some_and(|there| there == text.as_bytes()) {
            continue;
        }
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|error| FileError::io("make", parent, error))?;
        replace_durably(&path, text.as_bytes())?;
        made = Made::New;
    }
    // What an older version had and this one has not would be loaded, too.
    let is_known = |path: &Path| FILES.iter().any(|(name, _)| folder.join(name) == path);
    for path in sources(&folder.join("src")).into_iter().filter(|path| !is_known(path)) {
        std::fs::remove_file(&path).map_err(|error| FileError::io("remove", &path, error))?;
        made = Made::New;
    }
    Ok(made)
}

/// The folder, and those below it that files of ours lie in.
fn folders(folder: &Path) -> BTreeSet<PathBuf> {
    let above = |name: &str| -> Vec<PathBuf> {
        let parts = Path::new(name).ancestors().skip(1).filter(|part| !part.as_os_str().is_empty());
        parts.map(|part| folder.join(part)).collect()
    };
    std::iter::once(folder.to_owned()).chain(FILES.iter().flat_map(|(name, _)| above(name))).collect()
}

/// Whether the path itself is a link.
pub(super) fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
}

/// The files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let below = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => sources(&entry.path()),
        _ => vec![entry.path()],
    };
    entries.flat_map(below).collect()
}

/// The folder that an entry of Pi's settings means, if it is the extension.
pub(super) fn of_source(source: &str, agent_dir: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let source = source.trim();
    let folder = match source.strip_prefix("npm:") {
        Some(spec) => {
            let name = spec.trim().split('@').next().unwrap_or_default();
            return (name == NAME).then(|| agent_dir.join("npm/node_modules").join(NAME));
        }
        None => source.strip_prefix("file:").unwrap_or(source),
    };
    let folder = match (folder.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => agent_dir.join(folder),
    };
    is_ours(&folder).then_some(folder)
}

fn is_ours(folder: &Path) -> bool {
    manifest(folder).is_some_and(|manifest| manifest["name"] == NAME)
}

/// The manifest of an npm package.
pub(super) fn manifest(folder: &Path) -> Option<Value> {
    let bytes = read_bounded(&folder.join("package.json"), MAX_FILE, Links::Follow).ok()??;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn the_program_brings_the_whole_extension() {
        let manifest = FILES.iter().find(|(name, _)| *name == "package.json").unwrap().1;
        let manifest: Value = serde_json::from_str(manifest).unwrap();
        assert_eq!(manifest["name"], NAME);
        for entry in manifest["pi"]["extensions"].as_array().unwrap() {
            let entry = entry.as_str().unwrap().trim_start_matches("./");
            assert!(FILES.iter().any(|(name, _)| *name == entry), "{entry}");
        }
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"), "the extension has the version of the program");
    }

    #[test]
    fn a_copy_is_made_kept_and_renewed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/pi");
        assert!(matches!(copy(&folder), Ok(Made::New)));
        assert!(matches!(copy(&folder), Ok(Made::Kept)));
        let (old, changed) = (folder.join("src/old.ts"), folder.join("package.json"));
        for path in [&old, &changed] {
            std::fs::File::create(path).unwrap().write_all(b"{}").unwrap();
        }
        assert!(matches!(copy(&folder), Ok(Made::New)) && !old.exists() && is_ours(&folder));
    }

    #[test]
    fn nothing_is_written_or_removed_behind_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (own, file) = (dir.path().join("checkout"), dir.path().join("checkout/mine.ts"));
        std::fs::create_dir(&own).unwrap();
        std::fs::File::create(&file).unwrap();
        for link in ["copy", "other/src"] {
            let link = dir.path().join(link);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&own, &link).unwrap();
            let folder = if link.ends_with("src") { dir.path().join("other") } else { link };
            let error = copy(&folder).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("it is a link"), "{error}");
            assert_eq!(own.read_dir().unwrap().count(), 1);
        }
    }

    #[test]
    fn the_extension_is_known_by_its_name_wherever_it_lies() {
        let dir = tempfile::tempdir().unwrap();
        let (home, agent) = (dir.path().join("home"), dir.path().join("home/agent"));
        std::fs::create_dir_all(&agent).unwrap();
        copy(&home.join("x")).unwrap();
        let is_found = |source: &str| of_source(source, &agent, Some(&home)).is_some();
        let absolute = home.join("x").display().to_string();
        for source in ["~/x", "../x", absolute.as_str(), "npm:pi-handoffd", "npm:pi-handoffd@0.1.0", " ../x "] {
            assert!(is_found(source), "{source}");
        }
        for source in ["~/y", "../agent", "npm:pi-handoffd2", "npm:@x/pi-handoffd", "git:github.com/x/y", ""] {
            assert!(!is_found(source), "{source}");
        }
    }
}
