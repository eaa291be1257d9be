//! A home of its own for one daemon, and the daemon itself. Nothing here asserts anything but that things come to pass.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoffd::config::Config;
use handoffd::env::Env;
use handoffd::manager::ConfigFile;
use handoffd::places::Places;
use handoffd::run::{Ended, RunError, Startup, run};
use handoffd::server::socket::Listener;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::client::Client;

/// Nothing that a test waits for takes longer, also on a busy machine.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// Set for a process that runs one test only.
const ALONE: &str = "HANDOFFD_TEST_ALONE";

/// One user's folders.
pub(crate) struct World {
    dir: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        // Short, because the socket's path is bounded.
        let dir = tempfile::Builder::new().prefix("hd").tempdir_in("/tmp").unwrap();
        std::fs::DirBuilder::new().mode(0o700).create(dir.path().join("run")).unwrap();
        Self { dir }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(below)
    }

    /// A folder with `.pi` in it.
    pub(crate) fn project(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.join(".pi")).unwrap();
        path
    }

    pub(crate) fn env(&self) -> Env {
        Env {
            home: Some(self.path("home")),
            xdg_runtime_dir: Some(self.path("run")),
            xdg_state_home: Some(self.path("state")),
            ..Env::default()
        }
    }

    pub(crate) fn places(&self) -> Places {
        Places::find(&self.env(), &Config::default()).unwrap()
    }

    pub(crate) fn write(&self, below: &str, text: &str) -> PathBuf {
        use std::io::Write as _;
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        path
    }

    /// What a daemon here is started with; `config` is the text of its file.
    pub(crate) fn startup(&self, config: &str) -> Startup {
        let file = self.write("config.toml", config);
        let (config, _) = Config::load(&file, &self.env()).unwrap();
        Startup { config_file: ConfigFile::Given(file), ..Startup::new(self.env(), self.places(), config) }
    }

    /// A daemon with these projects, for one run.
    pub(crate) async fn daemon(&self, projects: &[&Path]) -> Daemon {
        let projects = projects.iter().map(|path| path.to_path_buf()).collect();
        Daemon::start(Startup { projects, ..self.startup("") }).await
    }
}

/// A daemon that answers.
pub(crate) struct Daemon {
    socket: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<Ended, RunError>>,
}

impl Daemon {
    pub(crate) async fn start(startup: Startup) -> Self {
        Self::start_with(startup, Listener::Bind).await
    }

    pub(crate) async fn start_with(startup: Startup, listener: Listener) -> Self {
        let socket = startup.places.socket.path.clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(run(startup, listener, async { drop(stopped.await) }));
        let daemon = Self { socket, stop: Some(stop), task };
        let mut client = daemon.connect().await;
        client.hello().await;
        daemon
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Connects as soon as the socket is there.
    pub(crate) async fn connect(&self) -> Client {
        until("the socket can be connected to", || Client::try_connect(&self.socket)).await
    }

    /// A client that has said hello.
    pub(crate) async fn client(&self) -> Client {
        let mut client = self.connect().await;
        client.hello().await;
        client
    }

    /// Stops in order.
    pub(crate) async fn stop(mut self) -> Ended {
        self.stop.take().unwrap().send(()).unwrap();
        self.ended().await
    }

    /// Waits for the end that somebody else asked for.
    pub(crate) async fn ended(self) -> Ended {
        timeout(SOON, self.task).await.unwrap().unwrap().unwrap()
    }
}

/// Whether this process runs one test only: for what is the whole process's, as its memory and its umask. If not,
/// that test is run in such a process here, and must do well there.
#[expect(clippy::disallowed_methods, reason = "the test program starts itself again")]
pub(crate) fn is_alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let run = command.args(["--exact", test, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&run.stderr));
    false
}

/// Waits until `look` finds something.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> impl Future<Output = T> {
    let place = std::panic::Location::caller();
    async move {
        let deadline = Instant::now() + SOON;
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < deadline, "{place}: not in time: {what}");
            sleep(Duration::from_millis(5)).await;
        }
    }
}
