//! Pi's `settings.json`: the list `packages`, and one more entry in it. Every other byte stays as it is.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::exit::Exit;
use crate::failure::Failure;

/// As good as no list.
const NULL: &str = "null";

/// The new text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edit(pub(super) String);

/// The sources that `packages` names, in its order. An entry is a text, or an object with `source`.
pub(super) fn packages(text: &str) -> Result<Vec<String>, String> {
    let Some(list) = list(text)?.filter(|list| *list != NULL) else { return Ok(Vec::new()) };
    let entries: Vec<Value> = serde_json::from_str(list).map_err(|_| "`packages` in it is no list".to_owned())?;
    let source = |entry: &Value| entry.as_str().or_else(|| entry["source"].as_str()).map(str::to_owned);
    Ok(entries.iter().filter_map(source).collect())
}

/// The text with one more entry at the end of `packages`, laid out as what is there.
pub(super) fn with_package(text: &str, source: &str) -> Result<Edit, String> {
    let entry = Value::from(source).to_string();
    if body(text).trim().is_empty() {
        return Ok(Edit(format!("{{\n  \"packages\": [\n    {entry}\n  ]\n}}\n")));
    }
    let (at, inserted, replaced) = match list(text)? {
        Some(list) if list == NULL => (offset(text, list), format!("[{entry}]"), NULL.len()),
        Some(list) => {
            let (at, inserted) = into_list(text, list, &entry)?;
            (at, inserted, 0)
        }
        None => {
            let (at, inserted) = into_object(text, &format!("\"packages\": [{entry}]"))?;
            (at, inserted, 0)
        }
    };
    Ok(Edit(format!("{}{inserted}{}", &text[..at], &text[at + replaced..])))
}

/// The JSON text of `packages`, a part of `text`.
fn list(text: &str) -> Result<Option<&str>, String> {
    let body = body(text);
    if body.trim().is_empty() {
        return Ok(None);
    }
    let members: BTreeMap<String, &RawValue> =
        serde_json::from_str(body).map_err(|error| format!("it is no JSON object ({error})"))?;
    Ok(members.get("packages").map(|raw| raw.get()))
}

/// Where a part of `text` begins in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// Without a byte-order mark, which Pi allows.
fn body(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Where in `text` a new entry of `list` goes, and its text with what stands around it.
fn into_list(text: &str, list: &str, entry: &str) -> Result<(usize, String), String> {
    let inside = list.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or("`packages` in it is no list")?;
    let begin = offset(text, list) + 1;
    let end = begin + inside.trim_end().len();
    // What stands before the first entry also stands before the new one.
    let gap = &inside[..inside.len() - inside.trim_start().len()];
    match (inside.trim().is_empty(), gap.is_empty()) {
        (true, _) => Ok((begin, entry.to_owned())),
        (false, true) => Ok((end, format!(", {entry}"))),
        (false, false) => Ok((end, format!(",{gap}{entry}"))),
    }
}

/// Where in `text` a new member goes: after the last one.
fn into_object(text: &str, member: &str) -> Result<(usize, String), String> {
    let close = text.rfind('}').ok_or("it is no JSON object")?;
    let open = text.find('{').ok_or("it is no JSON object")?;
    let inside = &text[open + 1..close];
    let end = open + 1 + inside.trim_end().len();
    let gap = &inside[..inside.len() - inside.trim_start().len()];
    Ok(match (inside.trim().is_empty(), gap.is_empty()) {
        (true, _) => (open + 1, member.to_owned()),
        (false, true) => (end, format!(", {member}")),
        (false, false) => (end, format!(",{gap}{member}")),
    })
}

/// How Pi keeps its own writers apart: a folder beside the file, made by whoever writes. Removed when dropped.
pub(super) struct SettingsLock(PathBuf);

/// Pi writes within milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);
/// A lock that nobody renewed for so long is one of a writer that died; Pi says so too.
const STALE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(20);

impl SettingsLock {
    pub(super) fn take(settings: &Path) -> Result<Self, Failure> {
        let mut name = settings.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let give_up = Instant::now() + PATIENCE;
        loop {
            match DirBuilder::new().create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && is_stale(&path) => {
                    // Whoever removes it first is as good; one that cannot be removed is waited for like a live one.
                    if std::fs::remove_dir(&path).is_err() && Instant::now() > give_up {
                        return Err(taken(&path));
                    }
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if Instant::now() > give_up {
                        return Err(taken(&path));
                    }
                    std::thread::sleep(AGAIN);
                }
                Err(error) => {
                    return Err(Failure::new(Exit::NotGood, format!("cannot make {}: {error}", path.display())));
                }
            }
        }
    }
}

