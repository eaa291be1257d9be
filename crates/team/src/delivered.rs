//! What was delivered to members: `.delivered.jsonl` in a round's folder, one line for each step, only ever appended to.
//!
//! A packet is *claimed* durably before it is sent, under a lock that all daemons of this home take, so that no two send it.
//! A claim ends when its line says `ended`, and is nothing any more when one says `released`. Lines that are not ours, or
//! torn, are passed over; a file that cannot be read at all stops deliveries to who takes part in its round, since nobody
//! knows then what was delivered.

use std::io::ErrorKind;
use std::time::Duration;

use jiff::Timestamp;
use packet::{Role, TASK_PACKET_MAX_BYTES, TaskPacket};
use serde_json::{Map, Value, json};
use store::{Folder, IoFault, Kind, LineError, ReadError, Rotation, append_line};

use crate::compose::{Skipped, judge};
use crate::home::{Home, HomeError};
use crate::leg::{Leg, PACKETS, round_folder};
use crate::text::{escaped, kept};

/// The record's name, in the folder of a round.
pub const RECORD: &str = ".delivered.jsonl";
/// The lock of those who claim, beside it.
const LOCK: &str = ".delivered.jsonl.lock";
/// A longer record is not read: hundreds of lines for each of the slots of a round fit. In bytes.
const MAX_BYTES: usize = 8 << 20;
/// How long the lock is waited for; its holders have one small file to read and one line to write.
const PATIENCE: Duration = Duration::from_secs(5);
/// Never rotated: a claim must not get lost.
const NEVER: Rotation = Rotation { max_bytes: u64::MAX, generations: 1 };

/// Who claims a packet, for which session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimant {
    /// 32 hexadecimal digits.
    pub dispatch_id: String,
    /// The member.
    pub agent_id: String,
    /// The session's own id.
    pub session_id: String,
    /// The session's process.
    pub pid: u32,
    /// When that started, as in lock files (D14).
    pub started: u64,
}

/// A claim, as the lines of its dispatch say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Who.
    pub by: Claimant,
    /// The sender of the packet's leg.
    pub from: Role,
    /// Its receiver.
    pub to: Role,
    /// The slot in which it was found.
    pub slot: u8,
    /// The packet's own id.
    pub packet_id: String,
    /// When it was claimed.
    pub at: Timestamp,
    /// Its acceptance is on record.
    pub accepted: bool,
    /// What became of it.
    pub state: State,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It stands.
    Open,
    /// It was taken back: the packet was not delivered.
    Released,
    /// It is over; `None`: its turn settled, else what happened.
    Ended(Option<String>),
}

/// A step of a dispatch that is put on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// It is in the conversation.
    Accepted,
    /// It was not delivered, and is open again.
    Released(&'a str),
    /// It is over.
    Ended(Option<&'a str>),
}

/// The record of a round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delivered {
    /// The claims, oldest first.
    pub claims: Vec<Claim>,
    /// Files that were passed over and told of: name, code, detail.
    pub skipped: Vec<(String, String, String)>,
    /// Lines that are none of ours.
    pub odd_lines: usize,
}

/// What came of a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Claimed {
    /// It is durable; this is the packet.
    Done(Box<TaskPacket>),
    /// Another claim of this packet stands, or its slot holds another packet by now, or none.
    Taken,
}

