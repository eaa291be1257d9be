//! Reading a leg for its receiver (D35): slot by slot up to the first missing one, each file judged anew.
//!
//! Reading writes nothing; [`record_skipped`] and [`record_failed_stage`] put what was passed over into the audit
//! ledger, for the caller that acts on the leg and not for one that only looks.

use jiff::Timestamp;
use packet::{Role, TASK_PACKET_MAX_BYTES, TaskPacket};
use store::{Folder, ReadError};

use crate::home::{Home, HomeError};
use crate::ledger::{Ledger, record};
use crate::leg::{Leg, PACKETS};
use crate::rows;

/// What lies on a leg.
#[derive(Debug, Clone, PartialEq)]
pub struct Packets {
    /// Which.
    pub leg: Leg,
    /// The valid packets, in the order of their slots.
    pub packets: Vec<Found>,
    /// The files that were passed over, in the same order.
    pub skipped: Vec<Skipped>,
    /// The first missing slot, if files lie behind it.
    pub gap: Option<Gap>,
}

/// A valid packet.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its slot, 0 to 99.
    pub slot: u8,
    /// Below the home.
    pub path: String,
    /// The packet.
    pub packet: TaskPacket,
}

/// A file in a slot that is not a valid packet of this leg.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its slot, 0 to 99.
    pub slot: u8,
    /// Its name, without a folder.
    pub file: String,
    /// `not_a_regular_file`, `oversize`, `unreadable`, `unparseable`, `wrong_leg`, `wrong_task_or_round`, or the code of
    /// the packet's own rule.
    pub code: &'static str,
    /// What is wrong, for people.
    pub detail: String,
}

/// A missing slot that hides what lies behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The missing slot.
    pub missing: u8,
    /// The slots behind it that have a file.
    pub behind: Vec<u8>,
}

/// A stage that has no packet to work with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {} of {} files on this leg are valid packets", 0, skipped)]
pub struct NoPackets {
    /// `planner_no_packets`, `no_executor_packets`, `no_verifier_packets`.
    pub code: &'static str,
    /// How many files were passed over.
    pub skipped: usize,
}

impl Packets {
    /// The packets for the next stage.
    ///
    /// # Errors
    ///
    /// [`NoPackets`]: a leg without a valid packet fails the stage of its sender.
    pub fn for_stage(&self) -> Result<&[Found], NoPackets> {
        if self.packets.is_empty() {
            return Err(NoPackets { code: no_packets(self.leg.from()), skipped: self.skipped.len() });
        }
        Ok(&self.packets)
    }
}

fn no_packets(from: Role) -> &'static str {
    match from {
        Role::Planner => "planner_no_packets",
        Role::Executor => "no_executor_packets",
        Role::Verifier => "no_verifier_packets",
        Role::Utility => "no_utility_packets",
    }
}

/// Reads a leg. One that has no folder yet is empty.
///
/// # Errors
///
/// [`HomeError`]: a folder on the way cannot be opened, or is a link.
pub fn read_leg(home: &Home, leg: &Leg) -> Result<Packets, HomeError> {
    let mut read = Packets { leg: leg.clone(), packets: Vec::new(), skipped: Vec::new(), gap: None };
    let Some(folder) = home.open_below(&[PACKETS, leg.goal(), &leg.round_folder()])? else { return Ok(read) };
    let names = folder.list()?;
    let mut taken: Vec<u8> = names.iter().filter_map(|name| leg.slot_of(name)).collect();
    taken.sort_unstable();
    for (expected, slot) in (0..).zip(taken.iter().copied()) {
        if slot != expected {
            read.gap = Some(Gap { missing: expected, behind: taken.split_off(usize::from(expected)) });
            break;
        }
        match look(&folder, leg, slot) {
            Ok(found) => read.packets.push(found),
            Err(skipped) => read.skipped.push(skipped),
        }
    }
    Ok(read)
}

/// Judges one slot alone, wherever it is; `None` when nothing is in it.
///
/// # Errors
///
/// As [`read_leg`].
pub fn read_slot(home: &Home, leg: &Leg, slot: u8) -> Result<Option<Result<Found, Skipped>>, HomeError> {
    let Some(folder) = home.open_below(&[PACKETS, leg.goal(), &leg.round_folder()])? else { return Ok(None) };
    let taken = folder.kind(&leg.file(slot))?.is_some();
    Ok(taken.then(|| look(&folder, leg, slot)))
}

fn look(folder: &Folder, leg: &Leg, slot: u8) -> Result<Found, Skipped> {
    let file = leg.file(slot);
    match judge(leg, folder.read(&file, TASK_PACKET_MAX_BYTES)) {
        Ok(packet) => Ok(Found { slot, path: leg.path(slot), packet }),
        Err((code, detail)) => Err(Skipped { slot, file, code, detail }),
    }
}

/// Whether a file's bytes are a packet of this leg; else the code and what is wrong.
pub(crate) fn judge(leg: &Leg, read: Result<Vec<u8>, ReadError>) -> Result<TaskPacket, (&'static str, String)> {
    let bytes = read.map_err(|error| {
        let code = match &error {
            ReadError::NotRegular => "not_a_regular_file",
            ReadError::TooLarge { .. } => "oversize",
            ReadError::Missing | ReadError::Io(_) => "unreadable",
        };
        (code, error.to_string())
    })?;
    if let Err(error) = std::str::from_utf8(&bytes) {
        return Err(("unreadable", format!("not UTF-8: {error}")));
    }
    let packet = TaskPacket::from_text(&bytes).map_err(|error| ("unparseable", error.to_string()))?;
    if (packet.from_role, packet.to_role) != (leg.from(), leg.to()) {
        return Err(("wrong_leg", format!("its roles are {} and {}", packet.from_role, packet.to_role)));
    }
    if packet.goal_id != leg.goal() || packet.round != leg.round() {
        let detail = format!("it says goal `{}`, round {}", packet.goal_id, packet.round);
        return Err(("wrong_task_or_round", detail));
    }
    packet.validate().map_err(|error| (error.code(), error.to_string()))?;
    Ok(packet)
}

/// Writes a row for each file of `skipped`, and one more if nothing valid is left beside them.
pub fn record_skipped<'s>(home: &Home, read: &Packets, skipped: impl IntoIterator<Item = &'s Skipped>, now: Timestamp) {
    let mut count = 0;
    for one in skipped {
        record(home, Ledger::SecurityAudit, &rows::skipped(&read.leg, one, now));
        count += 1;
    }
    if count > 0 && read.packets.is_empty() {
        record(home, Ledger::SecurityAudit, &rows::all_skipped(&read.leg, read.skipped.len(), now));
    }
}

/// Writes the row of a stage that failed.
pub fn record_failed_stage(home: &Home, leg: &Leg, failed: NoPackets, now: Timestamp) {
    record(home, Ledger::SecurityAudit, &rows::stage_failed(leg, failed.code, now));
}
