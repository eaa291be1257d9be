//! `handoff lint`: judges a queue file as the daemon would. It never writes and needs no daemon.

use std::path::PathBuf;

use queue::{Action, Lint};
use serde_json::json;

use crate::commands::problems_json;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::queue_file::{self, QueueFile};
use crate::remarks;
use crate::text::{Line, Tone};

/// Check a queue file as the daemon would
///
/// Says what would be done with it: `dispatch`, `reject`, `leave`, `none` or `orphan`. The project is the file's folder.
/// Nothing is written and no daemon is needed. Exit 0 for dispatch and none, else 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The queue file
    #[arg(default_value = "tasks.json")]
    file: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let (folder, name) = queue_file::place(&ctx.absolute(&self.file)?)?;
        let root = queue_file::open_root(&folder)?;
        let file = QueueFile::read(&root, &name)?;
        let lint = queue::lint(file.reading(), &root, queue_file::ownership(&folder));
        if let Some(document) = file.document().filter(|document| document.status() == queue::Status::Pending) {
            let keys = remarks::of_keys(document.unknown_keys());
            for remark in keys.iter().chain(&remarks::of_task(document, ctx.config().secrets.check)) {
                ctx.out.warn(remark);
            }
        }
        if self.json {
            print_json(ctx, &lint);
        } else {
            print(ctx, &lint);
        }
        Ok(match lint.action {
            Action::Dispatch | Action::None => Exit::Good,
            Action::Reject | Action::Leave | Action::Orphan => Exit::NotGood,
        })
    }
}

fn print_json(ctx: &mut Context, lint: &Lint) {
    ctx.out.json(&json!({
        "action": lint.action.as_str(),
        "status": lint.status.map(queue::Status::as_str),
        "problems": problems_json(&lint.problems),
    }));
}

fn print(ctx: &mut Context, lint: &Lint) {
    let tone = match lint.action {
        Action::Dispatch | Action::None => Tone::Good,
        Action::Reject | Action::Leave | Action::Orphan => Tone::Bad,
    };
    let status = lint.status.map(|status| format!("{}, ", status.as_str())).unwrap_or_default();
    let line = Line::of(tone, lint.action.as_str()).plain(": ").plain(&status).plain(meaning(lint));
    ctx.out.line(line);
    for problem in &lint.problems {
        ctx.out.line(Line::from("  ").plain(&problem.message));
    }
}

fn meaning(lint: &Lint) -> &'static str {
    match (lint.action, lint.status) {
        (Action::Dispatch, _) => "valid: it would be handed to the session",
        (Action::Reject, _) => "it would be rewritten to ERROR",
        (Action::Leave, _) => "it would be left alone",
        (Action::Orphan, _) => {
            "no daemon owns it: it would be taken up if its session lives, else rewritten to ERROR, and never run again"
        }
        (Action::None, None) => "there is no such file: the queue is empty",
        (Action::None, Some(queue::Status::Running)) => "its owner is at work",
        (Action::None, Some(_)) => "nothing to do",
    }
}
