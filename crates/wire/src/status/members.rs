//! Team members in the status document.

use super::{DeliveryState, SessionStatus};
use crate::object::objects;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A team member: a session that gets packets, and no tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct MemberStatus {
    /// The id of its record.
    pub agent_id: String,
    /// Its role in the team; `null` while its record is gone.
    pub role: Option<String>,
    /// The goal whose packets it gets: the id of a task (D74).
    pub goal: Option<String>,
    /// The only round whose packets it gets; `null`: all.
    pub round: Option<u32>,
    /// The session that has the member's place.
    pub session: Option<SessionStatus>,
    /// Sessions next in line for it.
    pub standby: u32,
    /// The packet that it is at work on.
    pub packet: Option<MemberPacket>,
    /// Packets that wait for a member of its role, goal and round.
    pub waiting: u32,
    /// One sentence.
    pub why: Option<String>,
}

/// The packet that a member is at work on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct MemberPacket {
    /// 32 hexadecimal digits.
    pub dispatch_id: String,
    /// The packet's own id.
    pub packet_id: String,
    /// The packet's file.
    pub packet_path: String,
    /// When it was first sent, RFC 3339.
    pub since: String,
    /// How far its message got.
    pub delivery: DeliveryState,
}

objects!(MemberStatus, MemberPacket);
