//! `handoff packet list`: the legs of a goal with their slots, or the goals. Nothing is written, no daemon is needed.

use serde_json::{Value, json};
use team::compose::Packets;
use team::listing;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::packets::{self, leg_lines, leg_name};
use crate::text::{Line, Tone};

/// List the packets of a goal by round and leg, or the goals that have some
///
/// Each slot is judged as the composer would: a file that it would pass over is shown with the reason, and so is a
/// missing slot that hides what lies behind it. Exit 1 when a round cannot be read; the others are shown. Nothing is
/// written and no daemon is needed.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The goal, which is a task's id [default: list the goals]
    goal: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Mask what looks like a credential
    #[arg(long)]
    redact: bool,
}

impl Args {
    pub(super) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        ctx.out.redact(self.redact);
        match &self.goal {
            Some(goal) => legs(ctx, goal, self.json),
            None => goals(ctx, self.json),
        }
    }
}

fn legs(ctx: &mut Context, goal: &str, as_json: bool) -> Result<Exit, Failure> {
    let home = packets::home(ctx)?;
    let found = packets::of_goal(&home, goal)?;
    if as_json {
        ctx.out.json(&json!({"goal": goal, "home": home.path(), "legs": found.json()}));
        return Ok(found.tell_unreadable(ctx));
    }
    for leg in &found.legs {
        print(ctx, leg);
    }
    if found.legs.is_empty() && found.unreadable.is_empty() {
        ctx.out.note(packets::none_of(goal, &home));
    }
    Ok(found.tell_unreadable(ctx))
}

fn print(ctx: &mut Context, leg: &Packets) {
    ctx.out.line(Line::of(Tone::Strong, &leg_name(leg)));
    for line in leg_lines(leg, ctx.out.width()) {
        ctx.out.line(line);
    }
}

fn goals(ctx: &mut Context, as_json: bool) -> Result<Exit, Failure> {
    let home = packets::home(ctx)?;
    let mut goals = Vec::new();
    for goal in listing::goals(&home).map_err(packets::failure)? {
        let rounds = listing::rounds(&home, &goal).map_err(packets::failure)?;
        goals.push((goal, rounds));
    }
    if as_json {
        let goals: Vec<Value> = goals.iter().map(|(goal, rounds)| json!({"goal": goal, "rounds": rounds})).collect();
        ctx.out.json(&json!({"home": home.path(), "goals": goals}));
        return Ok(Exit::Good);
    }
    for (goal, rounds) in &goals {
        let rounds: Vec<String> = rounds.iter().map(u32::to_string).collect();
        ctx.out.line(Line::of(Tone::Strong, goal).plain(&format!("  rounds {}", rounds.join(", "))));
    }
    if goals.is_empty() {
        ctx.out.note(format!("there are no packets in {}", home.path().display()));
    }
    Ok(Exit::Good)
}
