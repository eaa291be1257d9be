//! Files of the repository that a test can compare with, and bring up to date when `UPDATE=1` is set.

use std::path::PathBuf;

/// A path beneath the root of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../..", path].iter().collect()
}

/// Whether the person who runs the tests wants the files brought up to date.
pub(crate) fn updating() -> bool {
    std::env::var("UPDATE").is_ok_and(|value| value == "1")
}

/// Fails when the file at `path` is not `text`, and says how to update it.
#[track_caller]
pub(crate) fn assert_file(path: &str, text: &str) {
    let file = repository(path);
    if updating() {
        std::fs::write(&file, text).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == text, "{path} is out of date: look at the change, then run the tests of `wire` with UPDATE=1");
}
