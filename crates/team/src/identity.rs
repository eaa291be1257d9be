//! Who a caller is: the record of its id below the home, and nothing else (D33).
//!
//! `agents/.ephemeral/<id>/agent.toml` for ids that begin with `eph-`, else `agents/<id>/agent.toml`. The table
//! `[team_member]` says role, task and round; without it `[agent] role` counts where it is a role of a team.

use packet::Role;
use store::{Folder, Kind};
use toml::{Table, Value};

use crate::home::{Home, HomeError};
use crate::part::is_path_part;

/// The folder of agents, below the home.
pub(crate) const AGENTS: &str = "agents";
/// The folder of members that live for one round, below that.
pub(crate) const EPHEMERAL: &str = ".ephemeral";
/// How the ids of those members begin.
pub(crate) const EPHEMERAL_PREFIX: &str = "eph-";
/// The record's file.
pub(crate) const RECORD: &str = "agent.toml";
/// A longer record is not read. In bytes.
const RECORD_MAX_BYTES: usize = 64 << 10;

/// What a record says of its member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its role, the only one it may send as.
    pub role: Role,
    /// The task it is pinned to, if it is.
    pub task_id: Option<String>,
    /// The round it is pinned to, if it is.
    pub round: Option<u32>,
    /// On whose behalf it was made; told, never used.
    pub parent: Option<String>,
}

/// Why an id is nobody's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoMember {
    /// No record, or one that says nothing of a team. The text says which.
    #[error("{0}")]
    NotAMember(String),
    /// There is a table `[team_member]` that cannot be used. The text says why.
    #[error("{0}")]
    Unreadable(String),
}

/// Reads the record of an agent.
///
/// # Errors
///
/// See [`NoMember`].
pub fn member(home: &Home, agent_id: &str) -> Result<Member, NoMember> {
    if !is_path_part(agent_id) {
        return Err(NoMember::NotAMember("an agent's id is 1 to 64 of `A-Z a-z 0-9 _ -`".to_owned()));
    }
    let absent = |why: String| {
        let remedy = "make a record with `handoff team add ROLE --goal ID --round N`";
        NoMember::NotAMember(format!("`{agent_id}` is no member of a team: {why}; {remedy}"))
    };
    let folder = match folder(home, agent_id) {
        Ok(Some(folder)) => folder,
        Ok(None) => return Err(absent(format!("there is no {AGENTS}/{agent_id} in the home"))),
        Err(error) => return Err(absent(error.to_string())),
    };
    let bytes = match folder.read(RECORD, RECORD_MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => return Err(absent(format!("its {RECORD} is not readable: {error}"))),
    };
    let Ok(text) = String::from_utf8(bytes) else { return Err(absent(format!("its {RECORD} is not UTF-8"))) };
    parse(&text).map_err(|why| match why {
        NoMember::NotAMember(why) => absent(why),
        NoMember::Unreadable(why) => NoMember::Unreadable(format!("the record of `{agent_id}` cannot be used: {why}")),
    })
}

/// The folder with the agent's record. A link, or an ephemeral folder without a record, is passed over.
pub(crate) fn folder(home: &Home, agent_id: &str) -> Result<Option<Folder>, HomeError> {
    if agent_id.len() > EPHEMERAL_PREFIX.len() && agent_id.starts_with(EPHEMERAL_PREFIX) {
        let ephemeral = home.open_below(&[AGENTS, EPHEMERAL, agent_id]).ok().flatten();
        let with_record = ephemeral.filter(|folder| matches!(folder.kind(RECORD), Ok(Some(Kind::File))));
        if with_record.is_some() {
            return Ok(with_record);
        }
    }
    home.open_below(&[AGENTS, agent_id])
}

/// Reads the text of a record.
fn parse(text: &str) -> Result<Member, NoMember> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let record: Table = text
        .parse()
        .map_err(|error: toml::de::Error| NoMember::NotAMember(format!("{RECORD} is not TOML: {}", error.message())))?;
    match record.get("team_member") {
        Some(Value::Table(table)) => pinned(table).map_err(NoMember::Unreadable),
        Some(_) => Err(NoMember::Unreadable("`team_member` is not a table".to_owned())),
        None => by_agent_role(&record),
    }
}

fn pinned(table: &Table) -> Result<Member, String> {
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("`team_member.{key}` is not a string")),
    };
    let role = text("role")?.ok_or("`team_member.role` is missing")?;
    let role = team_role(role).ok_or_else(|| format!("`team_member.role` is none of {}", roles()))?;
    let round = match table.get("round") {
        None => None,
        Some(Value::Integer(round)) => {
            Some(u32::try_from(*round).map_err(|_| "`team_member.round` is no round".to_owned())?)
        }
        Some(_) => return Err("`team_member.round` is not an integer".to_owned()),
    };
    let task_id = text("task_id")?.map(str::to_owned);
    // Not ours to judge: unknown keys are left alone, and so is who made it.
    let parent = table.get("parent").and_then(Value::as_str).map(str::to_owned);
    Ok(Member { role, task_id, round, parent })
}

fn by_agent_role(record: &Table) -> Result<Member, NoMember> {
    let role = record.get("agent").and_then(Value::as_table).and_then(|agent| agent.get("role"));
    let role = role.and_then(Value::as_str).and_then(|role| team_role(role.trim()));
    let absent = || NoMember::NotAMember(format!("{RECORD} has no [team_member] and no [agent] role of a team"));
    Ok(Member { role: role.ok_or_else(absent)?, task_id: None, round: None, parent: None })
}

/// Looser than in a packet: letters of either case.
fn team_role(word: &str) -> Option<Role> {
    Role::ALL.iter().copied().find(|role| role.as_str().eq_ignore_ascii_case(word))
}

fn roles() -> String {
    Role::WORDS.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: (Role, Option<&str>, Option<u32>)) {
        let member = parse(text).unwrap();
        assert_eq!((member.role, member.task_id.as_deref(), member.round), expected, "{text}");
    }

    #[test]
    fn what_the_record_leaves_open_is_open() {
        check("[team_member]\nrole = 'planner'", (Role::Planner, None, None));
        check("[team_member]\nrole = ' VERIFIER '\ntask_id = ' g '\nround = 0x2", (Role::Verifier, Some("g"), Some(2)));
        check("[team_member]\nrole = 'planner'\ntask_id = '  '", (Role::Planner, None, None));
        check("\u{feff}team_member = { role = 'utility', x = [1] }", (Role::Utility, None, None));
        check("[agent]\nrole = ' Planner '", (Role::Planner, None, None));
    }

    #[test]
    fn a_broken_table_is_never_passed_over() {
        for text in [
            "team_member = 1",
            "[[team_member]]\nrole = 'planner'",
            "[team_member]",
            "[team_member]\nrole = 'boss'",
            "[team_member]\nrole = 'planner'\nround = 2.0",
            "[team_member]\nrole = 'planner'\nround = -1",
            "[team_member]\nrole = 'planner'\nround = 4294967296",
            "[team_member]\nrole = 'planner'\ntask_id = 5",
            "[agent]\nrole = 'planner'\n[team_member]\nrole = ''",
        ] {
            assert!(matches!(parse(text), Err(NoMember::Unreadable(_))), "{text}");
        }
    }

    #[test]
    fn without_a_table_only_a_role_of_a_team_counts() {
        for text in ["", "[agent]\nrole = 'main'", "[agent.team_member]\nrole = 'planner'", "[team_member", "agent = 1"]
        {
            assert!(matches!(parse(text), Err(NoMember::NotAMember(_))), "{text}");
        }
    }
}
