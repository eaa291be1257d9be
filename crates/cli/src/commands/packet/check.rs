//! `handoff packet check`: reads one packet as the composer reads its file (D60). Nothing is written, no daemon is needed.

use std::path::PathBuf;

use packet::{Refusal, TaskPacket, door};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone};
use crate::{read, remarks};

/// White space and escapes may make a text much longer than the packet in it.
const LIMIT: usize = 1024 * 1024;

/// Check a packet as the next role's composer would
///
/// Its limits count the compact form, which is what would be filed. Nothing is written and no daemon is needed. Exit 0 when
/// the packet would be taken, else 1.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The packet, one JSON object of at most 1 MiB; `-` is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let text = read::bytes(ctx, &self.file, LIMIT)?;
        match door::check(&text) {
            Ok(packet) => good(ctx, &packet, self.json),
            Err(refusal) => Ok(refused(ctx, &refusal, self.json)),
        }
    }
}

fn good(ctx: &mut Context, packet: &TaskPacket, as_json: bool) -> Result<Exit, Failure> {
    let written = packet.normalized();
    if ctx.config().secrets.check {
        let tree: Value = serde_json::from_str(&written).map_err(Failure::usage)?;
        for remark in remarks::of_packet(&tree) {
            ctx.out.warn(&remark);
        }
    }
    if as_json {
        // To the letter: a tree in between could spell a number in another way.
        ctx.out.json_text(&format!(r#"{{"ok":true,"normalized":{written},"bytes":{}}}"#, written.len()));
        return Ok(Exit::Good);
    }
    let way = format!(": {} to {}, round {}, ", packet.from_role, packet.to_role, packet.round);
    let size = format!("{} of {} bytes", written.len(), packet::TASK_PACKET_MAX_BYTES);
    ctx.out.line(Line::of(Tone::Good, "valid").plain(&way).plain(&size));
    Ok(Exit::Good)
}

fn refused(ctx: &mut Context, refusal: &Refusal, as_json: bool) -> Exit {
    let (code, message) = (refusal.code(), refusal.to_string());
    if as_json {
        let mut answer = json!({ "ok": false, "code": code, "message": message });
        if let Some(hint) = refusal.hint() {
            answer["hint"] = hint.into();
        }
        ctx.out.json(&answer);
        return Exit::NotGood;
    }
    ctx.out.line(Line::of(Tone::Bad, code).plain(": ").plain(&message));
    if matches!(refusal, Refusal::Shape(_)) {
        ctx.out.line(Line::of(Tone::Strong, "  This is enough: ").plain(packet::MINIMAL_PACKET_EXAMPLE));
        ctx.out.line(Line::of(Tone::Strong, "  Optional: ").plain(&packet::OPTIONAL_KEYS.join(", ")));
    }
    Exit::NotGood
}
