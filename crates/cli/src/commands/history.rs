//! `handoff history`: the journal, newest first.

use std::ffi::OsString;

use serde_json::{Map, Value};
use wire::control::HistoryList;

use crate::context::Context;
use crate::daemon;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone};

/// List what happened, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this project, a path or a registered name [default: all]
    #[arg(long, short, value_name = "PROJECT")]
    project: Option<OsString>,
    /// Only this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// How many rows, at most 500
    #[arg(long, short = 'n', value_name = "ROWS", default_value_t = 50)]
    limit: u64,
    /// Print one JSON object a line, each a row of the journal
    #[arg(long)]
    json: bool,
    /// Mask what looks like a credential
    #[arg(long)]
    redact: bool,
}

/// What stands in its own place of a line, or says too much for one.
const NOT_SHOWN: [&str; 11] = [
    "at",
    "kind",
    "project",
    "task_id",
    "planner",
    "report",
    "fingerprint",
    "log_line",
    "dispatch_id",
    "created_at",
    "packet_path",
];

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        ctx.out.redact(self.redact);
        let answer = ctx.block_on(async {
            let (daemon, _) = daemon::connect(ctx).await?;
            let project = match &self.project {
                Some(typed) => Some(daemon.project(ctx, Some(typed)).await?.path),
                None => None,
            };
            daemon.call(&HistoryList { project, task_id: self.task.clone(), limit: Some(self.limit) }).await
        })?;
        for row in &answer.rows {
            if self.json {
                ctx.out.json_text(row.get());
            } else {
                // A row that is no object has nothing to show.
                ctx.out.line(line(&serde_json::from_str(row.get()).unwrap_or_default()));
            }
        }
        if answer.more && !self.json {
            ctx.out.note("there are older rows; see more with --limit");
        }
        Ok(Exit::Good)
    }
}

/// Kinds of other versions are shown like all others, so nothing here knows them one by one.
fn line(row: &Map<String, Value>) -> Line {
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
    let at = text("at").get(..19).unwrap_or_default().replace('T', " ");
    let name = text("project").rsplit('/').next().unwrap_or_default();
    let kind = Line::default().and(tone(row), text("kind")).padded(14);
    let line =
        Line::of(Tone::Dim, &at).plain("  ").plain(name).plain("  ").join(&kind).and(Tone::Strong, text("task_id"));
    let more: Vec<String> = row
        .iter()
        .filter(|(key, value)| !NOT_SHOWN.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| format!("{key}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .collect();
    line.plain("  ").plain(&more.join(", "))
}

fn tone(row: &Map<String, Value>) -> Tone {
    match (row.get("kind").and_then(Value::as_str), row.get("status").and_then(Value::as_str)) {
        (Some("ended"), Some("COMPLETE")) => Tone::Good,
        (Some("ended" | "rejected" | "log_failed" | "lost"), _) => Tone::Bad,
        (Some("report_refused" | "not_accepted" | "cancelling"), _) => Tone::Warning,
        _ => Tone::Plain,
    }
}
