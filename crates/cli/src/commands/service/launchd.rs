//! The service under launchd: an agent of the user's own. It has no socket activation, no watchdog and no list of exit
//! codes (D85); the plist in `launchd/` says how that is made up for.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use handoffd::env::Env;
use handoffd::keeping::Fate;
use serde_json::json;

use super::file::{self, Found, ServiceFile};
use super::programs::Programs;
use super::started;
use super::state::{self, Kept};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::spawn;

/// The daemon lets its projects go within ten seconds; `ExitTimeOut` is the longest.
const UNLOADED_WITHIN: Duration = Duration::from_secs(30);
const LABEL: &str = "io.github.handoffd";
const PLIST: &str = include_str!("../../../../../launchd/io.github.handoffd.plist");

pub(super) fn install(ctx: &mut Context, replace: bool) -> Result<Exit, Failure> {
    let programs = Programs::of_process(ctx)?;
    nobody_else_runs(ctx)?;
    let kept = Kept::look(&ctx.places()?);
    let wanted = plist(home(ctx)?, &programs)?;
    let path = wanted.path.display().to_string();
    wanted.put(ctx, replace, "")?;
    // An agent that is loaded already has the old file.
    launchctl(&["bootout", &target()]).ok();
    launchctl(&["enable", &target()]).map_err(failed)?;
    load(&path)?;
    let exit = running(ctx)?;
    Kept::tell_back(kept, ctx, &ctx.places()?);
    Ok(exit)
}

/// An agent that is being unloaded cannot be loaded yet.
fn load(path: &str) -> Result<(), Failure> {
    let end = Instant::now() + UNLOADED_WITHIN;
    loop {
        match launchctl(&["bootstrap", &domain(), path]) {
            Err(_) if Instant::now() < end => thread::sleep(Duration::from_millis(250)),
            result => return result.map_err(failed),
        }
    }
}

/// The agent would find the daemon's lock taken, and end.
fn nobody_else_runs(ctx: &Context) -> Result<(), Failure> {
    if launchctl(&["print", &target()]).is_ok() {
        return Ok(());
    }
    let Ok(answer) = started::ask(ctx) else { return Ok(()) };
    let message = format!("a handoffd that is not this service is running (pid {})", answer.pid);
    let stop = format!("stop it, then install again: `kill {}`; tasks at work go on", answer.pid);
    Err(Failure::new(Exit::Refused, message).hint(stop))
}

/// Whether it is installed.
pub(super) fn is_there(env: &Env) -> bool {
    env.home.as_deref().is_some_and(|home| plist_path(home).symlink_metadata().is_ok())
}

pub(super) fn uninstall(ctx: &mut Context, fate: Fate) -> Result<Exit, Failure> {
    launchctl(&["bootout", &target()]).ok();
    let path = plist_path(home(ctx)?);
    file::show_before_removal(ctx, &path)?;
    if file::remove(&path)? {
        ctx.out.line(format!("stopped, and removed {}", path.display()));
    }
    // It is told to stop, and launchd does not wait for it.
    let end = Instant::now() + UNLOADED_WITHIN;
    while launchctl(&["print", &target()]).is_ok() && Instant::now() < end {
        thread::sleep(Duration::from_millis(250));
    }
    let early = log_file(home(ctx)?);
    if fate == Fate::Remove && file::remove(&early)? {
        ctx.out.line(format!("removed {}", early.display()));
    }
    let env = ctx.env.clone();
    state::put_away(ctx, &env, fate)?;
    if early.exists() {
        ctx.out.line(format!("left: the log of its starts in {}", early.display()));
    }
    Ok(Exit::Good)
}

