//! Which project a person means: a path, a registered name, or the working folder.
//!
//! Only the choice is made here, over any list of projects; it changes nothing.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::list::same_path;
use crate::config::nearest;
use crate::roots::Roots;

/// What a person wrote for PROJECT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// A path, absolute.
    Path(PathBuf),
    /// A word without a slash: a name, and if no project has it, this folder.
    Name {
        /// The word.
        name: String,
        /// The word as a folder below the working folder.
        path: PathBuf,
    },
}

/// No project, or more than one, fits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// Nothing fits.
    #[error("{given} is no registered project{hint}")]
    Unknown {
        /// What was asked for.
        given: String,
        /// Empty, or a remark that helps.
        hint: String,
    },
    /// Several projects have the name.
    #[error("the name {name} fits {} projects, give the path of one: {}", paths.len(), listed(paths))]
    Ambiguous {
        /// The name.
        name: String,
        /// The projects' roots.
        paths: Vec<PathBuf>,
    },
}

/// A project as far as the choice needs it.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'p> {
    /// Its root.
    pub path: &'p Path,
    /// Its given name.
    pub name: Option<&'p str>,
}

impl Selector {
    /// Understands PROJECT as typed in the folder `working_dir`; `None` is the project whose root that folder is.
    #[must_use]
    pub fn new(typed: Option<&OsStr>, working_dir: &Path) -> Self {
        let Some(typed) = typed else { return Self::Path(working_dir.to_path_buf()) };
        let path = working_dir.join(typed);
        match typed.to_str() {
            Some(name) if !name.is_empty() && !name.contains('/') && name != "." && name != ".." => {
                Self::Name { name: name.to_owned(), path }
            }
            _ => Self::Path(path),
        }
    }
}

/// The index of the one project that the selector means.
///
/// A given name comes first, then the folders' own names, then the path; a path means the folder it leads to (D72).
///
/// # Errors
/// [`SelectError`], with the nearest name or the project around the path as a hint.
pub fn select(projects: &[Candidate<'_>], selector: &Selector) -> Result<usize, SelectError> {
    match selector {
        Selector::Path(path) => by_path(projects, path).ok_or_else(|| unknown_path(projects, path)),
        Selector::Name { name, path } => {
            let given = |project: &Candidate<'_>| project.name == Some(name.as_str());
            let own = |project: &Candidate<'_>| project.name.is_none() && folder_name(project) == Some(name.as_str());
            if let Some(found) = unique(projects, name, given).or_else(|| unique(projects, name, own)) {
                return found;
            }
            by_path(projects, path).ok_or_else(|| unknown_name(projects, name))
        }
    }
}

/// The nearest project whose root is above `path` (for `unknown_project`'s `data.nearest`, D72).
#[must_use]
pub fn enclosing<'p>(projects: &[Candidate<'p>], path: &Path) -> Option<&'p Path> {
    let resolved = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let around = projects.iter().filter(|project| resolved.starts_with(project.path) && resolved != project.path);
    around.map(|project| project.path).max_by_key(|root| root.components().count())
}

fn by_path(projects: &[Candidate<'_>], path: &Path) -> Option<usize> {
    projects.iter().position(|project| same_path(project.path, path)).or_else(|| {
        let roots = Roots::look_at(projects.iter().map(|project| project.path).chain([path]));
        let wanted = roots.id(path)?;
        projects.iter().position(|project| roots.id(project.path) == Some(wanted))
    })
}

fn unique(
    projects: &[Candidate<'_>],
    name: &str,
    fits: impl Fn(&Candidate<'_>) -> bool,
) -> Option<Result<usize, SelectError>> {
    let found: Vec<usize> = (0..projects.len()).filter(|index| fits(&projects[*index])).collect();
    match found[..] {
        [] => None,
        [one] => Some(Ok(one)),
        _ => {
            let paths = found.iter().map(|index| projects[*index].path.to_path_buf()).collect();
            Some(Err(SelectError::Ambiguous { name: name.to_owned(), paths }))
        }
    }
}

fn unknown_path(projects: &[Candidate<'_>], path: &Path) -> SelectError {
    let hint = match enclosing(projects, path) {
        Some(root) => format!("; the project around it is {} (go there, or name it)", root.display()),
        None => format!("; `handoff init {}` makes it one", path.display()),
    };
    SelectError::Unknown { given: path.display().to_string(), hint }
}

fn unknown_name(projects: &[Candidate<'_>], name: &str) -> SelectError {
    let names = projects.iter().filter_map(|project| project.name.or_else(|| folder_name(project)));
    let hint = match nearest(name, names) {
        Some(near) => format!("; did you mean {near}?"),
        None => "; see `handoff projects list`".to_owned(),
    };
    SelectError::Unknown { given: name.to_owned(), hint }
}

fn folder_name<'p>(project: &Candidate<'p>) -> Option<&'p str> {
    project.path.file_name().and_then(OsStr::to_str)
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECTS: [(&str, Option<&str>); 5] = [
        ("/w/shop", None),
        ("/w/api", Some("backend")),
        ("/x/api", None),
        ("/y/api", None),
        ("/y/shop/in", Some("shop")),
    ];

    fn candidates() -> Vec<Candidate<'static>> {
        PROJECTS.iter().map(|(path, name)| Candidate { path: Path::new(path), name: *name }).collect()
    }

    #[track_caller]
    fn check(typed: Option<&str>, working_dir: &str, expected: Result<usize, &str>) {
        let selector = Selector::new(typed.map(OsStr::new), Path::new(working_dir));
        let found = select(&candidates(), &selector).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned));
    }

    #[test]
    fn names_come_first_then_folder_names_then_paths() {
        check(Some("backend"), "/", Ok(1));
        check(Some("shop"), "/w", Ok(4));
        check(Some("./shop"), "/w", Ok(0));
        check(Some("/w/shop/"), "/", Ok(0));
        check(Some("in"), "/y/shop", Ok(4));
        check(None, "/x/api", Ok(2));
        check(Some("."), "/x/api", Ok(2));
    }

    #[test]
    fn a_name_that_fits_several_is_refused_with_their_paths() {
        check(Some("api"), "/x", Err("the name api fits 2 projects, give the path of one: /x/api, /y/api"));
    }

    #[test]
    fn a_refusal_says_what_may_have_been_meant() {
        check(Some("bakend"), "/", Err("bakend is no registered project; did you mean backend?"));
        check(Some("zzzzz"), "/", Err("zzzzz is no registered project; see `handoff projects list`"));
        check(
            None,
            "/w/shop/src/a",
            Err("/w/shop/src/a is no registered project; the project around it is /w/shop (go there, or name it)"),
        );
        check(Some("/n"), "/", Err("/n is no registered project; `handoff init /n` makes it one"));
    }

    #[test]
    fn the_nearest_of_nested_projects_is_the_inner_one_and_never_itself() {
        let nested = ["/a", "/a/b", "/a/bc"].map(|path| Candidate { path: Path::new(path), name: None });
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(enclosing(&nested, Path::new(path)), expected.map(Path::new));
        };
        check("/a/b/c", Some("/a/b"));
        check("/a/b", Some("/a"));
        check("/a", None);
        check("/z", None);
    }
}
