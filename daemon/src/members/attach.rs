//! What must be known from the disk before a session is attached as a member.

use lifecycle::Process;
use lifecycle::members::{Ending, Open, Packet, Record};
use queue::DispatchId;
use team::delivered::{self, Claim, State};
use team::{Home, listing};
use wire::session::KnownDispatch;

use super::Arrival;
use super::convert;
use super::look;
use crate::clock;
use crate::hub::Hub;

/// What the disk says of a member.
#[derive(Debug)]
pub(super) struct Disk {
    pub(super) record: Record,
    /// Its claim that neither ended nor was taken back.
    pub(super) open: Option<Open>,
    /// How the dispatch that the session knows ended.
    pub(super) past: Option<Ending>,
}

/// Reads it. Blocking.
///
/// # Errors
/// Why it is no member that could get packets, for people.
pub(super) fn disk(home: &Home, arrival: &Arrival, hub: &Hub) -> Result<Disk, String> {
    let record = look::record_of(home, &arrival.agent_id)?;
    let claims = claims(home, &record);
    let known = match &arrival.attach.known_dispatch {
        KnownDispatch::Known(delivery) => Some(delivery.dispatch_id.as_str()),
        KnownDispatch::None | KnownDispatch::NotTold => None,
    };
    let past = claims.iter().find(|(_, claim)| Some(claim.by.dispatch_id.as_str()) == known);
    let past = past.and_then(|(_, claim)| convert::ending(&claim.state));
    let own = claims.iter().filter(|(_, claim)| claim.by.agent_id == arrival.agent_id && claim.state == State::Open);
    let open = own.max_by_key(|(_, claim)| claim.at).and_then(|(round, claim)| open(*round, claim, &record, hub));
    Ok(Disk { record, open, past })
}

/// All claims of the goal's rounds, with their rounds. A round whose record cannot be read is told of by the look.
fn claims(home: &Home, record: &Record) -> Vec<(u32, Claim)> {
    let mut all = Vec::new();
    for round in listing::rounds(home, &record.goal).unwrap_or_default() {
        let read = delivered::read(home, &record.goal, round).unwrap_or_default();
        all.extend(read.claims.into_iter().map(|claim| (round, claim)));
    }
    all
}

fn open(round: u32, claim: &Claim, record: &Record, hub: &Hub) -> Option<Open> {
    let process = Process { pid: claim.by.pid, started: claim.by.started };
    Some(Open {
        dispatch: DispatchId::parse(&claim.by.dispatch_id)?,
        packet: Packet {
            goal: record.goal.clone(),
            round,
            leg: convert::leg(claim.from, claim.to)?,
            slot: claim.slot,
            id: claim.packet_id.clone(),
        },
        session_id: claim.by.session_id.clone(),
        process,
        alive: crate::processes::is_alive(&hub.claimant, process),
        accepted: claim.accepted,
        since: lifecycle::Wall(clock::Wall::from_unix_ms(claim.at.as_millisecond()).unix_ms()),
    })
}
