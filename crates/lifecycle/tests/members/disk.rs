//! The disk of the small world: jobs in their order, claims that last, looks.

use lifecycle::Wall;
use lifecycle::members::{Attach, Change, ClaimResult, Event, Look, Open, Packet, Seen};

use crate::rig::record;
use crate::sim::{Claim, Job, Mutant, World, role};

impl World {
    pub(crate) fn look(&mut self) {
        if self.daemon.is_some() && !self.jobs.iter().any(|job| matches!(job, Job::Look)) {
            self.jobs.push_back(Job::Look);
        }
    }

    pub(crate) fn is_claimed(&self, packet: &Packet) -> bool {
        self.claims.iter().any(|claim| claim.packet == *packet && !claim.released)
    }

    pub(crate) fn run_job(&mut self) -> Result<(), String> {
        match self.jobs.pop_front() {
            None => Ok(()),
            Some(Job::Look) => self.looked(),
            Some(Job::Attach(attach)) => self.attach(*attach),
            Some(Job::Append(dispatch, change)) => {
                if self.disk_is_full {
                    self.jobs.push_front(Job::Append(dispatch, change)); // kept, and tried again before anything else
                    return Ok(());
                }
                if let Some(claim) = self.claims.iter_mut().find(|claim| claim.dispatch == dispatch) {
                    match change {
                        Change::Accepted => claim.accepted = true,
                        Change::Released(_) => claim.released = true,
                        Change::Ended(ending) => claim.ended = Some(ending),
                        Change::Sent | Change::Refused(_) => {}
                    }
                }
                Ok(())
            }
            Some(Job::Claim { agent, packet, dispatch, session_id, process }) => {
                let result = if self.disk_is_full {
                    ClaimResult::Failed("no space left on device".into())
                } else if self.is_claimed(&packet) && self.mutant != Mutant::BlindClaims {
                    ClaimResult::Taken
                } else {
                    let (accepted, ended, released) = (false, None, false);
                    let packet = packet.clone();
                    self.claims.push(Claim { dispatch, packet, agent, session_id, process, accepted, ended, released });
                    ClaimResult::Done
                };
                if matches!(result, ClaimResult::Failed(_)) {
                    self.marks.insert("disk full");
                    self.offered.push(packet);
                }
                self.step(Event::Claimed { dispatch, result })
            }
        }
    }

    pub(crate) fn looked(&mut self) -> Result<(), String> {
        let blind = self.mutant == Mutant::BlindClaims;
        let open = self.filed.iter().filter(|own| blind || !self.is_claimed(own));
        let packets: Vec<Packet> = open.cloned().collect();
        let Some(machine) = &self.daemon else { return Ok(()) };
        let views = machine.view();
        let held: Vec<Packet> =
            views.iter().filter_map(|view| view.open.as_ref()).map(|own| own.packet.clone()).collect();
        let claiming =
            |own: &Packet| self.jobs.iter().any(|job| matches!(job, Job::Claim { packet, .. } if packet == own));
        self.offered = packets.iter().filter(|own| !held.contains(own) && !claiming(own)).cloned().collect();
        let seen =
            views.into_iter().map(|view| Seen { record: Ok(record(role(&view.agent))), agent: view.agent, held: None });
        let members = seen.collect();
        self.step(Event::Looked(Look { packets, members }))
    }

    pub(crate) fn attach(&mut self, mut attach: Attach) -> Result<(), String> {
        let Some(session) = self.sessions.iter().find(|own| own.conn == Some(attach.conn)) else { return Ok(()) };
        // What it says is of the moment in which it asked; what happened since comes after it.
        attach.process = session.process;
        let open =
            self.claims.iter().rev().find(|own| own.agent == attach.agent && own.ended.is_none() && !own.released);
        attach.open = open.map(|claim| Open {
            dispatch: claim.dispatch,
            packet: claim.packet.clone(),
            session_id: claim.session_id.clone(),
            process: claim.process,
            alive: self.sessions.iter().any(|own| own.process == claim.process && own.alive),
            accepted: claim.accepted,
            since: Wall(0),
        });
        self.step(Event::Attach(Box::new(attach)))
    }
}
