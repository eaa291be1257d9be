//! The journal of systemd, where the log of a service goes. `journalctl` is asked, which knows what this user may read.
//!
//! What systemd itself says about the unit (started, killed, watchdog) is in it, too.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::line::Wanted;
use crate::context::Context;
use crate::spawn;

const UNIT: &str = "--user-unit=handoffd.service";
/// Lines that wait to be printed; more hold `journalctl` up, and nobody else.
const ROOM: usize = 1024;

/// The journal of this user's service; without one it has no lines.
#[derive(Debug, Default)]
pub(super) struct Journal {
    there: bool,
    newest: Option<String>,
    following: Option<Following>,
}

#[derive(Debug)]
struct Following {
    child: Child,
    rows: Receiver<Row>,
}

/// One entry, of which only this is asked for.
#[derive(Debug, Deserialize)]
struct Row {
    #[serde(rename = "__CURSOR")]
    cursor: Option<String>,
    #[serde(rename = "__REALTIME_TIMESTAMP", default)]
    micros: String,
    #[serde(rename = "PRIORITY", default)]
    priority: String,
    #[serde(rename = "MESSAGE", default)]
    message: Value,
}

impl Journal {
    /// Where this user has a systemd, its journal.
    pub(super) fn of_service(ctx: &Context) -> Self {
        let usual = || PathBuf::from(format!("/run/user/{}", rustix::process::getuid().as_raw()));
        let runtime_dir = ctx.env.xdg_runtime_dir.clone().unwrap_or_else(usual);
        Self { there: runtime_dir.join("systemd/private").exists(), ..Self::default() }
    }

    /// Whether it had nothing at all.
    pub(super) fn is_silent(&self) -> bool {
        self.newest.is_none()
    }

    /// The last lines that are wanted, oldest first.
    pub(super) fn last(&mut self, count: usize, wanted: &Wanted) -> Vec<String> {
        let Some(mut child) = self.start(&["--reverse"]) else { return Vec::new() };
        let mut lines = Vec::new();
        for row in rows(&mut child) {
            if self.newest.is_none() {
                self.newest = row.cursor.clone();
            }
            if lines.len() == count {
                break;
            }
            lines.extend(row.line().filter(|line| wanted.fits(line)));
        }
        end(&mut child);
        lines.reverse();
        lines
    }

    /// From now on new entries are kept for [`Journal::new_lines`].
    pub(super) fn follow(&mut self) {
        let after = self.newest.as_ref().map(|cursor| format!("--after-cursor={cursor}"));
        let from = after.as_deref().unwrap_or("--since=now");
        let Some(mut child) = self.start(&["--follow", "--no-tail", from]) else { return };
        let (sender, receiver) = sync_channel(ROOM);
        let found = rows(&mut child);
        thread::spawn(move || {
            for row in found {
                if sender.send(row).is_err() {
                    return;
                }
            }
        });
        self.following = Some(Following { child, rows: receiver });
    }

    /// What has come since.
    pub(super) fn new_lines(&self, wanted: &Wanted) -> Vec<String> {
        let Some(following) = &self.following else { return Vec::new() };
        following.rows.try_iter().filter_map(|row| row.line()).filter(|line| wanted.fits(line)).collect()
    }

    fn start(&self, arguments: &[&str]) -> Option<Child> {
        if !self.there {
            return None;
        }
        let mut command = spawn::command("journalctl", Path::new("/"));
        command.args(["--quiet", "--no-pager", UNIT, "--output=json", "--output-fields=MESSAGE,PRIORITY"]);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Without the program there is no journal to be read.
        command.spawn().ok()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself.
    child.kill().ok();
    child.wait().ok();
}

/// The entries as they come; a line that is none is passed over.
fn rows(child: &mut Child) -> impl Iterator<Item = Row> + use<> {
    let output = child.stdout.take().into_iter();
    let lines = output.flat_map(|output| BufReader::new(output).split(b'\n').map_while(Result::ok));
    lines.filter_map(|line| serde_json::from_slice(&line).ok())
}

impl Row {
    /// As the daemon writes it into a file; an object of JSON stays one.
    fn line(&self) -> Option<String> {
        let message = self.message()?;
        if message.starts_with('{') {
            return Some(message);
        }
        let micros = self.micros.parse().ok().and_then(|micros| Timestamp::from_microsecond(micros).ok());
        let level = match self.priority.as_str() {
            "0" | "1" | "2" | "3" => "ERROR",
            "4" => "WARN",
            "7" => "DEBUG",
            _ => "INFO",
        };
        Some(format!("{:.3} {level:<5} {message}", micros.unwrap_or_default()))
    }

    /// Bytes where the text has control characters, null where it is too long for JSON.
    fn message(&self) -> Option<String> {
        match &self.message {
            Value::String(text) => Some(text.clone()),
            Value::Array(bytes) => {
                let bytes: Vec<u8> = bytes.iter().filter_map(|byte| byte.as_u64()?.try_into().ok()).collect();
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(row: &str, expected: Option<&str>) {
        let row: Row = serde_json::from_str(row).unwrap();
        assert_eq!(row.line().as_deref(), expected);
    }

    #[test]
    fn an_entry_becomes_a_line_as_in_the_files() {
        check(
            r#"{"__REALTIME_TIMESTAMP":"1796025600120999","PRIORITY":"4","MESSAGE":"project=/w/shop odd"}"#,
            Some("2026-11-30T08:00:00.120Z WARN  project=/w/shop odd"),
        );
        check(
            r#"{"__REALTIME_TIMESTAMP":"0","MESSAGE":[27,104,105]}"#,
            Some("1970-01-01T00:00:00.000Z INFO  \u{1b}hi"),
        );
        check(r#"{"MESSAGE":"{\"at\":\"x\"}"}"#, Some("{\"at\":\"x\"}"));
        check(r#"{"MESSAGE":null}"#, None);
    }
}
