//! `handoff show`: one task with its report and its evidence. `gather` collects it, `evidence` tells proven from claimed,
//! here it is printed.

pub(crate) mod evidence;
pub(crate) mod gather;

use std::ffi::OsString;

use crate::context::Context;
use crate::daemon;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::packets::{self, leg_lines, leg_name};
use crate::text::{Line, Tone, block};

use evidence::Proof;
use gather::Found;

/// Show one task: fields, report, evidence, parent, children and packets
///
/// Evidence is told apart: what a session's client observed is proven, what only the report says is claimed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task [default: the one in the queue]
    id: Option<String>,
    /// The project, a path or a registered name [default: the working folder]
    #[arg(long, short, value_name = "PROJECT")]
    project: Option<OsString>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Mask what looks like a credential
    #[arg(long)]
    redact: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        ctx.out.redact(self.redact);
        let team_home = packets::home(ctx)?;
        let found = ctx.block_on(async {
            let (daemon, _) = daemon::connect(ctx).await?;
            let project = daemon.project(ctx, self.project.as_deref()).await?;
            gather::task(&daemon, &project, self.id.as_deref(), &team_home).await
        })?;
        if self.json {
            ctx.out.json(&found.json());
        } else {
            print(ctx, &found);
        }
        Ok(Exit::Good)
    }
}

fn print(ctx: &mut Context, found: &Found) {
    let tone = match found.status.as_str() {
        "COMPLETE" => Tone::Good,
        "ERROR" => Tone::Bad,
        _ => Tone::Warning,
    };
    ctx.out.line(Line::of(Tone::Strong, &found.task_id).plain(" ").and(tone, &found.status));
    for (name, value) in &found.facts {
        field(ctx, name, value);
    }
    for (name, value) in found.planner() {
        field(ctx, &name, &value);
    }
    for (name, value) in found.outcome() {
        field(ctx, &name, &value);
    }
    packets_of(ctx, found);
    let evidence = evidence::of(&found.report);
    if !evidence.is_empty() {
        ctx.out.line(Line::of(Tone::Dim, "evidence:"));
    }
    for item in evidence {
        let (tone, word) = match item.proof {
            Proof::Observed => (Tone::Good, "proven: "),
            Proof::Contradicted => (Tone::Bad, "differs: "),
            Proof::Claimed => (Tone::Warning, "claimed: "),
        };
        ctx.out.line(Line::from("  ").and(tone, word).plain(&item.text));
        for line in block("    ", &item.result) {
            ctx.out.line(line);
        }
    }
}

/// The packets by round and leg; nothing when there are none.
fn packets_of(ctx: &mut Context, found: &Found) {
    let packets = match &found.packets {
        Ok(packets) => packets,
        Err(failure) => return field(ctx, "packets", &format!("cannot be read: {}", failure.message)),
    };
    for leg in &packets.legs {
        ctx.out.line(Line::of(Tone::Dim, "packets: ").plain(&leg_name(leg)));
        leg_lines(leg, None).into_iter().for_each(|line| ctx.out.line(line));
    }
    for (round, failure) in &packets.unreadable {
        field(ctx, "packets", &format!("round {round} cannot be read: {}", failure.message));
    }
}

/// One value: beside its name, or below it when it has several lines.
fn field(ctx: &mut Context, name: &str, value: &str) {
    let name = Line::of(Tone::Dim, &format!("{name}: "));
    if value.contains('\n') {
        ctx.out.line(name);
        for line in block("  ", value) {
            ctx.out.line(line);
        }
    } else {
        ctx.out.line(name.plain(value));
    }
}
