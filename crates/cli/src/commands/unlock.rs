//! `handoff unlock`: explains which rule of D16 fits a project's lock, and moves it aside when nobody lives behind it.
//! It works without a daemon, too: a lock that a dead daemon left is just when it is needed.

use std::ffi::OsString;

use serde_json::json;
use store::sys::Sys;
use store::{Claimant, LockState, PiFolder, ProjectDir, Unlocked, Verdict};
use wire::control::{ProjectUnlock, UnlockResult};

use crate::context::Context;
use crate::daemon::{self, is_absent};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::projects;

/// Explain who holds a project's lock; with --yes, move it aside
///
/// A lock whose owner lives is never moved: the message names the process to end.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The project, a path or a registered name [default: the working folder]
    project: Option<OsString>,
    /// Move the lock aside if it is malformed, dead or cannot be told
    #[arg(long, short)]
    yes: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let asked = ctx.block_on(async {
            let daemon = match daemon::connect(ctx).await {
                Ok((daemon, _)) => daemon,
                Err(failure) if is_absent(&failure) => return Ok(None),
                Err(failure) => return Err(failure),
            };
            let project = daemon.project(ctx, self.project.as_deref()).await?.path;
            daemon.call(&ProjectUnlock { project, confirm: self.yes }).await.map(Some)
        })?;
        match asked {
            Some(answer) => self.print(ctx, &answer),
            None => self.offline(ctx)?,
        }
        Ok(Exit::Good)
    }

    fn print(&self, ctx: &mut Context, answer: &UnlockResult) {
        if self.json {
            ctx.out.json(answer);
            return;
        }
        ctx.out.line(answer.why.as_str());
        match &answer.moved_to {
            Some(path) => ctx.out.line(format!("moved to {path}")),
            None if answer.lock.is_some() => {
                ctx.out.note("nothing was moved; `handoff unlock --yes` moves what may be moved");
            }
            None => {}
        }
    }

    /// The same rules, asked here.
    fn offline(&self, ctx: &mut Context) -> Result<(), Failure> {
        let root = projects::root(ctx, self.project.as_deref())?;
        let project =
            ProjectDir::open(&root, &Sys::real(), PiFolder::Require).map_err(|error| Failure::not_opened(&error))?;
        let me = Claimant::current(None);
        let refuse = |error: store::LockError| Failure::new(Exit::Refused, error.to_string());
        let daemon = ctx.places().ok().and_then(|places| handoffd::instance::read_holder(&places.instance_lock()));
        let daemon = daemon.map(|holder| holder.pid);
        let (verdict, moved_to) = if self.yes {
            match project.unlock(&me, ctx.now()).map_err(refuse)? {
                Unlocked::NoLock => (None, None),
                Unlocked::Moved { moved_to, verdict } => (Some(verdict), Some(moved_to)),
                Unlocked::Refused(verdict) => return Err(live(&verdict, daemon)),
            }
        } else {
            (project.explain_lock(&me).map_err(refuse)?, None)
        };
        let why = verdict.as_ref().map_or_else(|| "there is no lock".to_owned(), |verdict| explained(verdict, daemon));
        if self.json {
            let rule = verdict.as_ref().map(|verdict| verdict.rule);
            ctx.out.json(&json!({"path": project.path(), "rule": rule, "why": why, "moved_to": moved_to}));
            return Ok(());
        }
        ctx.out.line(why);
        if let Some(path) = moved_to {
            ctx.out.line(format!("moved to {}", path.display()));
        }
        Ok(())
    }
}

/// `daemon`: the process that the daemon's own lock names.
fn explained(verdict: &Verdict, daemon: Option<u32>) -> String {
    let is_daemon = verdict.holder.as_ref().is_some_and(|holder| Some(holder.pid.unsigned_abs()) == daemon);
    let word = match verdict.state {
        LockState::Dead => "dead: the next daemon recovers it by itself",
        LockState::Live if is_daemon => "your own daemon, which does not answer: `handoff doctor` says why",
        LockState::Live => "live: end that process instead",
        LockState::CannotTell => "it cannot be told whether its owner lives",
        LockState::Malformed => "malformed",
    };
    let holder = verdict.holder.as_ref().map(|holder| format!("; it names {holder}")).unwrap_or_default();
    format!("rule {} fits: {} ({word}){holder}", verdict.rule, verdict.reason)
}

fn live(verdict: &Verdict, daemon: Option<u32>) -> Failure {
    Failure::new(Exit::Refused, format!("the lock's owner is alive: {}", explained(verdict, daemon)))
}
