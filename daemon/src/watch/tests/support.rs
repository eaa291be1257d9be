//! A watcher that runs, projects on the real disk, recorded mailboxes, and a backend that does what a test wants.

#![expect(clippy::disallowed_methods, reason = "tests play the planner and its editors, which know no `store`")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use lifecycle::Event;
use store::sys::Sys;
use store::{PiFolder, ProjectDir};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::actor::mail::Mail;
use crate::config::{WatchConfig, WatchMode};
use crate::pool::Pool;
use crate::watch::backend::{About, Backend, Fault, HandOver, Hint, Sink};
use crate::watch::sweep;
use crate::watch::{Watch, Watched};

/// Whatever must happen has happened by then, however slow the machine.
pub(in crate::watch) const DEADLINE: Duration = Duration::from_secs(60);
/// Tests that this must not help: far longer than they wait.
pub(in crate::watch) const NO_SWEEP: Duration = Duration::from_secs(600);
/// Tests that it must do all.
pub(in crate::watch) const FAST_SWEEP: Duration = Duration::from_millis(20);

/// A look that takes longer hangs: on a busy machine it is none that only had to wait for a processor.
const STUCK_AFTER: Duration = Duration::from_secs(1);

/// A cell that nothing is behind.
pub(in crate::watch) fn cell(path: &str) -> Arc<Watched> {
    let (mail, _letters) = mpsc::channel(1);
    Watched::new(Path::new(path).into(), mail.downgrade(), Weak::new())
}

/// A backend that delivers nothing by itself.
#[derive(Default)]
pub(in crate::watch) struct Silent {
    sink: Mutex<Option<Sink>>,
    pub(in crate::watch) folders: Mutex<Vec<PathBuf>>,
    /// Adding a folder below this one fails.
    pub(in crate::watch) refuses: Mutex<Option<(PathBuf, Fault)>>,
}

struct Handle(Arc<Silent>);

impl Backend for Handle {
    fn add(&mut self, folder: &Path) -> Result<(), Fault> {
        match &*self.0.refuses.lock().unwrap() {
            Some((below, fault)) if folder.starts_with(below) => return Err(fault.clone()),
            _ => {}
        }
        self.0.folders.lock().unwrap().push(folder.to_owned());
        Ok(())
    }

    fn remove(&mut self, folder: &Path) {
        self.0.folders.lock().unwrap().retain(|known| known != folder);
    }
}

impl Silent {
    pub(in crate::watch) fn hint(&self, path: &Path) {
        let sink = self.sink.lock().unwrap().clone().unwrap();
        sink(&Hint::Path { path, about: About::Content });
        sink(&Hint::Wake);
    }

    /// A hint that is looked at on this thread.
    pub(in crate::watch) fn look(&self, path: &Path) {
        let sink = self.sink.lock().unwrap().clone().unwrap();
        sink(&Hint::Path { path, about: About::Content });
        sink(&Hint::Look(HandOver(&|| false)));
    }

    pub(in crate::watch) fn lost(&self) {
        self.sink.lock().unwrap().as_ref().unwrap()(&Hint::Lost);
    }
}

/// A running watcher.
pub(in crate::watch) struct World {
    pub(in crate::watch) watch: Arc<Watch>,
    pub(in crate::watch) folder: TempDir,
    running: JoinHandle<()>,
}

impl Drop for World {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl World {
    /// With the events of this system.
    pub(in crate::watch) fn native(sweep_interval: Duration) -> Self {
        Self::run(Watch::new(&WatchConfig { mode: WatchMode::Auto, sweep_interval }))
    }

    /// With a backend that delivers what the test tells it to.
    pub(in crate::watch) fn silent(sweep_interval: Duration) -> (Self, Arc<Silent>) {
        let silent = Arc::new(Silent::default());
        let backend = silent.clone();
        let open = move |sink: Sink| {
            *backend.sink.lock().unwrap() = Some(sink);
            Ok(Box::new(Handle(backend.clone())) as Box<dyn Backend>)
        };
        let config = WatchConfig { mode: WatchMode::Auto, sweep_interval };
        (Self::run(Watch::with_backend(&config, Box::new(open))), silent)
    }

