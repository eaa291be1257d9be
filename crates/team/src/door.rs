//! The tool `team_handoff`: one call from its arguments to the packet on disk and the rows in the ledgers, or a refusal.
//!
//! The order of the checks is fixed, so that a caller with several faults is always told the same one: caller id,
//! argument, forbidden keys, member record, shape, rules, role, task, round, edge, path, filing.

use jiff::Timestamp;
use packet::{TaskPacket, door};
use serde_json::{Map, Value};

use crate::filing;
use crate::fill::{cross_check, fill};
use crate::home::Home;
use crate::identity::{self, Member, NoMember};
use crate::ledger::{Ledger, record};
use crate::leg::{Leg, NoPlace, ROUND_MAX};
use crate::part::is_path_part;
use crate::refusal::{Code, Refusal};
use crate::rows;

/// The door of one caller.
#[derive(Debug, Clone)]
pub struct Door {
    home: Home,
    agent_id: String,
}

/// A packet that lies in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filed {
    /// Below the home.
    pub path: String,
    /// The size of the file, and what the cap counted (D37).
    pub bytes: usize,
    /// A slot before it is missing, so the composer will not get to it (D35).
    pub behind_gap: bool,
}

impl Filed {
    /// The tool's answer: `{"ok": true, "path", "bytes"}`, with `"behind_gap": true` where it applies.
    #[must_use]
    pub fn answer(&self) -> Value {
        let mut answer = serde_json::json!({"ok": true, "path": self.path, "bytes": self.bytes});
        if self.behind_gap
            && let Some(members) = answer.as_object_mut()
        {
            members.insert("behind_gap".to_owned(), true.into());
        }
        answer
    }
}

impl Door {
    /// The door for the caller that its process was started as; the id is judged at each call.
    #[must_use]
    pub fn new(home: Home, agent_id: impl Into<String>) -> Self {
        Self { home, agent_id: agent_id.into() }
    }

    /// Who the caller is.
    #[must_use]
    pub fn agent_id(&self) -> &str {
        &self.agent_id
    }

    /// Handles one call. Arguments that are no object count as `{}`, for the caller to bring about (D75).
    ///
    /// After a success the packet is durable, and the rows were written or their failure was logged (D38).
    ///
    /// # Errors
    ///
    /// [`Refusal`]. Nothing was written then but a row in `tool_calls.jsonl`, and, for `write_failed`, empty folders and
    /// the lock file.
    pub fn handoff(&self, arguments: &Map<String, Value>, now: Timestamp) -> Result<Filed, Refusal> {
        match self.file(arguments) {
            Ok((packet, filed)) => {
                let artifact = rows::artifact(&self.home, &self.agent_id, &packet, &filed, now);
                record(&self.home, Ledger::Artifacts, &artifact);
                record(&self.home, Ledger::SecurityAudit, &rows::filed(&self.agent_id, &packet, &filed, now));
                Ok(filed)
            }
            Err(refusal) => {
                self.record_denied(arguments, refusal.code.as_str(), &refusal.message, now);
                Err(refusal)
            }
        }
    }

    /// Keeps that a call was turned away before it came to this door, with the same row as a refusal (D75).
    pub fn record_denied(&self, arguments: &Map<String, Value>, code: &str, message: &str, now: Timestamp) {
        record(&self.home, Ledger::ToolCalls, &rows::refused(&self.agent_id, arguments, code, message, now));
    }

    fn file(&self, arguments: &Map<String, Value>) -> Result<(TaskPacket, Filed), Refusal> {
        if !is_path_part(&self.agent_id) {
            let message = "the agent id of this process is not 1 to 64 of `A-Z a-z 0-9 _ -`: start the server with \
                           `--agent-id ID`";
            return Err(Refusal::new(Code::InvalidAgentId, message));
        }
        let Some(argument) = arguments.get("packet") else {
            return Err(Refusal::new(Code::MissingPacket, "`packet` is missing: it is the one argument of this tool"));
        };
        let mut object = door::open(argument.clone())?;
        let member = self.member()?;
        fill(&mut object, &member);
        let packet = door::admit(object)?;
        cross_check(&packet, &member)?;
        let leg = place(&packet, &member)?;
        let bytes = packet.normalized().into_bytes();
        let place = filing::file(&self.home, &leg, &packet.packet_id, &bytes)
            .map_err(|error| Refusal::new(Code::WriteFailed, format!("could not file the packet: {error}")))?;
        let filed = Filed { path: leg.path(place.slot), bytes: bytes.len(), behind_gap: place.behind_gap };
        Ok((packet, filed))
    }

    fn member(&self) -> Result<Member, Refusal> {
        identity::member(&self.home, &self.agent_id).map_err(|why| match why {
            NoMember::NotAMember(why) => Refusal::new(Code::NotATeamMember, why),
            NoMember::Unreadable(why) => Refusal::new(Code::TeamMemberUnreadable, why),
        })
    }
}

/// The leg of a packet. The message names the record's key where the record pins the value, else the packet's (D61).
fn place(packet: &TaskPacket, member: &Member) -> Result<Leg, Refusal> {
    Leg::new(&packet.goal_id, packet.round, packet.from_role, packet.to_role).map_err(|why| {
        let message = match why {
            NoPlace::Goal => {
                let key = if member.task_id.is_some() { "task_id" } else { "goal_id" };
                format!("`{key}` cannot be part of a path: it must be 1 to 64 of `A-Z a-z 0-9 _ -`")
            }
            NoPlace::Round => format!("`round` is {}: rounds end at {ROUND_MAX}", packet.round),
        };
        Refusal::new(Code::InvalidPathComponent, message)
    })
}