impl Drop for SettingsLock {
    fn drop(&mut self) {
        // A lock that stays is stale in 10 s.
        std::fs::remove_dir(&self.0).ok();
    }
}

fn is_stale(lock: &Path) -> bool {
    let age = std::fs::metadata(lock).and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > STALE)
}

fn taken(lock: &Path) -> Failure {
    Failure::new(Exit::NotGood, format!("Pi is writing its settings just now ({})", lock.display()))
        .hint("run this again; if no Pi runs, remove that folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, expected: &str) {
        assert_eq!(with_package(before, "/p"), Ok(Edit(expected.to_owned())), "{before}");
        let named = packages(expected).unwrap();
        assert_eq!(named.last().map(String::as_str), Some("/p"));
    }

    #[test]
    fn one_entry_more_and_every_other_byte_as_it_was() {
        check("", "{\n  \"packages\": [\n    \"/p\"\n  ]\n}\n");
        check("\n", "{\n  \"packages\": [\n    \"/p\"\n  ]\n}\n");
        check("{}", "{\"packages\": [\"/p\"]}");
        check("{ \"a\" : 1.0 }", "{ \"a\" : 1.0, \"packages\": [\"/p\"] }");
        check("{\n\t\"a\": {\"packages\": []}\n}\n", "{\n\t\"a\": {\"packages\": []},\n\t\"packages\": [\"/p\"]\n}\n");
        check("{\"packages\":[]}", "{\"packages\":[\"/p\"]}");
        check("{\"packages\":[\"x\"],\"z\":1}", "{\"packages\":[\"x\", \"/p\"],\"z\":1}");
        check(
            "{\n  \"packages\": [\n    {\"source\": \"x\"}\n  ]\n}",
            "{\n  \"packages\": [\n    {\"source\": \"x\"},\n    \"/p\"\n  ]\n}",
        );
        check("\u{feff}{\"packages\": null}", "\u{feff}{\"packages\": [\"/p\"]}");
    }

    #[test]
    fn what_pi_cannot_read_is_not_touched() {
        for text in ["{", "[]", "{\"a\": 1 // x\n}", "{\"packages\": {}}", "{\"packages\": \"x\"}", "7"] {
            assert!(packages(text).is_err(), "{text}");
            assert!(with_package(text, "/p").is_err(), "{text}");
        }
    }

    #[test]
    fn entries_are_texts_or_objects() {
        let text = "{\"packages\": [\"npm:a\", {\"source\": \"../b\", \"skills\": []}, 7, {}]}";
        assert_eq!(packages(text).unwrap(), ["npm:a", "../b"]);
    }

    #[test]
    fn a_lock_keeps_a_second_writer_out_until_it_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let settings = dir.path().join("settings.json");
        let lock = SettingsLock::take(&settings).unwrap();
        assert!(dir.path().join("settings.json.lock").is_dir());
        assert!(SettingsLock::take(&settings).is_err_and(|failure| failure.message.contains("just now")));
        drop(lock);
        drop(SettingsLock::take(&settings).unwrap());
        assert!(!dir.path().join("settings.json.lock").exists());
    }
}
