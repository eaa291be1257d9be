//! What every command is given: environment, working folder, streams, configuration, places. Read once; no command
//! asks the system for them again.

use std::cell::OnceCell;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use handoffd::config::{Config, Invalid};
use handoffd::env::Env;
use handoffd::places::folder::check_ground;
use handoffd::places::{Places, config_file};
use jiff::Timestamp;
use tokio::runtime::Runtime;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::time;

/// The surroundings of one command.
#[derive(Debug)]
pub(crate) struct Context {
    /// The environment.
    pub(crate) env: Env,
    /// The streams.
    pub(crate) out: Output,
    working_dir: Option<PathBuf>,
    config: OnceCell<(Config, Option<Invalid>)>,
}

impl Context {
    /// The surroundings of this process.
    pub(crate) fn of_process() -> Self {
        let env = Env::from_process();
        let out = Output::of_process(&env);
        Self { env, out, working_dir: std::env::current_dir().ok(), config: OnceCell::new() }
    }

    /// The surroundings of one call of a server, whose standard output belongs to a protocol: results go nowhere.
    pub(crate) fn of_call(env: Env, working_dir: Option<PathBuf>) -> Self {
        let out = Output::without_results();
        Self { env, out, working_dir, config: OnceCell::new() }
    }

    /// The folder that relative paths mean, and the project where none is named.
    pub(crate) fn working_dir(&self) -> Result<&Path, Failure> {
        self.working_dir.as_deref().ok_or_else(|| Failure::usage("the working folder is gone"))
    }

    /// From now on another folder is the working folder (`handoff next`).
    pub(crate) fn enter(&mut self, folder: PathBuf) {
        self.working_dir = Some(folder);
    }

    /// A path as typed, absolute.
    pub(crate) fn absolute(&self, typed: &Path) -> Result<PathBuf, Failure> {
        if typed.is_absolute() { Ok(typed.to_owned()) } else { Ok(self.working_dir()?.join(typed)) }
    }

    /// The configuration; an invalid one is told once and its defaults are used, so that a person can still look.
    pub(crate) fn config(&self) -> &Config {
        &self.read_config().0
    }

    /// As [`Context::config`], for a command that tells of problems itself.
    pub(crate) fn config_untold(&self) -> &Config {
        &self
            .config
            .get_or_init(|| {
                self.load().map_or_else(|invalid| (Config::default(), Some(invalid)), |config| (config, None))
            })
            .0
    }

    /// The configuration for commands that write where it says; an invalid one is refused.
    pub(crate) fn valid_config(&self) -> Result<&Config, Failure> {
        match self.read_config() {
            (config, None) => Ok(config),
            (_, Some(invalid)) => {
                let problems = invalid.problems.iter().map(ToString::to_string);
                Err(Failure::usage("the configuration is invalid").problems(problems))
            }
        }
    }

    fn read_config(&self) -> &(Config, Option<Invalid>) {
        self.config.get_or_init(|| match self.load() {
            Ok(config) => (config, None),
            Err(invalid) => {
                let first = invalid.problems.first().map(ToString::to_string).unwrap_or_default();
                self.out.warn(&format!("the configuration is invalid, its defaults are used here: {first}"));
                (Config::default(), Some(invalid))
            }
        })
    }

    fn load(&self) -> Result<Config, Invalid> {
        // Without a home there is no file.
        let Ok(path) = config_file(&self.env, None) else { return Ok(Config::default()) };
        Config::load(&path, &self.env).map(|(config, _)| config)
    }

    /// Where socket, registry and logs lie.
    pub(crate) fn places(&self) -> Result<Places, Failure> {
        Places::find(&self.env, self.config()).map_err(Failure::usage)
    }

    /// For commands that make files: as root, none are made where this user's folders are another user's, as with `sudo` and
    /// the home of who called it. That user could not write what root leaves (F159).
    pub(crate) fn own_places(&self) -> Result<(), Failure> {
        if !rustix::process::geteuid().is_root() {
            return Ok(());
        }
        check_ground(&self.places()?.state_dir).map_err(Failure::usage)
    }

    /// The wall clock.
    pub(crate) fn now(&self) -> Timestamp {
        time::now()
    }

    /// Whether a person can answer a question.
    pub(crate) fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Asks a question that is answered by `y` or anything else. Without a person the answer is no.
    pub(crate) fn confirm(&self, question: &str) -> bool {
        if !self.can_ask() {
            return false;
        }
        let question = handoffd::logging::sanitize::one_line(question).into_owned();
        io::stderr().write_all(format!("{question} [y/N] ").as_bytes()).ok();
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "Yes")
    }

    /// Runs async work on this thread.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        runtime()?.block_on(work)
    }

    /// Runs the beginning of longer async work, and gives the runtime that keeps what it opened alive.
    pub(crate) fn start<T>(
        &self,
        begin: impl AsyncFnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<(Runtime, T), Failure> {
        let runtime = runtime()?;
        let begun = runtime.block_on(begin(self))?;
        Ok((runtime, begun))
    }
}

fn runtime() -> Result<Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::new(Exit::NotGood, format!("cannot start the runtime: {error}")))
}
