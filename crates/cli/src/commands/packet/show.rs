//! `handoff packet show`: one packet as the composer gives it to its receiver. Nothing is written, no daemon is needed.

use std::path::{Path, PathBuf};

use handoffd::config::TeamLanguage;
use packet::{Frame, Language, render};
use packet::{TASK_PACKET_MAX_BYTES, TaskPacket, door};
use serde_json::json;
use team::compose::{read_leg, read_slot};
use team::{Home, Leg};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::shell::quoted;
use crate::text::block;
use crate::{packets, read};

/// Show a packet as its receiver reads it
///
/// A packet in its place is judged as the composer would, together with its leg; of another file the packet alone. Exit 1
/// when it would be passed over.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A path as `packet list` and the tool say it (`team_packets/…`), or any file
    path: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Mask what looks like a credential
    #[arg(long)]
    redact: bool,
}

/// What is shown.
struct Shown {
    path: String,
    slot: Option<u8>,
    behind_gap: bool,
    packet: TaskPacket,
}

impl Args {
    pub(super) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        ctx.out.redact(self.redact);
        let home = packets::home(ctx)?;
        let shown = match in_home(&home, &self.path) {
            Some((leg, slot)) => of_leg(&home, &leg, slot)?,
            None => of_file(ctx, &self.path)?,
        };
        let language = match ctx.config().team.language {
            TeamLanguage::English => Language::English,
            TeamLanguage::Chinese => Language::Chinese,
        };
        let text = render(&shown.packet, Frame { language, owes: shown.packet.to_role.owes() });
        if self.json {
            ctx.out.json_text(&document(&shown, &text)?);
            return Ok(Exit::Good);
        }
        if shown.behind_gap {
            ctx.out.warn("a slot before this one is missing: the composer does not get to this packet");
        }
        if ctx.out.is_terminal() {
            block("", &text).into_iter().for_each(|line| ctx.out.line(line));
        } else {
            // A pipe gets the composer's text to the letter.
            ctx.out.text(&text);
        }
        Ok(Exit::Good)
    }
}

/// The leg and slot of a path below the home, relative to it or absolute.
fn in_home(home: &Home, path: &Path) -> Option<(Leg, u8)> {
    Leg::of_path(path.strip_prefix(home.path()).unwrap_or(path).to_str()?)
}

fn of_leg(home: &Home, leg: &Leg, slot: u8) -> Result<Shown, Failure> {
    let path = leg.path(slot);
    let behind_gap = read_leg(home, leg).map_err(packets::failure)?.gap.is_some_and(|gap| gap.behind.contains(&slot));
    match read_slot(home, leg, slot).map_err(packets::failure)? {
        Some(Ok(found)) => Ok(Shown { path, slot: Some(slot), behind_gap, packet: found.packet }),
        Some(Err(skipped)) => {
            let message = format!("{path} is passed over: {}: {}", skipped.code, skipped.detail);
            Err(Failure::new(Exit::NotGood, message))
        }
        None => {
            let hint = format!("`handoff packet list {}` lists what there is", leg.goal());
            Err(Failure::new(Exit::NotGood, format!("there is no {path} in {}", home.path().display())).hint(hint))
        }
    }
}

fn of_file(ctx: &Context, path: &Path) -> Result<Shown, Failure> {
    // What is no path at all is most likely a goal or a packet's id.
    let hint = "PATH is a file; `handoff packet list GOAL` shows the path of each packet";
    let text = read::bytes(ctx, path, TASK_PACKET_MAX_BYTES).map_err(|failure| failure.hint(hint))?;
    let packet = door::check(&text).map_err(|refusal| {
        let hint = format!("`handoff packet check {}` says how to write one", quoted(&path.to_string_lossy()));
        Failure::new(Exit::NotGood, format!("{}: {refusal}", refusal.code())).hint(hint)
    })?;
    Ok(Shown { path: path.display().to_string(), slot: None, behind_gap: false, packet })
}

/// As text: a tree in between could spell a number of the packet in another way.
fn document(shown: &Shown, rendered: &str) -> Result<String, Failure> {
    let around = json!({
        "path": shown.path, "slot": shown.slot, "behind_gap": shown.behind_gap, "rendered": rendered,
    });
    let around = serde_json::to_string(&around).map_err(Failure::usage)?;
    let rest = around.strip_prefix('{').unwrap_or_default();
    Ok(format!(r#"{{"packet":{},{rest}"#, shown.packet.normalized()))
}
