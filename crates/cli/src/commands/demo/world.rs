//! The throw-away world of the demo: a project, a home, and a daemon on a thread of its own. All of it is removed when
//! the demo ends.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use handoffd::config::{Config, WorkLogSettings};
use handoffd::env::Env;
use handoffd::places::Places;
use handoffd::run::{Startup, run};
use handoffd::server::socket::Listener;
use jiff::Timestamp;
use queue::{Field, Submission, format_time, limits};
use serde_json::Value;
use store::sys::Sys;
use store::{PiFolder, ProjectDir};
use tempfile::TempDir;
use tokio::sync::oneshot;
use wire::client::{Client, ClientError, Inbox};
use wire::hello::ClientInfo;

use crate::commands::init;
use crate::commands::submit::write_offline;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// How long the daemon may take to listen.
const LISTENS_WITHIN: Duration = Duration::from_secs(5);

/// Everything that the demo makes.
pub(super) struct World {
    pub(super) root: PathBuf,
    pub(super) socket: PathBuf,
    log: WorkLogSettings,
    stop: oneshot::Sender<()>,
    daemon: JoinHandle<()>,
    // Dropped last: the daemon writes into it.
    _folder: TempDir,
}

impl World {
    /// Makes the project and starts the daemon.
    pub(super) fn make(ctx: &Context) -> Result<Self, Failure> {
        let fault = |error: std::io::Error| Failure::usage(format!("cannot make a throw-away folder: {error}"));
        let folder = tempfile::Builder::new().prefix("handoff-demo-").tempdir().map_err(fault)?;
        let base = folder.path().canonicalize().map_err(fault)?;
        let root = base.join("project");
        std::fs::create_dir_all(root.join("src")).map_err(fault)?;
        let log = Config::default().settings(None, &handoffd::config::ProjectFile::default()).work_log;
        let project =
            ProjectDir::open(&root, &Sys::real(), PiFolder::Create).map_err(|error| Failure::not_opened(&error))?;
        init::make_quietly(&Arc::new(project), &root, &log, ctx.now())?;
        let env = Env { home: Some(base.join("home")), ..Env::default() };
        let config = Config::default();
        let places = Places::find(&env, &config).map_err(Failure::usage)?;
        let socket = places.socket.path.clone();
        let startup = Startup { projects: vec![root.clone()], ..Startup::new(env, places, config) };
        let (stop, stopped) = oneshot::channel();
        let daemon = std::thread::spawn(move || serve(startup, stopped));
        Ok(Self { root, socket, log, stop, daemon, _folder: folder })
    }

    /// Connects as soon as the daemon listens.
    pub(super) async fn connect(&self) -> Result<(Client, Inbox), Failure> {
        let deadline = Instant::now() + LISTENS_WITHIN;
        loop {
            let name = ClientInfo { name: "handoff demo".to_owned(), version: crate::VERSION.to_owned() };
            match Client::connect(&self.socket, name).await {
                Ok((client, inbox, _)) => return Ok((client, inbox)),
                Err(ClientError::NotReachable { .. }) if Instant::now() < deadline && !self.daemon.is_finished() => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Err(error) => {
                    return Err(Failure::new(Exit::NotGood, format!("the demo's daemon did not start: {error}")));
                }
            }
        }
    }

    /// The planner's write.
    pub(super) fn plan(&self, ctx: &Context, task: &Value) -> Result<(), Failure> {
        let mut task = Submission::parse(&task.to_string()).map_err(Failure::usage)?;
        let now: Timestamp = ctx.now();
        task.set_string(Field::CreatedAt, &format_time(now));
        task.set_string(Field::CreatedBy, limits::CREATOR);
        write_offline(ctx, &self.root, &task).map(|_| ())
    }

    /// What the work log says.
    pub(super) fn work_log(&self) -> String {
        std::fs::read_to_string(self.root.join(&self.log.path)).unwrap_or_default()
    }

    /// Ends the daemon, then everything goes.
    pub(super) fn stop(self) {
        self.stop.send(()).ok();
        self.daemon.join().ok();
    }
}

/// The daemon, until it is told to stop. An error shows as a daemon that cannot be reached.
fn serve(startup: Startup, stopped: oneshot::Receiver<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let until = async {
        stopped.await.ok();
    };
    runtime.block_on(run(startup, Listener::Bind, until)).ok();
}
