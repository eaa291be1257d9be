//! The program `handoffd`: arguments, signals and exit codes around [`crate::run`]. No rule of the daemon is here.

mod args;
mod descriptors;
mod fault;
mod signals;
mod voice;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use tracing::Level;

use self::args::Args;
use self::fault::Fault;
use self::signals::Signals;
use self::voice::Voice;
use crate::causes::chain;
use crate::config::{Config, Finding, Invalid};
use crate::env::Env;
use crate::instance::{InstanceError, is_held};
use crate::logging::{self, LogGuard, LogSettings, Target};
use crate::manager::ConfigFile;
use crate::places::{self, Places};
use crate::run::{RunError, Startup, run};
use crate::server::socket::Listener;
use crate::supervision::Supervisor;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// Stopped in order, or nothing was wrong.
    Good = 0,
    /// It could not go on.
    Failed = 1,
    /// Wrong arguments, an invalid configuration, or a state folder without file locks (F086). The shipped units do not
    /// start it again after this.
    Invalid = 2,
    /// Another daemon is running.
    AnotherRuns = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The arguments, for the manual page.
#[must_use]
pub fn command() -> clap::Command {
    <Args as clap::CommandFactory>::command()
}

/// The whole program.
#[must_use]
pub fn main() -> ExitCode {
    let env = Env::from_process();
    let (supervisor, voice) = (Supervisor::of(&env), Voice::of(&env));
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(words) => return not_understood(&words, supervisor, voice),
    };
    if args.check {
        let (exit, level, lines) = match prepare(&args, env.clone()) {
            Ok(ready) => (Exit::Good, Level::WARN, ready.warnings),
            Err(fault) => (fault.exit, Level::ERROR, fault.lines),
        };
        voice.tell(level, &lines);
        return exit.into();
    }
    let listener = Listener::from_environment();
    let waiting = listener.as_ref().ok().and_then(Listener::passed);
    let listener = listener.map_err(|error| Fault::failed(&error));
    match listener.and_then(|listener| serve(prepare(&args, env.clone())?, listener, supervisor, voice)) {
        Ok(exit) => exit.into(),
        Err(fault) => {
            voice.tell(Level::ERROR, &fault.lines);
            // It may be mended while clients are told of it.
            let now = || prepare(&args, env.clone());
            fault.end(supervisor, voice, waiting, &|| match fault.exit {
                Exit::Invalid if !fault.what.is_empty() => now().is_err_and(|now| now.lines == fault.lines),
                Exit::AnotherRuns => now().is_ok_and(|ready| is_held(&ready.places.instance_lock())),
                Exit::Invalid | Exit::Good | Exit::Failed => true,
            })
        }
    }
}

/// `--help` and `--version` come here as well.
fn not_understood(words: &clap::Error, supervisor: Supervisor, voice: Voice) -> ExitCode {
    // Nobody is left to tell when this fails.
    words.print().ok();
    if !words.use_stderr() {
        return Exit::Good.into();
    }
    let first = words.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let waiting = Listener::from_environment().ok().as_ref().and_then(Listener::passed);
    let fault = Fault { exit: Exit::Invalid, what: "its command line is wrong", lines: vec![first] };
    fault.end(supervisor, voice, waiting, &|| true)
}

/// What was found out before anything is started.
struct Ready {
    env: Env,
    config: Config,
    config_file: ConfigFile,
    places: Places,
    projects: Vec<PathBuf>,
    warnings: Vec<String>,
}

/// Reads the configuration. All problems come back, each a line with file, line and key.
fn prepare(args: &Args, env: Env) -> Result<Ready, Fault> {
    let invalid = |lines| Fault { exit: Exit::Invalid, what: "its configuration is invalid", lines };
    let one = |error: &dyn std::error::Error| invalid(vec![error.to_string()]);
    let path = places::config_file(&env, args.config.as_deref()).map_err(|error| one(&error))?;
    let config_file = match args.config {
        Some(_) => ConfigFile::Given(path),
        None => ConfigFile::Usual(path),
    };
    let lines = |findings: &[Finding]| findings.iter().map(ToString::to_string).collect::<Vec<_>>();
    let loaded = config_file.load(&env);
    let (config, warnings) = loaded.map_err(|Invalid { problems, .. }| invalid(lines(&problems)))?;
    let places = Places::find(&env, &config).map_err(|error| one(&error))?;
    let absolute = |path: &PathBuf| std::path::absolute(path).map_err(|error| one(&error));
    let projects = args.projects.iter().map(absolute).collect::<Result<_, _>>()?;
    Ok(Ready { env, config, config_file, places, projects, warnings: lines(&warnings) })
}

fn serve(ready: Ready, listener: Listener, supervisor: Supervisor, voice: Voice) -> Result<Exit, Fault> {
    // Before the log is opened in there: this error says whose the folder is and what to do (F159).
    ready.places.prepare().map_err(|error| Fault::failed(&error))?;
    let settings = LogSettings::from_config(&ready.config.log, &ready.env, &ready.places.log_dir);
    let log = Arc::new(logging::init(&settings).map_err(|error| Fault::failed(&error))?);
    // A full disk stops the log and not the daemon; `daemon.status` says it as long as it is so.
    voice.tell(Level::WARN, log.trouble().as_slice());
    start(ready, listener, supervisor, &log).map_err(|error| {
        // Whoever reads stderr is told in any case, and need not hear it twice.
        if matches!(settings.target, Target::Files(_)) {
            tracing::error!(error = chain(&*error), "handoffd cannot run");
        }
        let exit = match error.downcast_ref::<RunError>() {
            Some(RunError::Instance(InstanceError::Held { .. })) => Exit::AnotherRuns,
            Some(RunError::Instance(InstanceError::NoLocks { .. })) => Exit::Invalid,
            _ => Exit::Failed,
        };
        Fault { exit, ..Fault::failed(&*error) }
    })
}

fn start(
    ready: Ready,
    listener: Listener,
    supervisor: Supervisor,
    log: &Arc<LogGuard>,
) -> Result<Exit, Box<dyn std::error::Error>> {
    for warning in &ready.warnings {
        tracing::warn!("{warning}");
    }
    descriptors::raise_limit();
    let log = Arc::clone(log);
    // All work is small, and what blocks runs on threads of the pool: one thread is enough and costs least.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let signals = Signals::listen()?;
        let startup = Startup {
            config_file: ready.config_file,
            warnings: ready.warnings,
            projects: ready.projects,
            supervisor,
            reloads: Some(signals.reloads),
            log: Some(log),
            ..Startup::new(ready.env, ready.places, ready.config)
        };
        Ok::<_, Box<dyn std::error::Error>>(run(startup, listener, signals.stop).await?)
    });
    // Threads that hang in a file system are not waited for (D73).
    runtime.shutdown_background();
    Ok(if result?.left_behind.is_empty() { Exit::Good } else { Exit::Failed })
}
