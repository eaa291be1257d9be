//! Packets and records between the crates `team` and `lifecycle`.

use lifecycle::members::{Ending, Leg, Packet, Record, Role};
use team::delivered::State;
use team::identity::Member;

pub(super) fn role(role: packet::Role) -> Role {
    match role {
        packet::Role::Planner => Role::Planner,
        packet::Role::Executor => Role::Executor,
        packet::Role::Verifier => Role::Verifier,
        packet::Role::Utility => Role::Utility,
    }
}

pub(super) fn role_back(role: Role) -> packet::Role {
    match role {
        Role::Planner => packet::Role::Planner,
        Role::Executor => packet::Role::Executor,
        Role::Verifier => packet::Role::Verifier,
        Role::Utility => packet::Role::Utility,
    }
}

/// The way of a leg that a packet can take.
pub(super) fn leg(from: packet::Role, to: packet::Role) -> Option<Leg> {
    Leg::ALL.into_iter().find(|leg| (leg.from(), leg.to()) == (role(from), role(to)))
}

/// Where a packet lies.
pub(super) fn address(packet: &Packet) -> Result<team::Leg, team::leg::NoPlace> {
    team::Leg::new(&packet.goal, packet.round, role_back(packet.leg.from()), role_back(packet.leg.to()))
}

/// What a record says, if it says enough: packets are addressed by role and goal.
pub(super) fn record(agent_id: &str, member: Member) -> Result<Record, String> {
    let Some(goal) = member.task_id else {
        return Err(format!(
            "the record of `{agent_id}` names no goal (`task_id`), and packets are addressed by goal; \
             `handoff team add {} --goal ID` makes one that does",
            member.role
        ));
    };
    let round = member.round.unwrap_or(0);
    if let Err(why) = team::Leg::new(&goal, round, member.role, member.role) {
        return Err(format!("the record of `{agent_id}` names a place that no packet has: {why}"));
    }
    Ok(Record { role: role(member.role), goal, round: member.round })
}

/// How a claim ended, if it did.
pub(super) fn ending(state: &State) -> Option<Ending> {
    match state {
        State::Open | State::Released => None,
        State::Ended(None) => Some(Ending::Settled),
        State::Ended(Some(reason)) => Some(Ending::Otherwise(reason.clone())),
    }
}
