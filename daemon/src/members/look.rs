//! Looking at records, packets and what was delivered, for the goals that members belong to.
//!
//! Stamps of folders and files are compared first: what did not change is not read again.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use jiff::Timestamp;
use lifecycle::members::{Leg, Packet, Record};
use team::compose::{self, Skipped};
use team::delivered::{self, Delivered};
use team::leg::PACKETS;
use team::{Home, identity, listing};

use super::convert;
use super::files::{Files, Goal};
use crate::causes::chain;
use crate::clock;

/// A file system's clock may be this coarse: what changed within it is read once more. In milliseconds.
const TICK: i64 = 1_000;

/// What a look found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) packets: Vec<Packet>,
    pub(super) members: Vec<FoundMember>,
}

/// One member as its record says.
#[derive(Debug)]
pub(super) struct FoundMember {
    pub(super) agent: String,
    pub(super) record: Result<Record, String>,
    /// Why nothing can be delivered to it.
    pub(super) problem: Option<String>,
}

/// How closely a look compares before it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Closeness {
    /// Folders only: whatever is filed by a rename, as the door does, changes them.
    Glance,
    /// Each file: one may have been written over in place.
    Close,
}

/// The state of what a look would read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Signature {
    stamps: Vec<(u64, u64, i64, i64)>,
    /// The youngest change, in milliseconds since 1970.
    youngest: i64,
    /// It is so young that the same stamps could belong to other bytes.
    is_fresh: bool,
}

impl Signature {
    fn same_as(&self, other: &Self) -> bool {
        !self.is_fresh && !self.stamps.is_empty() && self.stamps == other.stamps
    }

    fn look_at(&mut self, path: &Path) {
        if let Ok(meta) = path.symlink_metadata() {
            self.add(&meta);
        }
    }

    fn add(&mut self, meta: &Metadata) {
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        let modified = nanoseconds(meta.mtime(), meta.mtime_nsec());
        let changed = nanoseconds(meta.ctime(), meta.ctime_nsec());
        self.stamps.push((meta.ino(), meta.size(), modified, changed));
        self.youngest = self.youngest.max(changed / 1_000_000);
    }
}

/// Looks for these members.
pub(super) fn look(files: &mut Files, agents: &[String], how: Closeness, now: Timestamp) -> Found {
    files.settle().ok();
    let mut found = Found::default();
    // The rounds that somebody takes part in; `None`: all of them.
    let mut wanted: BTreeMap<String, Option<Vec<u32>>> = BTreeMap::new();
    for agent in agents {
        let record = record_of(&files.home, agent);
        if let Ok(record) = &record {
            let rounds = wanted.entry(record.goal.clone()).or_insert_with(|| Some(Vec::new()));
            match (rounds.as_mut(), record.round) {
                (Some(rounds), Some(round)) => rounds.push(round),
                (_, None) => *rounds = None,
                (None, _) => {}
            }
        }
        found.members.push(FoundMember { agent: agent.clone(), record, problem: None });
    }
    for rounds in wanted.values_mut().flatten() {
        rounds.sort_unstable();
        rounds.dedup();
    }
    files.goals.retain(|goal, _| wanted.contains_key(goal));
    let mut folders = vec![files.home.path().join(PACKETS)];
    for (goal, rounds) in &wanted {
        let before = files.goals.remove(goal).unwrap_or_default();
        let seen = look_at(files, goal, rounds.as_deref(), before, how, now);
        folders.extend(folders_of(files.home.path(), goal));
        found.packets.extend(seen.packets.iter().cloned());
        for member in &mut found.members {
            if let Some(record) = member.record.as_ref().ok().filter(|record| record.goal == *goal) {
                member.problem = seen.problem_of(record);
            }
        }
        files.goals.insert(goal.clone(), seen);
    }
    files.watching.watch(folders);
    found
}

/// The record of a member; the text says why it cannot get packets.
pub(super) fn record_of(home: &Home, agent: &str) -> Result<Record, String> {
    identity::member(home, agent).map_err(|error| error.to_string()).and_then(|own| convert::record(agent, own))
}

fn look_at(
    files: &mut Files,
    goal: &str,
    rounds: Option<&[u32]>,
    before: Goal,
    how: Closeness,
    now: Timestamp,
) -> Goal {
    let folders = signature(files.home.path(), goal, Closeness::Glance);
    let rounds_before = before.rounds.as_deref() == rounds;
    if rounds_before && how == Closeness::Glance && folders.same_as(&before.folders) {
        return before;
    }
    let close = signature(files.home.path(), goal, Closeness::Close);
    if rounds_before && close.same_as(&before.files) {
        return Goal { folders, ..before };
    }
    let rounds_now = rounds.map(<[u32]>::to_vec);
    let mut seen = Goal { folders, files: close, rounds: rounds_now, ..Goal::default() };
    let there = match listing::rounds(&files.home, goal) {
        Ok(there) => there,
        Err(error) => {
            seen.problems.push((None, format!("the packets of {goal} cannot be read: {}", chain(&error))));
            Vec::new()
        }
    };
    for round in there.into_iter().filter(|round| rounds.is_none_or(|wanted| wanted.contains(round))) {
        if let Err(problem) = look_at_round(files, goal, round, &mut seen.packets, now) {
            files.tell_once(problem.clone());
            seen.problems.push((Some(round), problem));
        }
    }
    seen
}

