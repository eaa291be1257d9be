//! The files of the repository: found by walking it, as git would see them, without running git.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

/// A text file of the repository.
pub(crate) struct TextFile {
    /// Below the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    pub(crate) fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }

    pub(crate) fn is_below(&self, folder: &str) -> bool {
        self.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().expect("`tests` is a folder of the repository").to_owned()
}

/// One file, by its path below the root.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("cannot read {path}: {error}"))
}

/// All text files, sorted by path. Hidden ones are left out (an editor's, a person's), but for `.ci`.
pub(crate) fn text_files() -> Vec<TextFile> {
    let root = root();
    let walk =
        WalkBuilder::new(&root).add(root.join(".ci")).require_git(false).git_global(false).parents(false).build();
    let mut files: Vec<TextFile> = walk
        .map(|entry| entry.expect("the repository can be read").into_path())
        .filter(|path| path.is_file())
        .filter_map(|path| {
            let text = String::from_utf8(std::fs::read(&path).ok()?).ok()?;
            let path = path.strip_prefix(&root).expect("the walk stays below the root").to_str()?.to_owned();
            Some(TextFile { path, text })
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(files.len() > 100, "only {} files were found: the walk is broken", files.len());
    files
}

/// The Rust sources.
pub(crate) fn sources() -> Vec<TextFile> {
    text_files().into_iter().filter(|file| file.is("rs")).collect()
}

/// Fails with all `faults`, one a line, under what the rule is.
#[track_caller]
pub(crate) fn report(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}:\n  {}\n", faults.join("\n  "));
}

#[test]
fn the_top_level_is_the_layout_of_the_document() {
    let document = read("docs/architecture.md");
    let layout = document.split("## Layout").nth(1).and_then(|rest| rest.split("```").nth(1));
    let named: Vec<&str> = layout
        .expect("docs/architecture.md has a layout")
        .lines()
        .filter_map(|line| line.split_whitespace().next().filter(|_| !line.starts_with(' ')))
        .collect();
    let root = root();
    let walk = WalkBuilder::new(&root).max_depth(Some(1)).require_git(false).git_global(false).parents(false).build();
    let found: Vec<String> = walk
        .map(|entry| entry.expect("the root can be read"))
        .filter(|entry| entry.depth() == 1 && !is_empty_folder(entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let missing = named.iter().filter(|name| !root.join(name).exists()).map(|name| format!("{name} is not there"));
    let unnamed =
        found.iter().filter(|name| !named.contains(&name.as_str())).map(|name| format!("{name} is not named"));
    let faults: Vec<String> = missing.chain(unnamed).collect();
    report("the layout in docs/architecture.md is the top level", &faults);
}

/// Git does not keep such a folder.
fn is_empty_folder(path: &Path) -> bool {
    path.is_dir() && WalkBuilder::new(path).build().flatten().all(|entry| !entry.path().is_file())
}
