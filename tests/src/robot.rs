//! A session that works by itself, for scenarios in which only the sums matter: it takes every task, reports COMPLETE,
//! becomes idle, and comes back with its records whenever the daemon was away.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::process::SessionProcess;
use crate::project::Project;
use crate::report;
use crate::session::{Attach, Dispatch, Known, Session};

/// A working session. Ends when dropped.
pub struct Robot {
    done: Arc<AtomicBool>,
    dispatches: Arc<Mutex<Vec<Dispatch>>>,
    thread: Option<JoinHandle<()>>,
}

impl Robot {
    /// Starts to work for one project, now or as soon as a daemon listens.
    #[must_use]
    pub fn start(process: &Arc<SessionProcess>, socket: PathBuf, project: &Project, id: &str) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let dispatches = Arc::new(Mutex::new(Vec::new()));
        let worker = Worker {
            id: id.to_owned(),
            process: Arc::clone(process),
            socket,
            project: project.clone(),
            done: Arc::clone(&done),
            dispatches: Arc::clone(&dispatches),
        };
        Self { done, dispatches, thread: Some(std::thread::spawn(move || worker.work())) }
    }

    /// Every task message that came, in order.
    ///
    /// # Panics
    /// Never in practice.
    #[must_use]
    pub fn dispatches(&self) -> Vec<Dispatch> {
        self.dispatches.lock().unwrap().clone()
    }
}

impl Drop for Robot {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || !matches!(ended, Some(Err(_))), "the robot failed");
    }
}

struct Worker {
    id: String,
    process: Arc<SessionProcess>,
    socket: PathBuf,
    project: Project,
    done: Arc<AtomicBool>,
    dispatches: Arc<Mutex<Vec<Dispatch>>>,
}

impl Worker {
    fn work(&self) {
        let mut session: Option<Session> = None;
        let mut reported = 0;
        while !self.done.load(Ordering::Relaxed) {
            if session.as_ref().is_none_or(|session| session.peer.is_closed()) {
                session = self.attach(session.as_ref(), reported).or(session);
            }
            if let Some(session) = &session {
                let all = session.dispatches();
                self.dispatches.lock().unwrap().clone_from(&all);
                if !session.peer.is_closed() && reported < all.len() && work_on(session, &all[reported]) {
                    reported += 1;
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Comes back with what it has but has not yet reported.
    fn attach(&self, before: Option<&Session>, reported: usize) -> Option<Session> {
        let open = before.and_then(|session| session.dispatches().get(reported).cloned());
        let known = open.map_or(Known::Nothing, |dispatch| Known::Delivered(dispatch.id));
        let mut how = Attach::again(&self.id, known.clone());
        how.idle = known == Known::Nothing;
        match before {
            Some(session) => session.try_reattach(&self.socket, &how),
            None => Session::try_attach(&self.process, &self.socket, self.project.root(), &how),
        }
    }
}

/// Reports until it is clear what became of the dispatch; false when the connection was lost meanwhile.
fn work_on(session: &Session, dispatch: &Dispatch) -> bool {
    match session.report(dispatch, report::complete()) {
        Err(refused) if refused.name() == "closed" => return false,
        // To be sent again: when it can be written, or to the next daemon.
        Err(refused) if ["cannot_write", "queue_unreadable", "shutting_down"].contains(&refused.name()) => {
            return false;
        }
        _ => {}
    }
    session.settled(dispatch);
    session.state("idle");
    true
}