impl Goal {
    /// What keeps this member from getting packets: to leave a round out would change their order.
    fn problem_of(&self, record: &Record) -> Option<String> {
        let concerns = |round: &Option<u32>| round.is_none() || record.round.is_none() || *round == record.round;
        self.problems.iter().find(|(round, _)| concerns(round)).map(|(_, problem)| problem.clone())
    }
}

fn look_at_round(
    files: &mut Files,
    goal: &str,
    round: u32,
    packets: &mut Vec<Packet>,
    now: Timestamp,
) -> Result<(), String> {
    let delivered = delivered::read(&files.home, goal, round)
        .map_err(|error| format!("what was delivered of {goal} in round {round} cannot be read: {}", chain(&error)))?;
    if delivered.odd_lines > 0 {
        let count = delivered.odd_lines;
        files.tell_once(format!("{count} lines of {PACKETS}/{goal}/r{round}/{} are not ours", delivered::RECORD));
    }
    for way in Leg::ALL {
        let Ok(leg) = team::Leg::new(goal, round, convert::role_back(way.from()), convert::role_back(way.to())) else {
            continue;
        };
        let read = compose::read_leg(&files.home, &leg)
            .map_err(|error| format!("a leg of {goal} in round {round} cannot be read: {}", chain(&error)))?;
        let mut ids = Vec::new();
        for found in &read.packets {
            let id = found.packet.packet_id.as_str();
            // One that lies in two slots is one packet.
            if !ids.contains(&id) && !delivered.has(&leg, id) {
                packets.push(Packet { goal: goal.to_owned(), round, leg: way, slot: found.slot, id: id.to_owned() });
            }
            ids.push(id);
        }
        tell_skipped(files, &read, &delivered, now);
    }
    Ok(())
}

/// A file that cannot be delivered is told of once: a row of the audit, and one beside the packets that remembers it.
fn tell_skipped(files: &mut Files, read: &compose::Packets, delivered: &Delivered, now: Timestamp) {
    let new: Vec<&Skipped> = read.skipped.iter().filter(|skipped| !delivered.knows(skipped)).collect();
    let fault = |skipped: &Skipped| {
        let folder = format!("{PACKETS}/{}/r{}", read.leg.goal(), read.leg.round());
        format!("{folder}/{} is passed over: {}: {}", skipped.file, skipped.code, skipped.detail)
    };
    let unknown: Vec<&Skipped> = new.into_iter().filter(|skipped| !files.has_told(&fault(skipped))).collect();
    compose::record_skipped(&files.home, read, unknown.iter().copied(), now);
    if let (false, Err(failed)) = (unknown.is_empty(), read.for_stage()) {
        compose::record_failed_stage(&files.home, &read.leg, failed, now);
    }
    for skipped in unknown {
        // If it cannot be remembered there, this daemon remembers it.
        delivered::record_skipped(&files.home, &read.leg, skipped, now).ok();
        files.tell_once(fault(skipped));
    }
}

/// Stamps of the goal's folder, its rounds, what was delivered in them, and, looked at closely, every file but locks.
fn signature(home: &Path, goal: &str, how: Closeness) -> Signature {
    let mut signature = Signature::default();
    for folder in folders_of(home, goal) {
        signature.look_at(&folder);
        signature.look_at(&folder.join(delivered::RECORD));
        if how == Closeness::Glance {
            continue;
        }
        let entries = folder.read_dir().into_iter().flatten().flatten();
        let files = entries.filter(|entry| !entry.file_name().as_encoded_bytes().ends_with(b".lock"));
        let mut files: Vec<_> = files.map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            signature.look_at(&file);
        }
    }
    signature.is_fresh = signature.youngest + TICK > clock::Wall::now().unix_ms();
    signature
}

/// The goal's folder and those of its rounds, as far as they are there.
fn folders_of(home: &Path, goal: &str) -> Vec<std::path::PathBuf> {
    let goal = home.join(PACKETS).join(goal);
    let Ok(entries) = goal.read_dir() else { return Vec::new() };
    let is_round = |entry: &std::fs::DirEntry| {
        entry.file_name().as_encoded_bytes().starts_with(b"r") && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    let mut folders: Vec<_> = entries.flatten().filter(is_round).map(|entry| entry.path()).collect();
    folders.sort();
    folders.insert(0, goal);
    folders
}
