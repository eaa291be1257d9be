//! `docs/protocol.md` describes these sources: it carries their hash, names every method and word, and its examples are
//! read by the other tests.

use crate::messages::{Example, examples};
use crate::snapshot::{repository, updating};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use wire::calls::{ClientNotification, ClientRequest, DaemonNotification, DaemonRequest};

const DOCUMENT: &str = "docs/protocol.md";
const MARK: &str = "<!-- wire-sha256: ";

pub(crate) fn document() -> String {
    std::fs::read_to_string(repository(DOCUMENT)).unwrap()
}

/// Everything that decides what is on the wire: all sources but the client's.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("client") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn hash_of_sources() -> String {
    let root = repository("crates/wire/src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    files.sort();
    assert!(files.len() > 20, "the sources were not found");
    let mut hash = Sha256::new();
    for file in files {
        let text = std::fs::read(&file).unwrap();
        hash.update(file.strip_prefix(&root).unwrap().to_str().unwrap());
        hash.update([0]);
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

#[test]
fn document_describes_these_sources() {
    let text = document();
    let start = text.find(MARK).expect("the document carries a hash") + MARK.len();
    let end = start + text[start..].find(' ').unwrap();
    let current = hash_of_sources();
    if updating() {
        std::fs::write(repository(DOCUMENT), format!("{}{current}{}", &text[..start], &text[end..])).unwrap();
        return;
    }
    assert_eq!(
        &text[start..end],
        current,
        "crates/wire/src has changed: read {DOCUMENT} against the change, then run this test with UPDATE=1"
    );
}

#[test]
fn every_method_has_an_example() {
    let shown: Vec<String> = examples().iter().map(Example::method).collect();
    let tables =
        [ClientRequest::METHODS, ClientNotification::METHODS, DaemonRequest::METHODS, DaemonNotification::METHODS];
    for method in tables.into_iter().flatten() {
        assert!(shown.iter().any(|shown| shown == method), "{DOCUMENT} has no example of {method}");
    }
}

#[test]
fn every_word_is_documented() {
    let text = document();
    let tables = [
        wire::error::ErrorCode::WORDS,
        wire::status::ProjectState::WORDS,
        wire::status::StateReason::WORDS,
        wire::status::DeliveryState::WORDS,
        wire::status::ReportState::WORDS,
        wire::session::Mode::WORDS,
        wire::session::AttachReason::WORDS,
        wire::session::Hint::WORDS,
        wire::session::LeaveReason::WORDS,
        wire::daemon_calls::DispatchRefusal::WORDS,
        wire::control::CancelOutcome::WORDS,
        wire::control::Lifted::WORDS,
        wire::event::SessionChange::WORDS,
        wire::event::LockChange::WORDS,
        wire::run::RunState::WORDS,
        wire::journal::Entry::KINDS,
    ];
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: std::collections::HashSet<&str> = text.split(|c| !is_word(c)).collect();
    for word in tables.into_iter().flatten() {
        assert!(words.contains(word), "{DOCUMENT} does not tell of `{word}`");
    }
}
