//! Rules for Rust sources: size, first lines, declared modules, layers of the pure crates.

use std::collections::HashSet;

use crate::tree::{TextFile, report, sources};

/// No file is longer; most have a third of it.
const MOST_LINES: usize = 400;

#[track_caller]
fn check(rule: &str, fault: impl Fn(&TextFile) -> Option<String>) {
    let faults: Vec<String> =
        sources().iter().filter_map(|file| fault(file).map(|fault| format!("{}: {fault}", file.path))).collect();
    report(rule, &faults);
}

#[test]
fn no_file_has_two_ideas() {
    check("at most 400 lines a file", |file| {
        let lines = file.text.lines().count();
        (lines > MOST_LINES).then(|| format!("{lines} lines"))
    });
}

#[test]
fn every_file_says_first_what_lives_in_it() {
    check("the first line is `//! …`", |file| {
        (!file.text.starts_with("//! ")).then(|| "starts otherwise".to_owned())
    });
}

#[test]
fn nothing_is_ignored_or_left_for_later() {
    let forbidden = [concat!("#[igno", "re"), concat!("todo", "!("), concat!("unimplemented", "!(")];
    check("no ignored test, no placeholder", |file| {
        forbidden.iter().find(|word| file.text.contains(*word)).map(|word| format!("has {word}"))
    });
}

/// On a busy machine such a test fails by chance. What waits for ever if it waits at all is given a named deadline that
/// nothing needs; what must be quick once is waited for.
#[test]
fn no_assertion_measures_the_machine() {
    let words = ["assert", concat!("elapsed() ", "< "), "Duration::from_"];
    check("no assertion that something took less than a length of time", |file| {
        let at = file.text.lines().position(|line| words.iter().all(|word| line.contains(word)))?;
        Some(format!("line {}", at + 1))
    });
}

#[test]
fn pure_crates_know_no_world() {
    let forbidden =
        ["std::fs", "std::net", "std::env", "std::process", "std::thread", "tokio", "SystemTime", "Instant::now"];
    let pure_crates =
        ["crates/queue/src", "crates/lifecycle/src", "crates/budget/src", "crates/packet/src", "crates/secrets/src"];
    check("pure crates have no file, socket, clock or runtime", |file| {
        let pure = pure_crates.iter().any(|source| file.is_below(source));
        let code = || file.text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let word = forbidden.iter().find(|word| pure && code().any(|line| line.contains(*word)))?;
        Some(format!("has {word}"))
    });
}

/// A file that no other declares is never compiled, and its tests never run.
#[test]
fn every_file_is_compiled() {
    let files = sources();
    let paths: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let declares = |parent: &str, module: &str| {
        let words = [format!("mod {module};"), format!("path = \"{module}.rs\"")];
        let text = files.iter().find(|file| file.path == parent).map_or("", |file| file.text.as_str());
        text.lines().any(|line| words.iter().any(|word| line.contains(word)))
    };
    let faults: Vec<String> = files
        .iter()
        .filter(|file| !is_target(&file.path))
        .filter(|file| {
            let (module, parents) = module_and_parents(&file.path, &paths);
            !parents.iter().any(|parent| declares(parent, module))
        })
        .map(|file| file.path.clone())
        .collect();
    report("every file is declared by its parent module", &faults);
}

/// Whether cargo finds the file by itself.
fn is_target(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let folder = parts.next().unwrap_or_default();
    let above = parts.next().unwrap_or_default();
    let of_package = |folder: &str| ["tests", "examples", "benches", "bin", "fuzz_targets"].contains(&folder);
    match name {
        "build.rs" => true,
        "lib.rs" | "main.rs" => folder == "src" || of_package(above),
        _ => of_package(folder),
    }
}

/// The module's name, and where it may be declared: in a file of the folder (also with `#[path]`), or the file beside it.
fn module_and_parents<'a>(path: &'a str, all: &HashSet<&str>) -> (&'a str, Vec<String>) {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (module, folder) = match name {
        "mod.rs" => folder.rsplit_once('/').map_or((folder, ""), |(above, module)| (module, above)),
        _ => (name.trim_end_matches(".rs"), folder),
    };
    let in_folder = |path: &&str| path.rsplit_once('/').is_some_and(|(found, _)| found == folder);
    let parents = all.iter().copied().filter(in_folder).map(str::to_owned).chain([format!("{folder}.rs")]).collect();
    (module, parents)
}
