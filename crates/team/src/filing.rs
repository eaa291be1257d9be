//! Putting a packet into its slot (D34, D62): under the leg's lock, as a private file that then takes the name.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::time::Duration;

use serde_json::{Map, Value};
use store::{Folder, IoFault, ReadError, Temporary};

use crate::home::{Home, HomeError};
use crate::leg::{Leg, PACKETS, SLOTS};

/// How long the lock of a leg is waited for. Each holder has two syncs to do.
const PATIENCE: Duration = Duration::from_secs(20);
/// A longer file in a slot is not looked into for its `packet_id`, and counts as somebody else's. In bytes.
const LOOKED_INTO_MAX_BYTES: usize = 256 << 10;

/// Where a packet came to lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) slot: u8,
    /// A lower slot is free, so that the composer does not get that far (D35).
    pub(crate) behind_gap: bool,
}

/// Why a packet was not filed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilingError {
    #[error("all {SLOTS} slots of this leg are taken (the plain file and .01 to .99): use another round")]
    Full,
    #[error("{0}{advice}", advice = in_brackets(.0.advice()))]
    Home(#[from] HomeError),
    #[error("{0}{advice}", advice = in_brackets(.0.advice()))]
    Io(#[from] IoFault),
}

fn in_brackets(advice: Option<&str>) -> String {
    advice.map(|advice| format!(" ({advice})")).unwrap_or_default()
}

/// What is to be done with the slot that was chosen.
enum Choice {
    /// It is free.
    New(u8),
    /// It holds this very packet.
    Own(u8),
}

/// Files the packet, durably: after this the new file is there, or (on an error) the old one or none.
pub(crate) fn file(home: &Home, leg: &Leg, packet_id: &str, bytes: &[u8]) -> Result<Place, FilingError> {
    let packets = home.open_or_make()?.open_or_make(PACKETS)?;
    let folder = packets.open_or_make(leg.goal())?.open_or_make(&leg.round_folder())?;
    let _lock = folder.lock_file(&leg.lock(), PATIENCE)?;
    let mut taken = taken(&folder, leg)?;
    let temporary = Temporary::create(&folder, &leg.file(0), 0o600)?;
    temporary.fill(bytes)?;
    loop {
        match choose(&folder, leg, packet_id, &taken)? {
            Choice::Own(slot) => {
                temporary.put_over(&leg.file(slot))?;
                return Ok(Place { slot, behind_gap: (0..slot).any(|lower| !taken.contains(&lower)) });
            }
            Choice::New(slot) => match temporary.publish(&leg.file(slot)) {
                // A writer without our lock, on a file system that has none, was quicker.
                Err(fault) if fault.kind() == ErrorKind::AlreadyExists => taken.insert(slot),
                outcome => return Ok(outcome.map(|()| Place { slot, behind_gap: false })?),
            },
        };
    }
}

/// The slots that have a file, or anything else. What crashes have left is cleared away on the way.
fn taken(folder: &Folder, leg: &Leg) -> Result<BTreeSet<u8>, IoFault> {
    let mut taken = BTreeSet::new();
    for name in folder.list()? {
        if Temporary::is_leftover(&leg.file(0), &name) {
            // We hold the lock, so nobody is writing it. One that cannot go does no harm.
            folder.unlink(&name).ok();
        }
        taken.extend(leg.slot_of(&name));
    }
    Ok(taken)
}

/// The packet's own slot wherever it is, else the lowest free one.
fn choose(folder: &Folder, leg: &Leg, packet_id: &str, taken: &BTreeSet<u8>) -> Result<Choice, FilingError> {
    for slot in taken {
        if id_in(folder, &leg.file(*slot))?.as_deref() == Some(packet_id) {
            return Ok(Choice::Own(*slot));
        }
    }
    let free = (0..SLOTS).find(|slot| !taken.contains(slot));
    free.map(Choice::New).ok_or(FilingError::Full)
}

/// The `packet_id` of a file, whatever else it holds. A file that we may not read is somebody else's and stays; one that
/// a fault keeps from us may be this very packet, which must not be filed twice.
fn id_in(folder: &Folder, name: &str) -> Result<Option<String>, IoFault> {
    let bytes = match folder.read(name, LOOKED_INTO_MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(ReadError::Io(fault)) if fault.kind() != ErrorKind::PermissionDenied => return Err(fault),
        Err(_) => return Ok(None),
    };
    let packet: Option<Map<String, Value>> = serde_json::from_slice(&bytes).ok();
    Ok(match packet.and_then(|mut packet| packet.remove("packet_id")) {
        Some(Value::String(id)) => Some(id),
        _ => None,
    })
}
