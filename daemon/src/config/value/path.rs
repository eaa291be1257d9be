//! Paths: absolute ones of the user, relative ones inside a project, and the command of a hook.
//!
//! Everything is judged as written; what a path leads to is checked by whoever opens it.

use std::path::{Component, Path, PathBuf};

use toml::de::DeValue;

use super::{Judged, kind, shown, text};
use crate::env::Env;

/// Most entries of `context.files` (D68).
pub const MAX_CONTEXT_FILES: usize = 16;

/// An absolute path; a leading `~/` is the home.
pub(in crate::config) fn absolute_path(env: &Env) -> impl Fn(&DeValue<'_>) -> Judged<PathBuf> {
    move |value| {
        let text = match text(value) {
            Ok(text) => text,
            Err(message) => return Judged::Bad(message),
        };
        match env.expand_home(Path::new(text)) {
            Some(path) if path.is_absolute() => Judged::Good(path),
            Some(_) => Judged::Bad(format!("must be an absolute path or begin with `~/`, not {}", shown(value))),
            None => Judged::Bad("begins with `~`, but no home folder is known".to_owned()),
        }
    }
}

/// A program and its arguments; the empty list turns the hook off. There is no shell.
pub(in crate::config) fn command(env: &Env) -> impl Fn(&DeValue<'_>) -> Judged<Vec<String>> {
    move |value| {
        let DeValue::Array(items) = value else {
            let example = "a list, such as [\"notify-send\", \"handoff\"]: it is run without a shell";
            return Judged::Bad(format!("must be {example}, not {}", kind(value)));
        };
        let mut words = Vec::new();
        for item in items.iter() {
            match item.get_ref().as_str() {
                Some(text) if !text.contains('\0') => words.push(text.to_owned()),
                _ => return Judged::Bad(format!("must hold strings only, not {}", shown(item.get_ref()))),
            }
        }
        let Some(program) = words.first_mut() else { return Judged::Good(words) };
        if program.trim().is_empty() {
            return Judged::Bad("must begin with a program".to_owned());
        }
        match env.expand_home(Path::new(&*program)).map(PathBuf::into_os_string) {
            Some(path) => *program = path.into_string().unwrap_or_else(|_| program.clone()),
            None => return Judged::Bad("begins with `~`, but no home folder is known".to_owned()),
        }
        Judged::Good(words)
    }
}

/// At most 16 project-relative paths (D68), repeats dropped.
pub(in crate::config) fn context_files(value: &DeValue<'_>) -> Judged<Vec<String>> {
    let DeValue::Array(items) = value else {
        return Judged::Bad(format!("must be a list of paths, not {}", kind(value)));
    };
    if items.len() > MAX_CONTEXT_FILES {
        return Judged::Bad(format!("has {} entries, at most {MAX_CONTEXT_FILES} are allowed", items.len()));
    }
    let mut files: Vec<String> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match inside_project(item.get_ref()) {
            Ok(path) if files.contains(&path) => {}
            Ok(path) => files.push(path),
            Err(message) => return Judged::Bad(format!("entry {index} {message}")),
        }
    }
    Judged::Good(files)
}

/// A project-relative path of a file, which is neither git's nor one of our own files (D30).
pub(in crate::config) fn work_log_path(value: &DeValue<'_>) -> Judged<String> {
    const OURS: [&str; 2] = ["tasks.json", "handoff.toml"];
    let path = match inside_project(value) {
        Ok(path) => path,
        Err(message) => return Judged::Bad(message),
    };
    let parts: Vec<&str> = path.split('/').collect();
    let last = parts.last().copied().unwrap_or_default();
    let taken = OURS.contains(&last) || last.starts_with("pi-claude-handoff.lock") || last.starts_with(".tasks.json.");
    if taken || parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return Judged::Bad(format!("cannot be `{path}`: that file has another use"));
    }
    Judged::Good(path)
}

/// A path as written, without its `.` parts; inside the project lexically. What it leads to is checked when it is
/// opened.
fn inside_project(value: &DeValue<'_>) -> Result<String, String> {
    let text = text(value)?;
    let path = Path::new(text);
    if path.is_absolute() || text.starts_with("~/") {
        return Err(format!("must be a path inside the project, not {}", shown(value)));
    }
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy()),
            Component::CurDir => {}
            _ => return Err(format!("must not leave the project: {}", shown(value))),
        }
    }
    if parts.is_empty() || text.ends_with('/') {
        return Err(format!("must name a file, not {}", shown(value)));
    }
    Ok(parts.join("/"))
}
