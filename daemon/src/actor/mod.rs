//! One actor per project: a mailbox, the state machine, at most one file job out (architecture, "Data flow").
//!
//! The actor decides nothing. It turns letters into events, carries out effects in order, and keeps what belongs to
//! requests that are still open. It never blocks: file work runs on the pool.

pub mod bodies;
mod effects;
mod facts;
pub mod mail;
mod open;
mod refusals;
mod replies;
mod status;
mod wait;

pub use effects::answer;
pub(crate) use effects::{known, limits};
pub use wait::Wanted;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use lifecycle::{Admin, Awake, Conn, Done, Event, Project};
use tokio::sync::{mpsc, watch};
use tokio::time::{Duration, Instant};

use self::bodies::Bodies;
use self::mail::{MAILBOX, Mail, ProjectRef};
use self::open::Open;
use self::wait::Waiters;
use crate::config::Settings;
use crate::hub::Hub;
use crate::jobs::{Context, Files, Prepared, body_of};
use crate::peer::Peer;
use crate::pool::{MOST_STUCK, STUCK_AFTER};
use crate::watch::Watched;

/// What an actor is made of.
pub struct ProjectSpec {
    /// The root, absolute.
    pub path: Arc<Path>,
    /// Its name.
    pub name: Arc<str>,
    /// Its settings.
    pub settings: Arc<Settings>,
    /// Whether it takes part.
    pub admin: Admin,
    /// A person paused it.
    pub paused: bool,
}

type JobFuture = Pin<Box<dyn Future<Output = (Option<Box<Files>>, Done)> + Send>>;

struct Actor {
    hub: Arc<Hub>,
    path: Arc<Path>,
    path_text: Arc<str>,
    name: Arc<str>,
    settings: Arc<Settings>,
    /// The settings of the moment of dispatch (D71).
    task_settings: Option<Arc<Settings>>,
    project: Project,
    files: Option<Box<Files>>,
    job: Option<(JobFuture, Instant)>,
    hung: bool,
    deadline: Option<Awake>,
    peers: Vec<Arc<Peer>>,
    open: Open,
    bodies: Bodies,
    waiters: Waiters,
    prepared: Option<Box<Prepared>>,
    queue: wire::status::QueueStatus,
    warnings: Vec<String>,
    watched: Arc<Watched>,
    processes: Vec<crate::processes::Watch>,
    /// Runs of an ended task that hold dispatch (D66), by id.
    runs: Vec<(String, crate::processes::Watch)>,
    sends: u32,
    /// The journal's row of the end that is being written.
    last_ended: Option<Box<wire::journal::Ended>>,
    moved_to: Option<String>,
    /// Since when the lock is ours.
    lock_since: Option<jiff::Timestamp>,
    /// It ends as soon as nothing is held any more.
    ending: bool,
    gone: bool,
    me: mpsc::WeakSender<Box<Mail>>,
}

/// Starts a project's actor. It ends by itself when the project has left.
pub fn spawn(hub: &Arc<Hub>, spec: ProjectSpec) -> ProjectRef {
    let (mail, letters) = mpsc::channel(MAILBOX);
    let handle = ProjectRef { path: spec.path.clone(), name: spec.name.clone(), mail: mail.clone() };
    let watched = hub.watch.register(&spec.path, mail.downgrade());
    let actor = Box::new(Actor::new(hub.clone(), spec, watched, mail.downgrade()));
    let gaps = hub.gaps();
    tokio::spawn(actor.run(letters, gaps));
    handle
}

impl Actor {
    fn new(hub: Arc<Hub>, spec: ProjectSpec, watched: Arc<Watched>, me: mpsc::WeakSender<Box<Mail>>) -> Self {
        let queue = wire::status::QueueStatus { status: None, task_id: None, problems: Vec::new() };
        let files = Box::new(Files::new(spec.path.clone(), watched.clone(), queue.clone()));
        Self {
            project: Project::new(limits(&spec.settings), spec.admin, spec.paused),
            path_text: spec.path.to_string_lossy().into(),
            hub,
            path: spec.path,
            name: spec.name,
            settings: spec.settings,
            task_settings: None,
            files: Some(files),
            job: None,
            hung: false,
            deadline: None,
            peers: Vec::new(),
            open: Open::default(),
            bodies: Bodies::default(),
            waiters: Waiters::default(),
            prepared: None,
            queue,
            warnings: Vec::new(),
            watched,
            processes: Vec::new(),
            runs: Vec::new(),
            sends: 0,
            last_ended: None,
            moved_to: None,
            lock_since: None,
            ending: false,
            gone: false,
            me,
        }
    }

