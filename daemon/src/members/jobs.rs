//! File work for members, on the pool, one job at a time in the order in which they came.

use std::sync::Arc;

use jiff::Timestamp;
use lifecycle::members::{ClaimResult, Packet};
use lifecycle::{Conn, Process, Wall};
use packet::TaskPacket;
use queue::DispatchId;
use team::delivered::{self, Claimant, Claimed, DeliveredError};

use super::Arrival;
use super::attach::{self, Disk};
use super::convert;
use super::files::{Files, Owed};
use super::look::{self, Closeness, Found};
use crate::causes::chain;
use crate::hub::Hub;

/// One piece of work.
#[derive(Debug)]
pub(super) enum Job {
    /// What the disk says of a member that attaches.
    Attach(Box<Arrival>),
    /// A look at everything that members could get.
    Look(Closeness),
    /// A claim.
    Claim { agent: String, packet: Packet, dispatch: DispatchId, session_id: String, process: Process },
    /// A step of a dispatch.
    Record(Owed),
    /// The packet of a dispatch that is sent again, read once more.
    Again { conn: Conn, dispatch: DispatchId, packet: Packet, expires: Wall },
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Done {
    Attached(Box<Arrival>, Result<Box<Disk>, String>),
    Looked(Found),
    Claimed { dispatch: DispatchId, result: ClaimResult, packet: Option<Box<TaskPacket>> },
    Recorded,
    Again { conn: Conn, dispatch: DispatchId, at: Packet, expires: Wall, packet: Option<Box<TaskPacket>> },
}

/// What a job may know of the daemon.
pub(super) struct Context {
    pub(super) hub: Arc<Hub>,
    pub(super) now: Timestamp,
    /// Every attached member.
    pub(super) agents: Vec<String>,
}

impl Files {
    /// Does it. Blocking.
    pub(super) fn perform(&mut self, job: Job, context: &Context) -> Done {
        match job {
            Job::Attach(arrival) => {
                self.settle().ok();
                let disk = attach::disk(&self.home, &arrival, &context.hub).map(Box::new);
                Done::Attached(arrival, disk)
            }
            Job::Look(how) => Done::Looked(look::look(self, &context.agents, how, context.now)),
            Job::Claim { agent, packet, dispatch, session_id, process } => {
                let by = Claimant {
                    dispatch_id: dispatch.to_string(),
                    agent_id: agent,
                    session_id,
                    pid: process.pid,
                    started: process.started,
                };
                let (result, packet) = self.claim(&packet, &by, context.now);
                Done::Claimed { dispatch, result, packet }
            }
            Job::Record(owed) => {
                self.record(owed);
                Done::Recorded
            }
            Job::Again { conn, dispatch, packet: at, expires } => {
                let packet = convert::address(&at).ok().and_then(|leg| delivered::packet(&self.home, &leg, at.slot));
                let packet = packet.filter(|packet| packet.packet_id == at.id).map(Box::new);
                Done::Again { conn, dispatch, at, expires, packet }
            }
        }
    }

    fn claim(&mut self, packet: &Packet, by: &Claimant, now: Timestamp) -> (ClaimResult, Option<Box<TaskPacket>>) {
        // A claim that was taken back must be on record as such first.
        if let Err(words) = self.settle() {
            return (ClaimResult::Failed(words), None);
        }
        let Ok(leg) = convert::address(packet) else { return (ClaimResult::Taken, None) };
        match delivered::claim(&self.home, &leg, packet.slot, &packet.id, by, now) {
            Ok(Claimed::Done(found)) => (ClaimResult::Done, Some(found)),
            Ok(Claimed::Taken) | Err(DeliveredError::NoRound) => {
                // What the last look found is not what lies there.
                self.goals.remove(&packet.goal);
                (ClaimResult::Taken, None)
            }
            Err(error) => (ClaimResult::Failed(chain(&error)), None),
        }
    }
}
