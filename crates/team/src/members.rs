//! Records of members that live for one round: made, listed and removed (D74).
//!
//! A record is `agents/.ephemeral/<id>/agent.toml`; the id says on whose behalf, in which round and as what.

use packet::Role;
use store::{IoFault, Kind, Temporary};

use crate::home::{Home, HomeError};
use crate::identity::{self, AGENTS, EPHEMERAL, EPHEMERAL_PREFIX, Member, NoMember, RECORD};
use crate::leg::{Leg, NoPlace};
use crate::part::is_path_part;

/// How much of the parent's id stands in a member's. In characters.
const PARENT_MAX_CHARS: usize = 24;
/// How often another id is drawn when one is taken.
const TRIES: usize = 16;

/// A new member, before it has an id.
#[derive(Debug, Clone)]
pub struct NewMember<'a> {
    /// Its role.
    pub role: Role,
    /// The task that it is pinned to.
    pub goal: &'a str,
    /// The round that it is pinned to.
    pub round: u32,
    /// On whose behalf; an agent's id.
    pub parent: &'a str,
}

/// A member in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Whether it lives for one round only; `remove` takes no other.
    pub ephemeral: bool,
    /// Its record, or why there is none that can be used.
    pub member: Result<Member, NoMember>,
}

/// A record could not be made or removed.
#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    /// The goal or the round has no place.
    #[error(transparent)]
    NoPlace(#[from] NoPlace),
    /// Not an agent's id.
    #[error("`{0}` is no agent id: it must be 1 to 64 of `A-Z a-z 0-9 _ -`")]
    NoId(String),
    /// There is no such member.
    #[error("there is no member `{0}` in {AGENTS}/{EPHEMERAL}")]
    Unknown(String),
    /// The folder has more than a record in it.
    #[error("the folder of `{id}` also holds `{name}`, which is not ours: remove it yourself")]
    NotOurs {
        /// The member.
        id: String,
        /// What else is there.
        name: String,
    },
    /// Every id that was drawn is taken.
    #[error("no free id was found")]
    NoFreeId,
    /// The home cannot be opened or made.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The system refused.
    #[error(transparent)]
    Io(#[from] IoFault),
}

/// Makes a record, durably, and says its id.
///
/// # Errors
///
/// See [`MemberError`].
pub fn add(home: &Home, new: &NewMember<'_>) -> Result<String, MemberError> {
    Leg::new(new.goal, new.round, new.role, new.role)?;
    if !is_path_part(new.parent) {
        return Err(MemberError::NoId(new.parent.to_owned()));
    }
    let all = home.open_or_make()?.open_or_make(AGENTS)?.open_or_make(EPHEMERAL)?;
    for _ in 0..TRIES {
        let id = draw_id(new);
        if all.kind(&id)?.is_some() {
            continue;
        }
        let folder = all.open_or_make(&id)?;
        let record = Temporary::create(&folder, RECORD, 0o600)?;
        record.fill(text(new).as_bytes())?;
        match record.publish(RECORD) {
            // Another process drew the same id at the same moment.
            Err(fault) if fault.kind() == std::io::ErrorKind::AlreadyExists => {}
            outcome => return Ok(outcome.map(|()| id)?),
        }
    }
    Err(MemberError::NoFreeId)
}

fn draw_id(new: &NewMember<'_>) -> String {
    // All of it is ASCII, and at most 64 long.
    let parent = &new.parent[..new.parent.len().min(PARENT_MAX_CHARS)];
    let digits = fastrand::u32(..) & 0x00ff_ffff;
    format!("{EPHEMERAL_PREFIX}{parent}-r{}-{}-{digits:06x}", new.round, new.role)
}

fn text(new: &NewMember<'_>) -> String {
    let NewMember { role, goal, round, parent } = new;
    // Goal and parent are letters, digits and two signs: nothing in them needs an escape.
    format!(
        "[agent]\nrole = \"worker\"\n\n[team_member]\nrole = \"{role}\"\ntask_id = \"{goal}\"\nround = {round}\nparent = \"{parent}\"\n"
    )
}

/// The members: all that live for one round, and of the lasting agents those that are members of a team.
///
/// # Errors
///
/// [`HomeError`]: a folder on the way cannot be opened, or is a link.
pub fn list(home: &Home) -> Result<Vec<Listed>, HomeError> {
    let mut listed = Vec::new();
    for id in ids(home, &[AGENTS, EPHEMERAL])? {
        if id.starts_with(EPHEMERAL_PREFIX) {
            let member = identity::member(home, &id);
            listed.push(Listed { id, ephemeral: true, member });
        }
    }
    for id in ids(home, &[AGENTS])? {
        let known = listed.iter().any(|one| one.id == id);
        match identity::member(home, &id) {
            Err(NoMember::NotAMember(_)) => {}
            member if !known => listed.push(Listed { id, ephemeral: false, member }),
            _ => {}
        }
    }
    Ok(listed)
}

fn ids(home: &Home, parts: &[&str]) -> Result<Vec<String>, HomeError> {
    let Some(folder) = home.open_below(parts)? else { return Ok(Vec::new()) };
    let mut ids = folder.list()?;
    ids.retain(|id| is_path_part(id) && matches!(folder.kind(id), Ok(Some(Kind::Folder))));
    ids.sort_unstable();
    Ok(ids)
}

/// Removes the record of a member that lives for one round, and its folder. Its packets stay.
///
/// # Errors
///
/// See [`MemberError`]; a folder with anything else in it is left as it is.
pub fn remove(home: &Home, id: &str) -> Result<(), MemberError> {
    if !is_path_part(id) {
        return Err(MemberError::NoId(id.to_owned()));
    }
    let unknown = || MemberError::Unknown(id.to_owned());
    let all = home.open_below(&[AGENTS, EPHEMERAL])?.ok_or_else(unknown)?;
    if !id.starts_with(EPHEMERAL_PREFIX) || all.kind(id)? != Some(Kind::Folder) {
        return Err(unknown());
    }
    let folder = all.open_beneath(id)?;
    let names = folder.list()?;
    let is_ours = |name: &String| name == RECORD || Temporary::is_leftover(RECORD, name);
    if let Some(name) = names.iter().find(|name| !is_ours(name)) {
        return Err(MemberError::NotOurs { id: id.to_owned(), name: name.clone() });
    }
    for name in &names {
        folder.unlink(name)?;
    }
    all.remove_folder(id)?;
    Ok(all.sync()?)
}
