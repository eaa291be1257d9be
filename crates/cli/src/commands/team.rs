//! `handoff team`: the records of members that live for one round (D74). No daemon is needed.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use packet::Role;
use serde_json::{Value, json};
use team::members::{self, Listed, MemberError, NewMember};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::packets;
use crate::shell::quoted;
use crate::text::{Line, Tone};

/// Make, list and remove the members of teams
///
/// A member is an id with a record below the home of packets: its role, its task, its round. A session that serves as the
/// member files packets under that id and gets those for its role.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a member and print its id
    ///
    /// How to start Claude Code or Pi as the member is told on standard error, so that `id=$(handoff team add …)` works.
    Add {
        /// Its role
        #[arg(value_parser = PossibleValuesParser::new(Role::WORDS).try_map(role))]
        role: Role,
        /// The goal it works on, which is a task's id
        #[arg(long, value_name = "ID", value_parser = id)]
        goal: String,
        /// The round it works in; the planner counts them
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(team::leg::ROUND_MAX)))]
        round: u32,
        /// On whose behalf, an agent's id; it stands in the member's id
        #[arg(long, value_name = "ID", value_parser = id, default_value = "handoff")]
        parent: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// List the members, those with a broken record too
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Remove members' records; their packets stay
    ///
    /// Only members that `team add` makes, and only folders with nothing else in them.
    Remove {
        /// Their ids
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

/// The words were looked at before.
fn role(word: String) -> Result<Role, String> {
    Role::from_word(&word).ok_or(word)
}

/// A goal or an agent: a part of a path.
pub(crate) fn id(word: &str) -> Result<String, &'static str> {
    if team::is_path_part(word) { Ok(word.to_owned()) } else { Err("an id here is 1 to 64 of `A-Z a-z 0-9 _ -`") }
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        match self.command {
            Command::Add { role, goal, round, parent, json } => {
                add(ctx, &NewMember { role, goal: &goal, round, parent: &parent }, json)
            }
            Command::List { json } => list(ctx, json),
            Command::Remove { ids } => remove(ctx, &ids),
        }
    }
}

fn add(ctx: &mut Context, new: &NewMember<'_>, as_json: bool) -> Result<Exit, Failure> {
    ctx.valid_config()?;
    let home = packets::home(ctx)?;
    let id = members::add(&home, new).map_err(failure)?;
    let server = server(ctx, &id);
    if as_json {
        ctx.out.json(&json!({
            "id": id, "role": new.role, "task_id": new.goal, "round": new.round, "parent": new.parent,
            "home": home.path(), "server": server,
        }));
        return Ok(Exit::Good);
    }
    ctx.out.line(Line::of(Tone::Strong, &id));
    for (client, line) in clients(&id, &server) {
        ctx.out.note(Line::of(Tone::Dim, client).plain(&line));
    }
    Ok(Exit::Good)
}

/// How a client becomes the member. Claude Code gets the tool for one session, since several members may work in one folder
/// and a server that is added stands there for all of them. Pi gets the packets by a variable, and knows servers of a folder
/// only.
fn clients(id: &str, server: &[String]) -> [(&'static str, String); 3] {
    let config = server.split_first().map(|(command, args)| json!({"command": command, "args": args}));
    let config = json!({"mcpServers": {"handoff-team": config}}).to_string();
    // An option of ours needs no quotes.
    let word = |word: &String| if word.starts_with("--") { word.clone() } else { quoted(word) };
    let line = server.iter().map(word).collect::<Vec<_>>().join(" ");
    [
        ("Claude Code as this member:  ", format!("claude --mcp-config {}", quoted(&config))),
        ("Pi as this member:           ", format!("HANDOFF_AGENT_ID={} pi", quoted(id))),
        ("its tool in Pi 1.x:          ", format!("pi mcp add -l handoff-team -- {line}")),
    ]
}

/// What was asked for in vain is told apart from what the system forbids.
fn failure(error: MemberError) -> Failure {
    match error {
        MemberError::Home(error) => packets::failure(error),
        MemberError::Io(fault) => packets::failure(fault.into()),
        MemberError::NoFreeId => Failure::new(Exit::NotGood, error.to_string()),
        MemberError::Unknown(_) => Failure::usage(error).hint("`handoff team list` lists the members"),
        MemberError::NoPlace(_) | MemberError::NoId(_) | MemberError::NotOurs { .. } => Failure::usage(error),
    }
}

/// The command of the member's MCP server. A home by variable must reach it, too.
fn server(ctx: &Context, id: &str) -> Vec<String> {
    let home = ctx.env.handoff_home.as_ref().map(|home| format!("HANDOFF_HOME={}", home.display()));
    let variable = home.into_iter().flat_map(|home| ["env".to_owned(), home]);
    let command = ["handoff", "mcp", "team", "--agent-id", id].map(str::to_owned);
    variable.chain(command).collect()
}

fn list(ctx: &mut Context, as_json: bool) -> Result<Exit, Failure> {
    let home = packets::home(ctx)?;
    let listed = members::list(&home).map_err(packets::failure)?;
    if as_json {
        ctx.out.json(&json!({"home": home.path(), "members": listed.iter().map(member_json).collect::<Vec<_>>()}));
        return Ok(Exit::Good);
    }
    let width = listed.iter().map(|one| Line::from(one.id.as_str()).width()).max().unwrap_or(0);
    for one in &listed {
        ctx.out.line(Line::of(Tone::Strong, &one.id).padded(width + 2).join(&member_line(one)));
    }
    if listed.is_empty() {
        ctx.out.note(format!("no member in {}: `handoff team add ROLE --goal ID --round N`", home.path().display()));
    }
    Ok(Exit::Good)
}

fn member_json(one: &Listed) -> Value {
    match &one.member {
        Ok(member) => json!({
            "id": one.id, "ephemeral": one.ephemeral, "role": member.role, "task_id": member.task_id,
            "round": member.round, "parent": member.parent, "problem": null,
        }),
        Err(why) => json!({
            "id": one.id, "ephemeral": one.ephemeral, "role": null, "task_id": null, "round": null, "parent": null,
            "problem": why.to_string(),
        }),
    }
}

fn member_line(one: &Listed) -> Line {
    match &one.member {
        Ok(member) => {
            let task = member.task_id.as_deref().map_or_else(|| "any task".to_owned(), |task| format!("task {task}"));
            let round = member.round.map_or_else(|| "any round".to_owned(), |round| format!("round {round}"));
            Line::from(format!("{}, {task}, {round}", member.role))
        }
        Err(why) => Line::of(Tone::Bad, &why.to_string()),
    }
}

fn remove(ctx: &mut Context, ids: &[String]) -> Result<Exit, Failure> {
    ctx.valid_config()?;
    let home = packets::home(ctx)?;
    for id in ids {
        members::remove(&home, id).map_err(failure)?;
        ctx.out.line(format!("removed {id}"));
    }
    Ok(Exit::Good)
}