/// The record cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DeliveredError {
    /// A folder on the way.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The file.
    #[error(transparent)]
    Io(#[from] IoFault),
    /// Its reading.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its writing.
    #[error(transparent)]
    Line(#[from] LineError),
    /// There is no folder of this round any more.
    #[error("the round's folder is gone")]
    NoRound,
}

/// Reads the record of a round; none is an empty one.
///
/// # Errors
///
/// [`DeliveredError`]: what was delivered in this round cannot be told.
pub fn read(home: &Home, goal: &str, round: u32) -> Result<Delivered, DeliveredError> {
    match home.open_below(&[PACKETS, goal, &round_folder(round)])? {
        Some(folder) => read_in(&folder),
        None => Ok(Delivered::default()),
    }
}

/// Claims the packet of this id in this slot, durably, if it is still there and no other claim of it stands.
///
/// # Errors
///
/// [`DeliveredError`]: it is not claimed, and nothing may be sent.
pub fn claim(
    home: &Home,
    leg: &Leg,
    slot: u8,
    packet_id: &str,
    by: &Claimant,
    now: Timestamp,
) -> Result<Claimed, DeliveredError> {
    let folder = open(home, leg.goal(), leg.round())?;
    let _lock = folder.lock_file(LOCK, PATIENCE)?;
    let standing = read_in(&folder)?;
    if standing.claims.iter().any(|claim| claim.is_of(leg, packet_id) && claim.state != State::Released) {
        return Ok(Claimed::Taken);
    }
    let Ok(packet) = judge(leg, folder.read(&leg.file(slot), TASK_PACKET_MAX_BYTES)) else { return Ok(Claimed::Taken) };
    if packet.packet_id != packet_id {
        return Ok(Claimed::Taken);
    }
    let row = json!({
        "at": now.to_string(), "state": "claimed", "dispatch_id": by.dispatch_id, "agent_id": by.agent_id,
        "from_role": leg.from().as_str(), "to_role": leg.to().as_str(), "slot": slot, "packet_id": packet_id,
        "session_id": by.session_id, "pid": by.pid, "started": by.started,
    });
    put(&folder, &row)?;
    Ok(Claimed::Done(Box::new(packet)))
}

/// Puts a step of a dispatch on record.
///
/// # Errors
///
/// [`DeliveredError`]; it is not on record then.
pub fn record(
    home: &Home,
    goal: &str,
    round: u32,
    dispatch_id: &str,
    step: Step<'_>,
    now: Timestamp,
) -> Result<(), DeliveredError> {
    let at = now.to_string();
    let ending = |state: &str, reason: Option<&str>| {
        let reason = reason.map(|text| kept(text).0);
        json!({"at": at, "state": state, "dispatch_id": dispatch_id, "reason": reason})
    };
    let row = match step {
        Step::Accepted => json!({"at": at, "state": "accepted", "dispatch_id": dispatch_id}),
        Step::Released(why) => ending("released", Some(why)),
        Step::Ended(reason) => ending("ended", reason),
    };
    put(&open(home, goal, round)?, &row)
}

/// Puts on record that a file was passed over and told of, so that it is told of once.
///
/// # Errors
///
/// [`DeliveredError`]; it will be told of again then.
pub fn record_skipped(home: &Home, leg: &Leg, skipped: &Skipped, now: Timestamp) -> Result<(), DeliveredError> {
    let (file, code, detail) = key(skipped);
    let row = json!({"at": now.to_string(), "state": "skipped", "file": file, "code": code, "detail": detail});
    put(&open(home, leg.goal(), leg.round())?, &row)
}

/// The packet that lies in a slot now, for one that is sent again.
#[must_use]
pub fn packet(home: &Home, leg: &Leg, slot: u8) -> Option<TaskPacket> {
    let folder = open(home, leg.goal(), leg.round()).ok()?;
    judge(leg, folder.read(&leg.file(slot), TASK_PACKET_MAX_BYTES)).ok()
}

impl Delivered {
    /// Whether a claim of this packet stands or has ended.
    #[must_use]
    pub fn has(&self, leg: &Leg, packet_id: &str) -> bool {
        self.claims.iter().any(|claim| claim.is_of(leg, packet_id) && claim.state != State::Released)
    }

    /// Whether this file was told of.
    #[must_use]
    pub fn knows(&self, skipped: &Skipped) -> bool {
        let (file, code, detail) = key(skipped);
        self.skipped.iter().any(|known| known.0 == file && known.1 == code && known.2 == detail)
    }

    fn add(&mut self, row: &Map<String, Value>) -> Option<()> {
        let text = |name: &str| row.get(name).and_then(Value::as_str);
        match text("state")? {
            "claimed" => self.claims.push(claim_of(row)?),
            "skipped" => {
                self.skipped.push((text("file")?.into(), text("code")?.into(), text("detail")?.into()));
            }
            state @ ("accepted" | "released" | "ended") => {
                let id = text("dispatch_id")?;
                let claim = self.claims.iter_mut().rev().find(|claim| claim.by.dispatch_id == id)?;
                match state {
                    "accepted" => claim.accepted = true,
                    "released" => claim.state = State::Released,
                    _ => claim.state = State::Ended(text("reason").map(str::to_owned)),
                }
            }
            _ => return None,
        }
        Some(())
    }
}

impl Claim {
    fn is_of(&self, leg: &Leg, packet_id: &str) -> bool {
        (self.from, self.to) == (leg.from(), leg.to()) && self.packet_id == packet_id
    }
}

fn claim_of(row: &Map<String, Value>) -> Option<Claim> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let number = |name: &str| row.get(name).and_then(Value::as_u64);
    let role = |name: &str| text(name).and_then(Role::from_word);
    Some(Claim {
        by: Claimant {
            dispatch_id: text("dispatch_id")?.to_owned(),
            agent_id: text("agent_id")?.to_owned(),
            session_id: text("session_id").unwrap_or_default().to_owned(),
            pid: number("pid").and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0),
            started: number("started").unwrap_or(0),
        },
        from: role("from_role")?,
        to: role("to_role")?,
        slot: number("slot").and_then(|slot| u8::try_from(slot).ok())?,
        packet_id: text("packet_id")?.to_owned(),
        at: text("at").and_then(|at| at.parse().ok()).unwrap_or(Timestamp::UNIX_EPOCH),
        accepted: false,
        state: State::Open,
    })
}

fn key(skipped: &Skipped) -> (&str, &str, String) {
    (&skipped.file, skipped.code, kept(&skipped.detail).0)
}

fn open(home: &Home, goal: &str, round: u32) -> Result<Folder, DeliveredError> {
    home.open_below(&[PACKETS, goal, &round_folder(round)])?.ok_or(DeliveredError::NoRound)
}

fn read_in(folder: &Folder) -> Result<Delivered, DeliveredError> {
    let bytes = match folder.read(RECORD, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing) => return Ok(Delivered::default()),
        Err(ReadError::Io(fault)) if fault.kind() == ErrorKind::NotFound => return Ok(Delivered::default()),
        Err(error) => return Err(error.into()),
    };
    let mut delivered = Delivered::default();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let row: Option<Map<String, Value>> = serde_json::from_slice(line).ok();
        if row.and_then(|row| delivered.add(&row)).is_none() {
            delivered.odd_lines += 1;
        }
    }
    Ok(delivered)
}

/// One line, durably; a new file's name, too.
fn put(folder: &Folder, row: &Value) -> Result<(), DeliveredError> {
    let is_new = folder.kind(RECORD)? != Some(Kind::File);
    append_line(folder, RECORD, &escaped(&row.to_string()), NEVER)?;
    if is_new {
        folder.sync()?;
    }
    Ok(())
}