pub(super) fn status(ctx: &mut Context, as_json: bool) -> Result<Exit, Failure> {
    let path = plist_path(home(ctx)?);
    if file::look_at(&path)? == Found::Absent {
        return Err(Failure::new(Exit::NotGood, "the service is not installed").hint("`handoff service install`"));
    }
    let loaded = launchctl(&["print", &target()]).is_ok();
    let answer = started::ask(ctx);
    let exit = if loaded && answer.is_ok() { Exit::Good } else { Exit::NotGood };
    if as_json {
        let (pid, version) = answer.as_ref().map(|answer| (answer.pid, answer.version.clone())).ok().unzip();
        ctx.out.json(&json!({
            "manager": "launchd", "state": if answer.is_ok() { "running" } else { "stopped" }, "pid": pid,
            "version": version, "unit": path, "starts_at_login": loaded,
        }));
        return Ok(exit);
    }
    ctx.out.line(match &answer {
        Ok(answer) => format!("running: handoffd {}, pid {}", answer.version, answer.pid),
        Err(failure) => format!("not running: {}", failure.message),
    });
    ctx.out.line(format!("agent: {} ({})", path.display(), if loaded { "loaded" } else { "not loaded" }));
    Ok(exit)
}

pub(super) fn restart(ctx: &mut Context) -> Result<Exit, Failure> {
    launchctl(&["kickstart", "-k", &target()]).map_err(failed)?;
    running(ctx)
}

fn running(ctx: &mut Context) -> Result<Exit, Failure> {
    let early = log_file(home(ctx)?).display().to_string();
    let answer = started::wait(ctx)
        .map_err(|failure| failure.hint(format!("what it said before it had a log: {early}; else `handoff logs`")))?;
    ctx.out.line(format!("running: handoffd {}, pid {}", answer.version, answer.pid));
    Ok(Exit::Good)
}

fn plist(home: &Path, programs: &Programs) -> Result<ServiceFile, Failure> {
    let text = PLIST
        .replace("/usr/local/bin/handoffd", &xml(&programs.handoffd)?)
        .replace("/Users/you/Library/Logs/handoffd.log", &xml(&log_file(home))?);
    Ok(ServiceFile::new(plist_path(home), &text, ("<!-- ", " -->"), Some("<plist version")))
}

fn xml(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let fault = || Failure::usage(format!("launchd cannot start a program with this path: {}", path.display()));
    Ok(text.ok_or_else(fault)?.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
}

fn plist_path(home: &Path) -> PathBuf {
    home.join(format!("Library/LaunchAgents/{LABEL}.plist"))
}

/// Where launchd puts what the daemon says before it has a log of its own.
pub(super) fn log_file(home: &Path) -> PathBuf {
    home.join("Library/Logs/handoffd.log")
}

fn home(ctx: &Context) -> Result<&Path, Failure> {
    ctx.env.home.as_deref().ok_or_else(|| Failure::usage("no home folder is known: set HOME"))
}

fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

fn target() -> String {
    format!("{}/{LABEL}", domain())
}

fn failed(words: String) -> Failure {
    Failure::new(Exit::NotGood, words)
}

fn launchctl(arguments: &[&str]) -> Result<(), String> {
    let mut command = spawn::command("launchctl", Path::new("/"));
    let output = command.args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot start launchctl: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("`launchctl {}` failed: {told}", arguments.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_texts_of_the_plist() {
        let programs = Programs { handoffd: "/opt/R&D/<x>/handoffd".into(), handoff: "/h".into() };
        let file = plist(Path::new("/Users/ann"), &programs).unwrap();
        assert_eq!(file.path, Path::new("/Users/ann/Library/LaunchAgents/io.github.handoffd.plist"));
        assert!(file.text.contains("<string>/opt/R&amp;D/&lt;x&gt;/handoffd</string>"), "{}", file.text);
        assert!(file.text.contains("<string>/Users/ann/Library/Logs/handoffd.log</string>"));
        assert!(!file.text.contains("/Users/you/Library") && !file.text.contains("/usr/local/bin/handoffd"));
        assert_eq!(file.text.matches("<plist version").count(), 1);
    }
}
