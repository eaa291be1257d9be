//! What the record adds to a packet, and what it must not contradict. A value that the caller wrote is never changed.

use packet::TaskPacket;
use serde_json::{Map, Value};

use crate::edge;
use crate::identity::Member;
use crate::refusal::{Code, Refusal};

/// Adds the keys that are absent and that the record knows. `to_role` follows the record's role, not a written one.
pub(crate) fn fill(packet: &mut Map<String, Value>, member: &Member) {
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value
            && !packet.contains_key(key)
        {
            packet.insert(key.to_owned(), value);
        }
    };
    add("from_role", Some(member.role.as_str().into()));
    add("to_role", member.role.sends_to().map(|to| to.as_str().into()));
    add("goal_id", member.task_id.clone().map(Value::from));
    add("round", member.round.map(Value::from));
}

/// Compares what the packet claims with the record: role, then task, then round; then the edge.
pub(crate) fn cross_check(packet: &TaskPacket, member: &Member) -> Result<(), Refusal> {
    if packet.from_role != member.role {
        let (claimed, own) = (packet.from_role, member.role);
        let message = format!("`from_role` is `{claimed}`, but you are the `{own}`: leave it out or write your own");
        return Err(Refusal::new(Code::FromRoleMismatch, message));
    }
    if member.task_id.as_ref().is_some_and(|task| *task != packet.goal_id) {
        let message = "`goal_id` is not the task you were assigned: leave it out or write your own";
        return Err(Refusal::new(Code::TaskIdMismatch, message));
    }
    if let Some(own) = member.round.filter(|round| *round != packet.round) {
        let message =
            format!("`round` is {}, but you are in round {own}: leave it out or write your own", packet.round);
        return Err(Refusal::new(Code::RoundMismatch, message));
    }
    if !edge::is_legal(packet.from_role, packet.to_role) {
        let (from, to) = (packet.from_role, packet.to_role);
        let message = format!("{from} → {to} is no handoff: the legal ones are {}", edge::listed());
        return Err(Refusal::new(Code::InvalidHandoffEdge, message));
    }
    Ok(())
}
