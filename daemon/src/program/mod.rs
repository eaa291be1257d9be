//! The program `handoffd`: arguments, signals and exit codes around [`crate::run`]. No rule of the daemon is here.

mod args;
mod descriptors;
mod signals;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;

use self::args::Args;
use self::signals::Signals;
use crate::config::{Config, Finding, Invalid};
use crate::env::Env;
use crate::instance::InstanceError;
use crate::logging::{self, LogGuard, LogSettings};
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
    /// Wrong arguments or an invalid configuration. The shipped units do not start it again after this.
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
    let args = Args::parse();
    let env = Env::from_process();
    let supervisor = Supervisor::of(&env);
    match prepare(&args, env) {
        Err(problems) => {
            tell(&problems);
            if !args.check {
                supervisor.says(&format!("The configuration is invalid: {}", problems.join("; ")));
            }
            for_supervisor(Exit::Invalid, supervisor)
        }
        Ok(ready) if args.check => {
            tell(&ready.warnings);
            Exit::Good.into()
        }
        Ok(ready) => for_supervisor(serve(ready, supervisor), supervisor),
    }
}

/// launchd starts again whatever does not end with 0. Where another start would not help it must be 0 (F133).
fn for_supervisor(exit: Exit, supervisor: Supervisor) -> ExitCode {
    match (exit, supervisor) {
        (Exit::Invalid | Exit::AnotherRuns, Supervisor::Launchd) => Exit::Good.into(),
        (exit, _) => exit.into(),
    }
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
fn prepare(args: &Args, env: Env) -> Result<Ready, Vec<String>> {
    let one = |error: &dyn std::error::Error| vec![error.to_string()];
    let path = places::config_file(&env, args.config.as_deref()).map_err(|error| one(&error))?;
    let config_file = match args.config {
        Some(_) => ConfigFile::Given(path),
        None => ConfigFile::Usual(path),
    };
    let lines = |findings: &[Finding]| findings.iter().map(ToString::to_string).collect::<Vec<_>>();
    let loaded = config_file.load(&env);
    let (config, warnings) = loaded.map_err(|Invalid { problems, .. }| lines(&problems))?;
    let places = Places::find(&env, &config).map_err(|error| one(&error))?;
    let absolute = |path: &PathBuf| std::path::absolute(path).map_err(|error| one(&error));
    let projects = args.projects.iter().map(absolute).collect::<Result<_, _>>()?;
    Ok(Ready { env, config, config_file, places, projects, warnings: lines(&warnings) })
}

fn serve(ready: Ready, supervisor: Supervisor) -> Exit {
    // Before the log is opened in there: this error says whose the folder is and what to do (F159).
    if let Err(error) = ready.places.prepare() {
        return failed(&error, supervisor);
    }
    let settings = LogSettings::from_config(&ready.config.log, &ready.env, &ready.places.log_dir);
    let log = match logging::init(&settings) {
        Ok(log) => Arc::new(log),
        Err(error) => return failed(&error, supervisor),
    };
    // A full disk stops the log and not the daemon; `daemon.status` says it as long as it is so.
    tell(log.trouble().as_slice());
    match start(ready, supervisor, &log) {
        Ok(exit) => exit,
        Err(error) => {
            tracing::error!(error = chain(&*error), "handoffd cannot run");
            failed(&*error, supervisor);
            match error.downcast_ref::<RunError>() {
                Some(RunError::Instance(InstanceError::Held { .. })) => Exit::AnotherRuns,
                _ => Exit::Failed,
            }
        }
    }
}

/// Says why to whoever started us.
fn failed(error: &dyn std::error::Error, supervisor: Supervisor) -> Exit {
    let why = chain(error);
    supervisor.says(&why);
    tell(&[why]);
    Exit::Failed
}

fn start(ready: Ready, supervisor: Supervisor, log: &Arc<LogGuard>) -> Result<Exit, Box<dyn std::error::Error>> {
    for warning in &ready.warnings {
        tracing::warn!("{warning}");
    }
    descriptors::raise_limit();
    let listener = Listener::from_environment()?;
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

/// Lines for the person who started the program.
fn tell(lines: &[String]) {
    let mut stderr = std::io::stderr().lock();
    for line in lines {
        // Nobody is left to tell when this fails.
        writeln!(stderr, "handoffd: {line}").ok();
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let words = source.to_string();
        if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
        next = source.source();
    }
    text
}
