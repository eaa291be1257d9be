//! `handoff packet thread`: which packet answers which. Nothing is written, no daemon is needed.

use serde_json::{Value, json};
use team::thread;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::packets;
use crate::text::{Line, Tone};

/// Show which packet of a goal answers which, by their `parent_packet`
///
/// Packets that the composer would read, each below the one that it answers. Exit 1 when a round cannot be read; the
/// others are shown.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The goal, which is a task's id
    goal: String,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Mask what looks like a credential
    #[arg(long)]
    redact: bool,
}

/// Deeper answers are not moved further to the right.
const MOST_INDENT: usize = 12;

impl Args {
    pub(super) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        ctx.out.redact(self.redact);
        let home = packets::home(ctx)?;
        let mut found = packets::of_goal(&home, &self.goal)?;
        let lines = thread::lines(found.legs.drain(..).flat_map(|leg| leg.packets).collect());
        if self.json {
            let packets: Vec<Value> = lines.iter().map(as_json).collect();
            ctx.out.json(&json!({"goal": self.goal, "packets": packets}));
            return Ok(found.tell_unreadable(ctx));
        }
        let width = ctx.out.width();
        for line in &lines {
            let line = as_line(line);
            ctx.out.line(width.map_or_else(|| line.clone(), |width| line.cut(width)));
        }
        if lines.is_empty() && found.unreadable.is_empty() {
            ctx.out.note(packets::none_of(&self.goal, &home));
        }
        Ok(found.tell_unreadable(ctx))
    }
}

fn as_json(line: &thread::Line) -> Value {
    let packet = &line.found.packet;
    json!({
        "depth": line.depth, "packet_id": packet.packet_id, "parent_packet": packet.parent_packet, "loose": line.loose,
        "round": packet.round, "from_role": packet.from_role, "to_role": packet.to_role, "slot": line.found.slot,
        "path": line.found.path, "objective": packet.objective,
    })
}

fn as_line(line: &thread::Line) -> Line {
    let packet = &line.found.packet;
    let indent = "  ".repeat(line.depth.min(MOST_INDENT));
    let way = format!("  round {}, {} → {}  ", packet.round, packet.from_role, packet.to_role);
    let shown = Line::from(indent).and(Tone::Strong, &packet.packet_id).and(Tone::Dim, &way);
    let loose = packet.parent_packet.as_ref().filter(|_| line.loose);
    let shown = loose.map_or_else(
        || shown.clone(),
        |parent| shown.clone().and(Tone::Warning, &format!("(answers {parent}, which is not here)  ")),
    );
    shown.plain(&packet.objective)
}
