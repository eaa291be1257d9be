//! `handoff report check`: checks a report against the project's RUNNING task as the daemon would. It never writes.

use std::path::PathBuf;

use handoffd::agents;
use profiles::Places;
use queue::{Accepted, Document, Observed, Problem, ReportContext, check_report, idle_document};
use serde_json::json;
use store::ProjectRoot;

use crate::commands::problems_json;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::queue_file::{self, QUEUE, QueueFile};
use crate::read;
use crate::text::{Line, Tone};

/// Check a report before it is sent
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Check(Check),
}

/// Check a report against the project's RUNNING task as the daemon would
///
/// Nothing is written and no daemon is needed. Exit 0 when the report would be accepted, else 1.
#[derive(Debug, clap::Args)]
struct Check {
    /// The report, one JSON object; `-` is standard input
    file: PathBuf,
    /// The project's root [default: the working folder]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// What was observed of the task's runs: a JSON list, or `{"all": true, "runs": […]}`
    #[arg(long, value_name = "FILE")]
    observed: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let Command::Check(check) = self.command;
        check.run(ctx)
    }
}

impl Check {
    fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let folder = match &self.project {
            Some(folder) => ctx.absolute(folder)?,
            None => ctx.working_dir()?.to_owned(),
        };
        let report = read::text(ctx, &self.file, wire::limits::REPORT)?;
        let observed = match &self.observed {
            Some(file) => Some(read::text(ctx, file, wire::limits::CLIENT_LINE)?),
            None => None,
        };
        let root = queue_file::open_root(&folder)?;
        let outcome = check(&root, &agents::places(&folder, &ctx.env), &report, observed.as_deref())?;
        let exit = if outcome.is_ok() { Exit::Good } else { Exit::NotGood };
        print(ctx, &outcome, self.json);
        Ok(exit)
    }
}

fn check(
    root: &ProjectRoot,
    places: &Places,
    report: &str,
    observed: Option<&str>,
) -> Result<Result<Accepted, Vec<Problem>>, Failure> {
    let file = QueueFile::read(root, QUEUE)?;
    let absent;
    let queue = match &file {
        QueueFile::Unreadable(problem) => return Ok(Err(vec![problem.clone()])),
        QueueFile::Readable(document, _) => document,
        QueueFile::Missing => {
            absent = Document::parse(idle_document().as_bytes()).map_err(|problem| Failure::usage(problem.message))?;
            &absent
        }
    };
    let observed = match Observed::parse(observed.unwrap_or("null")) {
        Ok(observed) => observed,
        Err(problems) => return Ok(Err(problems)),
    };
    let known = profiles::load(places).agents;
    let context = ReportContext { queue, expected: None, paths: root, agents: &known, observed: observed.as_ref() };
    Ok(check_report(report, &context))
}

fn print(ctx: &mut Context, outcome: &Result<Accepted, Vec<Problem>>, as_json: bool) {
    match outcome {
        Ok(accepted) if as_json => ctx.out.json(&json!({"ok": true, "status": accepted.status.as_str()})),
        Err(problems) if as_json => ctx.out.json(&json!({"ok": false, "problems": problems_json(problems)})),
        Ok(accepted) => {
            let line = Line::of(Tone::Good, "accepted").plain(": the task would end ").plain(accepted.status.as_str());
            ctx.out.line(line);
        }
        Err(problems) => {
            ctx.out.line(Line::of(Tone::Bad, "refused").plain(":"));
            for problem in problems {
                ctx.out.line(Line::from("  ").plain(&problem.message));
            }
        }
    }
}
