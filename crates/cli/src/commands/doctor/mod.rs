//! `handoff doctor`: what the service sees, each fault with its remedy.
//!
//! `world` gathers what the checks look at, `service` asks the service manager, `checks` has a file for each check,
//! `patience` waits for what may hang, `finding` is what they say, `table` how it looks, `repair` what `--fix` does. Nothing is written without `--fix`.

mod checks;
mod finding;
mod patience;
mod repair;
mod service;
mod table;
mod world;

use std::path::Path;
use std::sync::Arc;

use handoffd::env::Env;
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use finding::State;
use service::{Environment, Manager};
use world::World;

pub(crate) use finding::Finding;

/// Look for everything that could go wrong, and say what to do about it
///
/// It looks at what the service sees, not at this shell: the daemon that runs is asked, and its environment counts. Exit 1 if
/// there are faults; warnings and notes are no faults. It works without a daemon, and writes nothing without `--fix`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Do the repairs that are safe: each is listed before it is done, and what is taken away is kept in a backup
    #[arg(long)]
    fix: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        // An invalid configuration is one of the findings.
        ctx.config_untold();
        let mut findings = examine(ctx);
        let mut repairs = Vec::new();
        if self.fix {
            repairs = repair::all(ctx, &findings);
            if !repairs.is_empty() {
                findings = examine(ctx);
            }
        }
        let faults = count(&findings, State::Fault);
        if self.json {
            let findings: Vec<_> = findings.iter().map(Finding::json).collect();
            let repairs: Vec<_> = repairs.iter().map(repair::Done::json).collect();
            ctx.out.json(&json!({"good": faults == 0, "findings": findings, "repairs": repairs}));
        } else {
            for line in table::lines(&findings, ctx.out.width()) {
                ctx.out.line(line);
            }
            ctx.out.note(table::summary(&findings));
        }
        Ok(if faults == 0 { Exit::Good } else { Exit::NotGood })
    }
}

/// The environment of the service, as far as it can be known from here.
pub(crate) fn service_env(ctx: &Context) -> Env {
    Environment::find(None, &Manager::ask(&ctx.env), &ctx.env).env
}

fn count(findings: &[Finding], state: State) -> usize {
    findings.iter().filter(|finding| finding.state == state).count()
}

/// Everything that the checks say.
fn examine(ctx: &Context) -> Vec<Finding> {
    checks::all(&Arc::new(World::gather(ctx)))
}

/// Checks whose faults can keep a daemon from starting: what they say comes before "there is none". The last, since a unit that
/// failed on one of the others fails again when it is started again.
const GROUND: [&str; 4] = ["socket", "configuration", "disk", "unit"];

/// The worst fault that concerns a project, the service's before the project's own, since without it nothing else helps: for
/// `handoff next`, where the daemon knows of nothing, or there is no daemon.
pub(crate) fn remedy(ctx: &Context, root: Option<&Path>) -> Option<Finding> {
    let concerns = |finding: &Finding| match &finding.project {
        None => true,
        Some(project) => root.is_some_and(|root| Path::new(&project.path) == root),
    };
    let faults = examine(ctx).into_iter().filter(|finding| finding.state == State::Fault && concerns(finding));
    let place =
        |finding: &Finding| GROUND.iter().position(|check| finding.project.is_none() && finding.check == *check);
    faults.min_by_key(|finding| place(finding).unwrap_or(GROUND.len()))
}
