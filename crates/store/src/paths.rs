//! Where a path beneath the project really leads: a walk part by part, as the kernel would (D7, D47, D58).
//!
//! Answers are true for the moment of asking only. To *open* what was resolved use
//! [`ProjectDir::open_contained`]; never open a validated text again.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use queue::{Kind, ProjectPaths, Resolution};
use rustix::fs::FileType;

use crate::folder::Folder;
use crate::project::{ProjectDir, ProjectRoot};
use crate::stamp::{Identity, file_type};
use crate::sys::Sys;

/// The kernel's own limit on links followed in one walk.
const LINKS: usize = 40;

impl ProjectPaths for ProjectDir {
    fn root(&self) -> &str {
        self.path_text()
    }

    fn resolve(&self, path: &str) -> Resolution {
        resolve(&self.root, path)
    }
}

impl ProjectPaths for ProjectRoot {
    fn root(&self) -> &str {
        &self.shown
    }

    fn resolve(&self, path: &str) -> Resolution {
        resolve(&self.root, path)
    }
}

fn resolve(root: &Folder, path: &str) -> Resolution {
    let mut walk = Walk::new(root);
    walk.enter(path.as_bytes());
    walk.finish()
}

struct Walk<'p> {
    folder: &'p Folder,
    /// The parts of the resolved root.
    root: Vec<OsString>,
    /// The parts from `/` to where the walk stands, each with what it is. No links, no dot segments.
    at: Vec<(OsString, Kind)>,
    /// Parts still to walk, the next one last.
    ahead: Vec<OsString>,
    links: usize,
    /// Whether a part on the way did not exist: then nothing is at the end, however it goes on.
    missed: bool,
}

impl<'p> Walk<'p> {
    fn new(folder: &'p Folder) -> Self {
        let root: Vec<OsString> = parts(folder.path.as_os_str().as_bytes()).collect();
        let at = root.iter().map(|part| (part.clone(), Kind::Directory)).collect();
        Self { folder, root, at, ahead: Vec::new(), links: 0, missed: false }
    }

    /// Puts a path, or a link's target, before what is still ahead.
    fn enter(&mut self, path: &[u8]) {
        if path.starts_with(b"/") {
            self.at.clear();
        }
        let start = self.ahead.len();
        self.ahead.extend(parts(path));
        self.ahead[start..].reverse();
    }

    fn finish(mut self) -> Resolution {
        while let Some(part) = self.ahead.pop() {
            match part.as_bytes() {
                b"." => self.must_be_folder(),
                b".." => {
                    self.must_be_folder();
                    self.at.pop();
                }
                _ => {
                    self.step(part);
                    if self.links > LINKS {
                        return Resolution::Loop;
                    }
                }
            }
        }
        self.answer()
    }

    fn kind(&self) -> Kind {
        self.at.last().map_or(Kind::Directory, |(_, kind)| *kind)
    }

    fn must_be_folder(&mut self) {
        self.missed |= self.kind() != Kind::Directory;
    }

    fn step(&mut self, part: OsString) {
        if self.kind() != Kind::Directory {
            self.missed = true;
            self.at.push((part, Kind::Missing));
            return;
        }
        let (beneath_root, path) = self.address(&part);
        let found = if beneath_root {
            self.folder.sys.stat_at(self.folder.fd(), &path)
        } else {
            self.folder.sys.stat_at(rustix::fs::CWD, &path)
        };
        match found.map(|stat| (file_type(&stat), Identity::of(&stat))) {
            Ok((FileType::Symlink, _)) => self.follow(part, beneath_root, &path),
            // The root by another spelling: a bind mount, another letter case.
            Ok((FileType::Directory, identity)) if identity == self.folder.identity && !beneath_root => {
                self.at = self.root.iter().map(|part| (part.clone(), Kind::Directory)).collect();
            }
            Ok((FileType::Directory, _)) => self.at.push((part, Kind::Directory)),
            Ok(_) => self.at.push((part, Kind::Other)),
            Err(_) => {
                self.missed = true;
                self.at.push((part, Kind::Missing));
            }
        }
    }

    fn follow(&mut self, part: OsString, beneath_root: bool, path: &Path) {
        self.links += 1;
        let dir = if beneath_root { self.folder.fd() } else { rustix::fs::CWD };
        if let Ok(target) = Sys::read_link(dir, path) {
            self.enter(target.as_bytes());
        } else {
            self.missed = true;
            self.at.push((part, Kind::Missing));
        }
    }

    /// How to reach `part` of where the walk stands: through the root's descriptor if it is beneath the root.
    fn address(&self, part: &OsStr) -> (bool, PathBuf) {
        let inside = self.parts_inside();
        let beneath_root = inside.is_some();
        let mut path = if beneath_root { PathBuf::new() } else { PathBuf::from("/") };
        let walked = self.at[inside.unwrap_or(0)..].iter().map(|(part, _)| part.as_os_str());
        path.extend(walked.chain([part]));
        (beneath_root, path)
    }

    /// The number of parts of the root, if the walk stands in it or beneath it.
    fn parts_inside(&self) -> Option<usize> {
        let inside =
            self.at.len() >= self.root.len() && self.root.iter().zip(&self.at).all(|(root, (at, _))| root == at);
        inside.then_some(self.root.len())
    }

    /// A resolved path that is not UTF-8 has no spelling in JSON, so nothing in a queue can mean it: outside.
    fn answer(self) -> Resolution {
        let kind = if self.missed { Kind::Missing } else { self.kind() };
        let outside = Resolution::Outside { exists: kind != Kind::Missing };
        let Some(start) = self.parts_inside() else { return outside };
        let parts: Option<Vec<&str>> = self.at[start..].iter().map(|(part, _)| part.to_str()).collect();
        match parts {
            None => outside,
            Some(parts) if parts.is_empty() => Resolution::Inside { relative: ".".to_owned(), kind },
            Some(parts) => Resolution::Inside { relative: parts.join("/"), kind },
        }
    }
}

fn parts(path: &[u8]) -> impl Iterator<Item = OsString> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).map(|part| OsString::from_vec(part.to_vec()))
}