    async fn run(mut self: Box<Self>, mut letters: mpsc::Receiver<Box<Mail>>, mut gaps: watch::Receiver<u64>) {
        self.step(Event::Tick);
        while !self.gone {
            let due = self.deadline.map(|at| Instant::now() + self.until(at));
            let stuck = self.job.as_ref().map(|(_, since)| *since + STUCK_AFTER).filter(|_| !self.hung);
            // One timer for both: there are as many as projects.
            let wake = due.into_iter().chain(stuck).min();
            tokio::select! {
                biased;
                done = next_done(&mut self.job) => self.job_done(done),
                letter = letters.recv() => match letter {
                    Some(letter) => self.read_letter(*letter),
                    None => break,
                },
                () = at(wake) => match stuck.filter(|stuck| *stuck <= Instant::now()) {
                    Some(_) => self.is_stuck(),
                    None => self.step(Event::Tick),
                },
                Ok(()) = gaps.changed() => self.step(Event::Woke),
            }
        }
        letters.close();
        self.hub.watch.unregister(&self.path);
        self.open.drop_all();
    }

    fn until(&self, deadline: Awake) -> Duration {
        // One millisecond more, so that the machine's clock has passed the deadline when we look.
        Duration::from_millis(deadline.0.saturating_sub(self.hub.awake().0) + 1)
    }

    fn read_letter(&mut self, letter: Mail) {
        match letter {
            Mail::Event(event) => self.take_event(event),
            Mail::Attach { attach, process, peer, answer } => self.attach(attach, process, peer, answer),
            Mail::Report { conn, report, answer } => self.report(conn, report, answer),
            Mail::Control { request, answer } => self.control(request, answer),
            Mail::Status(answer) => {
                answer.send(self.status()).ok();
            }
            Mail::Again { parent, task, answer } => self.submit_again(parent, task, answer),
            Mail::Rendered { peer, prepared, expires } => self.rendered(&peer, prepared, expires),
            Mail::WaitOver(number) => self.wait_over(number),
            Mail::WaitUnknown(wanted) => self.wait_for_a_read(wanted),
            Mail::WaitKnown => self.wait_no_longer(),
            Mail::Configure(settings) => {
                self.settings = settings;
                self.step(Event::Configure(limits(&self.settings)));
            }
            Mail::Leave => {
                self.ending = true;
                let req = self.open.internal();
                self.step(Event::Control { req, command: lifecycle::Command::Remove { now: false } });
            }
            Mail::Shutdown => {
                self.ending = true;
                self.step(Event::Shutdown);
            }
        }
    }

    fn take_event(&mut self, mut event: Event) {
        let mut closed = None;
        if let Event::Closed { conn, unsent } = &mut event {
            closed = Some(*conn);
            // A dispatch that was queued when the connection had already ended was not delivered either (D69).
            *unsent = unsent.or_else(|| self.peer(*conn)?.undelivered());
        }
        let before = self.owner_idle();
        self.step(event);
        let after = self.owner_idle();
        if let Some((id, idle)) =
            after.filter(|after| before.as_ref().is_some_and(|before| before.0 == after.0 && before.1 != after.1))
        {
            self.session_is(id, idle);
        }
        if let Some(conn) = closed {
            self.peers.retain(|peer| peer.conn() != conn);
        }
    }

    fn step(&mut self, event: Event) {
        let now = self.hub.now();
        let (mut effects, deadline) = self.project.step(event, now);
        self.deadline = deadline;
        effects::claim_first(&mut effects);
        for effect in effects {
            self.carry_out(effect, now);
        }
        self.watch_processes();
        self.watch_runs();
    }

