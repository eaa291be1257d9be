//! `handoff packet list`: the legs of a goal with their slots, or the goals. Nothing is written, no daemon is needed.

use serde_json::{Value, json};
use team::compose::Packets;
use team::listing;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::packets::{self, leg_json, leg_lines, leg_name};
use crate::text::{Line, Tone};

/// List the packets of a goal by round and leg, or the goals that have some
///
/// Each slot is judged as the composer would: a file that it would pass over is shown with the reason, and so is a
/// missing slot that hides what lies behind it. Nothing is written and no daemon is needed.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The goal, which is a task's id [default: list the goals]
    goal: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        match &self.goal {
            Some(goal) => legs(ctx, goal, self.json),
            None => goals(ctx, self.json),
        }
    }
}

fn legs(ctx: &mut Context, goal: &str, as_json: bool) -> Result<Exit, Failure> {
    let home = packets::home(ctx)?;
    let legs = packets::of_goal(&home, goal)?;
    if as_json {
        let legs: Vec<Value> = legs.iter().map(leg_json).collect();
        ctx.out.json(&json!({"goal": goal, "home": home.path(), "legs": legs}));
        return Ok(Exit::Good);
    }
    for leg in &legs {
        print(ctx, leg);
    }
    if legs.is_empty() {
        ctx.out.note(packets::none_of(goal, &home));
    }
    Ok(Exit::Good)
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
