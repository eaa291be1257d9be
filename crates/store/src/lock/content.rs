//! What stands in the lock file (D14): reading leniently, writing exactly.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// 128 random bits that tell one start of the daemon from every other, written as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instance(u128);

impl Instance {
    /// From 128 bits that the caller drew at random.
    #[must_use]
    pub const fn from_random(bits: u128) -> Self {
        Self(bits)
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The session that owns the project's place, as far as it must survive a restart (D14, D22).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// The session's id.
    pub session_id: String,
    /// Its process.
    pub pid: i32,
    /// When that process started, in the units of [`crate::ProcessId`].
    pub started: Option<u64>,
    /// When its connection was lost; `None` while connected.
    #[serde(serialize_with = "optional_time")]
    pub since: Option<Timestamp>,
    /// Whether a background run was observed for the current dispatch.
    pub background: bool,
}

/// A well-formed lock. Of a foreign one only `pid` is needed; a member of another type counts as absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LockContent {
    /// 1 for ours; `None` in foreign locks.
    pub version: Option<u64>,
    /// The owner's process.
    pub pid: i32,
    /// When it started, in the units of [`crate::ProcessId`].
    pub started: Option<u64>,
    /// On which boot of the machine.
    pub boot_id: Option<String>,
    /// In which process table.
    pub pid_ns: Option<u64>,
    /// On which host.
    pub host: Option<String>,
    /// Of which user.
    pub uid: Option<u64>,
    /// Which start of a daemon.
    pub instance: Option<String>,
    /// When it was taken.
    #[serde(serialize_with = "optional_time")]
    pub acquired_at: Option<Timestamp>,
    /// The session bound to it.
    pub session: Option<Binding>,
}

/// The largest lock we write, in bytes (D14).
const OURS_AT_MOST: usize = 1024;

impl LockContent {
    /// Parses a lock. The error says in words why it is malformed (D16 rule 1).
    ///
    /// # Errors
    ///
    /// For anything that is not one JSON object with an integer `pid` from 1 to 2147483647, or names a member twice.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = bytes.trim_ascii();
        match text.first() {
            None => return Err("it is empty".to_owned()),
            Some(b'{') => {}
            Some(_) => return Err("it is not a JSON object".to_owned()),
        }
        let raw: Raw = serde_json::from_slice(text).map_err(|error| format!("it is not one JSON object: {error}"))?;
        let pid = process_number(&raw.pid).ok_or("`pid` is not an integer from 1 to 2147483647")?;
        Ok(Self {
            version: raw.version.as_u64(),
            pid,
            started: raw.started.as_u64(),
            boot_id: text_of(&raw.boot_id),
            pid_ns: raw.pid_ns.as_u64(),
            host: text_of(&raw.host),
            uid: raw.uid.as_u64(),
            instance: text_of(&raw.instance),
            acquired_at: time_of(&raw.acquired_at),
            session: binding_of(&raw.session),
        })
    }

    /// The bytes of the file: one compact JSON object and a newline; `None` when they would be over 1 KiB.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = serde_json::to_vec(self).ok()?;
        bytes.push(b'\n');
        Some(bytes).filter(|bytes| bytes.len() <= OURS_AT_MOST)
    }

    /// Whether this start of the daemon wrote it (D18, first half).
    #[must_use]
    pub fn is_of(&self, instance: Instance) -> bool {
        self.instance.as_deref() == Some(instance.to_string().as_str())
    }
}

/// The members as they come; derived, so that a repeated one is an error.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Raw {
    version: Value,
    pid: Value,
    started: Value,
    boot_id: Value,
    pid_ns: Value,
    host: Value,
    uid: Value,
    instance: Value,
    acquired_at: Value,
    session: Value,
}

fn process_number(value: &Value) -> Option<i32> {
    value.as_i64().and_then(|pid| i32::try_from(pid).ok()).filter(|pid| *pid > 0)
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn time_of(value: &Value) -> Option<Timestamp> {
    value.as_str().and_then(|text| text.parse().ok())
}

fn binding_of(value: &Value) -> Option<Binding> {
    Some(Binding {
        session_id: text_of(value.get("session_id")?)?,
        pid: process_number(value.get("pid")?)?,
        started: value.get("started").and_then(Value::as_u64),
        since: value.get("since").and_then(time_of),
        background: value.get("background").and_then(Value::as_bool).unwrap_or(false),
    })
}

/// RFC 3339 UTC with milliseconds (D13).
fn optional_time<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(&format_args!("{time:.3}")),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> LockContent {
        LockContent {
            version: Some(1),
            pid: 4,
            started: Some(5),
            boot_id: Some("b".to_owned()),
            pid_ns: Some(6),
            host: Some("h".to_owned()),
            uid: Some(7),
            instance: Some(Instance::from_random(8).to_string()),
            acquired_at: Some("2026-11-30T08:12:03.12Z".parse().unwrap()),
            session: Some(Binding { session_id: "s".to_owned(), pid: 9, started: None, since: None, background: true }),
        }
    }

    #[test]
    fn what_we_write_is_what_we_read() {
        let bytes = ours().to_bytes().unwrap();
        assert_eq!(LockContent::parse(&bytes).unwrap(), ours());
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(r#""acquired_at":"2026-11-30T08:12:03.120Z""#), "{text}");
    }

    #[test]
    fn a_lock_of_ours_is_never_over_a_kibibyte() {
        let mut long = ours();
        long.host = Some("h".repeat(OURS_AT_MOST));
        assert_eq!(long.to_bytes(), None);
    }

    #[test]
    fn a_foreign_lock_needs_only_a_process() {
        for text in ["{\"pid\":12}", " {\"pid\": 12, \"host\": 5, \"started\": \"x\", \"other\": [1]}\n"] {
            let lock = LockContent::parse(text.as_bytes()).unwrap();
            assert_eq!((lock.pid, lock.host, lock.started, lock.version), (12, None, None, None));
        }
    }

    #[test]
    fn malformed_locks_are_told_apart_from_dead_ones() {
        for text in [
            "",
            " \n",
            "\0\0\0\0",
            "12",
            "[12]",
            "null",
            "{",
            "{}",
            "{\"pid\":4.0}",
            "{\"pid\":1e10}",
            "{\"pid\":null}",
            "{\"pid\":\"4\"}",
            "{\"pid\":0}",
            "{\"pid\":-4}",
            "{\"pid\":2147483648}",
            "{\"pid\":4}{}",
            "{\"pid\":4,\"pid\":5}",
            "\u{feff}{\"pid\":4}",
        ] {
            assert!(LockContent::parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