    pub(in crate::watch) fn run(watch: Watch) -> Self {
        let watch = Arc::new(watch);
        let shared = watch.shared.clone();
        let stuck_after = STUCK_AFTER;
        let running = tokio::spawn(async move { sweep::supervise(&shared, Pool::default(), stuck_after).await });
        Self { watch, folder: tempfile::tempdir().unwrap(), running }
    }

    pub(in crate::watch) fn project(&self, name: &str) -> Project {
        self.project_on(name, &Sys::real())
    }

    pub(in crate::watch) fn project_on(&self, name: &str, sys: &Sys) -> Project {
        let root = self.folder.path().join(name);
        std::fs::create_dir_all(&root).unwrap();
        let (mail, letters) = mpsc::channel(64);
        let watched = self.watch.register(&root.as_path().into(), mail.downgrade());
        let mut project = Project { root, dir: None, watched, _mail: mail, letters };
        project.open(sys);
        project
    }

    /// Waits until every project was looked at `times` more times.
    pub(in crate::watch) async fn sweeps(&self, times: u64) {
        let projects = self.watch.shared.projects.lock().unwrap().len() as u64;
        let looks = || self.watch.shared.looks.load(std::sync::atomic::Ordering::Relaxed);
        let wanted = looks() + projects * (times + 1);
        until(|| looks() >= wanted).await;
    }
}

/// Waits for a condition.
pub(in crate::watch) async fn until(mut condition: impl FnMut() -> bool) {
    let wait = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(DEADLINE, wait).await.expect("the condition holds in time");
}

/// One project, with the part of its actor that the watcher meets.
pub(in crate::watch) struct Project {
    pub(in crate::watch) root: PathBuf,
    pub(in crate::watch) dir: Option<Arc<ProjectDir>>,
    pub(in crate::watch) watched: Arc<Watched>,
    _mail: mpsc::Sender<Box<Mail>>,
    letters: mpsc::Receiver<Box<Mail>>,
}

impl Project {
    pub(in crate::watch) fn open(&mut self, sys: &Sys) {
        let dir = Arc::new(ProjectDir::open(&self.root, sys, PiFolder::Create).unwrap());
        self.watched.note_folder(&dir);
        self.watched.note_lock(&dir);
        self.dir = Some(dir);
        self.read();
    }

    pub(in crate::watch) fn queue(&self) -> PathBuf {
        self.root.join("tasks.json")
    }

    /// Saves in place, as some editors do.
    pub(in crate::watch) fn write(&self, text: &str) {
        std::fs::write(self.queue(), text).unwrap();
    }

    /// Saves by rename, as others do.
    pub(in crate::watch) fn replace(&self, text: &str) {
        let temporary = self.root.join("tasks.json.tmp");
        std::fs::write(&temporary, text).unwrap();
        std::fs::rename(temporary, self.queue()).unwrap();
    }

    /// What the actor does when it was touched.
    pub(in crate::watch) fn read(&self) -> Option<String> {
        let file = self.dir.as_ref()?.read_queue();
        self.watched.note_read(file.as_ref().ok().map(|file| file.stamp));
        Some(String::from_utf8(file.ok()?.bytes).unwrap())
    }

    /// Waits until the actor is touched.
    pub(in crate::watch) async fn touched(&mut self) {
        let letter = timeout(DEADLINE, self.letters.recv()).await.expect("the actor is told in time").unwrap();
        assert!(matches!(*letter, Mail::Event(Event::Touched)), "{letter:?}");
    }

    /// Reads whenever touched, never by itself, until the file says `text`.
    pub(in crate::watch) async fn sees(&mut self, text: &str) {
        self.touched().await;
        while self.read().as_deref() != Some(text) {
            self.touched().await;
        }
    }

    /// Takes the letters that lie there, and says how many.
    pub(in crate::watch) fn letters(&mut self) -> usize {
        std::iter::from_fn(|| self.letters.try_recv().ok()).count()
    }

    /// Reads until the watcher is content with what was read.
    pub(in crate::watch) async fn settle(&mut self, world: &World) {
        let wait = async {
            while !self.watched.is_settled() {
                self.letters();
                self.read();
                world.sweeps(1).await;
            }
            self.letters();
        };
        timeout(DEADLINE, wait).await.expect("the watcher settles");
    }
}