    fn start_job(&mut self, job: lifecycle::Job) {
        let Some(mut files) = self.files.take() else { return };
        if self.hung && self.hub.pool.stuck() >= MOST_STUCK {
            tracing::warn!(project = %self.path.display(), "too many file systems do not answer; trying again later");
        }
        if matches!(job, lifecycle::Job::Claim(_)) {
            self.task_settings = Some(self.settings.clone());
        }
        let context = self.context(body_of(&job));
        let failed = effects::failed(&job);
        // Boxed: at the start every project has a job that waits for its turn.
        let work: Box<dyn FnOnce() -> (Box<Files>, Done) + Send> = Box::new(move || {
            let done = files.perform(job, &context);
            (files, done)
        });
        let running = self.hub.pool.run(work);
        let work = async move {
            match running.await {
                Ok((files, done)) => (Some(files), done),
                Err(_) => (None, failed),
            }
        };
        self.job = Some((Box::pin(work), Instant::now()));
    }

    fn context(&self, body: Option<lifecycle::Body>) -> Context {
        Context {
            hub: self.hub.clone(),
            settings: self.task_settings.clone().unwrap_or_else(|| self.settings.clone()),
            now: crate::convert::timestamp(self.hub.now().wall),
            running: self.project.running(),
            body: body.and_then(|body| self.bodies.get(body)),
            session_id: self.project.owner_session().map(str::to_owned),
        }
    }

    fn job_done(&mut self, (files, done): (Option<Box<Files>>, Done)) {
        self.job = None;
        self.hung = false;
        // After a panic everything that was open is gone; the machine finds out by the failed job and starts over.
        let mut files =
            files.unwrap_or_else(|| Box::new(Files::new(self.path.clone(), self.watched.clone(), self.queue.clone())));
        if let Some(prepared) = files.prepared.take() {
            self.prepared = Some(prepared);
        }
        if let Some(ended) = files.ended.take() {
            self.last_ended = Some(ended);
        }
        if let Some(moved_to) = files.moved_to.take() {
            self.lock_changed(wire::event::LockChange::Removed, Some(moved_to.clone()));
            self.moved_to = Some(moved_to);
        }
        if let Some(settings) = files.claimed_with.take() {
            self.task_settings = Some(settings);
        }
        let is_read = matches!(done, Done::Read(_));
        let outlived = files.outlived.take();
        let kept = std::mem::take(&mut files.kept);
        self.lock_since = files.lock.as_ref().and_then(|lock| lock.content().acquired_at);
        self.queue.clone_from(&files.queue);
        self.warnings.clone_from(&files.warnings);
        self.files = Some(files);
        if let Some((task_id, dispatch, runs)) = outlived.map(|outlived| *outlived) {
            self.step(Event::RunsAlive { task_id, dispatch, runs });
        }
        self.step(Event::Done(Box::new(done)));
        for name in kept {
            self.step(Event::Kept(name));
        }
        if is_read {
            self.wait_after_read();
        }
        self.recheck_waiters();
    }

    fn is_stuck(&mut self) {
        self.hung = true;
        tracing::warn!(project = %self.path.display(), "the project's file system does not answer");
        self.publish_state();
    }

    fn owner_idle(&self) -> Option<(String, bool)> {
        self.project.owner_activity().map(|(id, idle)| (id.to_owned(), idle))
    }

    fn peer(&self, conn: Conn) -> Option<&Arc<Peer>> {
        self.peers.iter().find(|peer| peer.conn() == conn)
    }

    /// Watches exactly the runs that hold dispatch, as far as their processes are known.
    fn watch_runs(&mut self) {
        let wanted = self.project.lingering();
        if wanted.is_empty() && self.runs.is_empty() {
            return;
        }
        self.runs.retain(|(id, _)| wanted.iter().any(|(known, _)| known == id));
        for (id, pid) in wanted {
            if let Some(pid) = pid.filter(|_| !self.runs.iter().any(|(known, _)| *known == id)) {
                self.runs.push((id.clone(), self.hub.processes.watch_run(id, pid, self.me.clone())));
            }
        }
    }

    /// Watches exactly the processes that the state machine knows.
    fn watch_processes(&mut self) {
        let wanted = self.project.processes();
        if wanted.is_empty() && self.processes.is_empty() {
            return;
        }
        self.processes.retain(|watch| wanted.contains(&watch.process()));
        for process in wanted {
            if !self.processes.iter().any(|watch| watch.process() == process) {
                self.processes.push(self.hub.processes.watch(process, self.me.clone()));
            }
        }
    }
}

async fn next_done(job: &mut Option<(JobFuture, Instant)>) -> (Option<Box<Files>>, Done) {
    match job {
        Some((future, _)) => future.await,
        None => std::future::pending().await,
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
