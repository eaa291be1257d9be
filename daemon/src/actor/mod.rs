//! One actor per project: a mailbox, the state machine, at most one file job out (architecture, "Data flow").
//!
//! The actor decides nothing. It turns letters into events, carries out effects in order, and keeps what belongs to
//! requests that are still open. It never blocks: file work runs on the pool.

pub mod bodies;
pub(crate) mod cell;
mod effects;
mod facts;
mod hooks;
pub mod mail;
mod open;
mod refusals;
mod replies;
mod said;
mod status;
mod wait;

pub use effects::answer;
pub(crate) use effects::{known, limits};
pub use wait::Wanted;

use std::path::Path;
use std::sync::Arc;

use lifecycle::{Admin, Awake, Conn, Done, Effect, Event, Moment, Project, Wall};
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::bodies::Bodies;
use self::cell::{Cell, Chain, Work};
use self::mail::{MAILBOX, Mail, ProjectRef};
use self::open::Open;
use self::wait::Waiters;
use crate::config::Settings;
use crate::hub::Hub;
use crate::jobs::{Context, Files, LeftBy, Likely, Prepared, body_of};
use crate::peer::Peer;
use crate::pool::MOST_STUCK;
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

/// State, reason, why, next.
type ToldState = (wire::status::ProjectState, Option<wire::status::StateReason>, Option<String>, Option<String>);

/// A dispatch that was begun longer ago gets a beginning of its own.
const BEGUN_FOR_MS: i64 = 1000;

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
    /// The job that is to begin, for whoever holds the lock now.
    next: Option<Box<Work>>,
    /// Jobs that were begun, for the task to wait for.
    chain: Option<Chain>,
    /// Since when a job is out.
    job_since: Option<Instant>,
    /// The moment of the step that will decide on what is being read.
    likely: Option<Moment>,
    /// What that job is taken for if it panics.
    failed: Option<Done>,
    hung: bool,
    /// Facts that are told when what is more urgent is under way.
    untold: Vec<(Effect, Moment)>,
    /// What was told last of what a person sees.
    told_state: Option<Box<ToldState>>,
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
    /// Runs whose end nobody else tells (D66), by id.
    runs: Vec<(String, crate::processes::Watch)>,
    /// The journal's row of the end that is being written.
    last_ended: Option<Box<wire::journal::Ended>>,
    moved_to: Option<String>,
    /// The lock was told to be ours.
    holds_lock: bool,
    /// Who left the lock that was taken over last.
    left_by: Option<LeftBy>,
    /// Since when the lock is ours.
    lock_since: Option<jiff::Timestamp>,
    /// It ends as soon as nothing is held any more.
    ending: bool,
    gone: bool,
    me: mpsc::WeakSender<Box<Mail>>,
}

/// What was begun at `then` may count as begun `now`. The clock may have been set meanwhile, or the machine have slept.
fn is_just_before(then: Wall, now: Wall) -> bool {
    (0..=BEGUN_FOR_MS).contains(&now.0.saturating_sub(then.0))
}

/// Starts a project's actor. It ends by itself when the project has left.
pub fn spawn(hub: &Arc<Hub>, spec: ProjectSpec) -> ProjectRef {
    let (mail, letters) = mpsc::channel(MAILBOX);
    let handle = ProjectRef { path: spec.path.clone(), name: spec.name.clone(), mail: mail.clone() };
    let watched = hub.watch.register(&spec.path, mail.downgrade());
    let cell = Cell::new(Actor::new(hub.clone(), spec, watched.clone(), mail.downgrade()));
    watched.set_actor(&cell);
    let gaps = hub.gaps();
    tokio::spawn(cell.run(letters, gaps));
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
            next: None,
            chain: None,
            job_since: None,
            likely: None,
            failed: None,
            hung: false,
            untold: Vec::new(),
            told_state: None,
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
            last_ended: None,
            moved_to: None,
            holds_lock: false,
            left_by: None,
            lock_since: None,
            ending: false,
            gone: false,
            me,
        }
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
            Mail::WaitKnown(number) => self.wait_no_longer(number),
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
        self.step_at(event, self.hub.now());
    }

    /// Awake time is what it is now; the rest is that of the dispatch that was begun for this decision, if one was, and
    /// if that is not long ago: a task that waited for a slow disk has not been RUNNING meanwhile.
    fn moment_of_decision(&mut self, begun: bool) -> Moment {
        let now = self.hub.now();
        match self.likely.take().filter(|likely| begun && is_just_before(likely.wall, now.wall)) {
            Some(likely) => Moment { awake: now.awake, ..likely },
            None => now,
        }
    }

    fn step_at(&mut self, event: Event, now: Moment) {
        let (mut effects, deadline) = self.project.step(event, now);
        self.deadline = deadline;
        let urgent = effects::take_urgent(&mut effects);
        let is_urgent = urgent.is_some();
        match urgent {
            Some(effect) => self.carry_out(effect, now),
            None => self.tell_untold(),
        }
        for effect in effects {
            // What else is to be said about the task that is on its way can wait until it is there.
            match is_urgent && matches!(effect, Effect::Record(_)) {
                true => self.untold.push((effect, now)),
                false => self.carry_out(effect, now),
            }
        }
        self.watch_processes();
        self.watch_runs();
    }

    fn start_job(&mut self, job: lifecycle::Job) {
        let Some(files) = self.files.take() else { return };
        if self.hung && self.hub.pool.stuck() >= MOST_STUCK {
            tracing::warn!(project = %self.path.display(), "too many file systems do not answer; trying again later");
        }
        if matches!(job, lifecycle::Job::Claim(_)) {
            self.task_settings = Some(self.settings.clone());
        }
        let mut context = self.context(body_of(&job));
        if matches!(job, lifecycle::Job::Read) {
            let moment = || self.hub.now();
            let likely = self.project.likely_to_claim().map(|session| Likely { moment: moment(), session });
            self.likely = likely.map(|likely| likely.moment);
            context.likely = likely;
        }
        self.failed = Some(effects::failed(&job));
        self.job_since = Some(Instant::now());
        self.next = Some(Box::new(Work { files, job, context }));
    }

    /// Tells what had to wait, in its order and before anything that came later.
    fn tell_untold(&mut self) {
        for (effect, then) in std::mem::take(&mut self.untold) {
            self.carry_out(effect, then);
        }
    }

    fn context(&self, body: Option<lifecycle::Body>) -> Context {
        Context {
            hub: self.hub.clone(),
            settings: self.task_settings.clone().unwrap_or_else(|| self.settings.clone()),
            now: crate::convert::timestamp(self.hub.now().wall),
            running: self.project.running(),
            body: body.and_then(|body| self.bodies.get(body)),
            session_id: self.project.owner_session().map(str::to_owned),
            likely: None,
        }
    }

    /// Takes the files back and what came of the job.
    fn took(&mut self, files: Option<Box<Files>>, done: Done) {
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
        let begun = files.begun.is_some();
        let outlived = files.outlived.take();
        self.left_by = files.left_by.take();
        let kept = std::mem::take(&mut files.kept);
        self.lock_since = files.lock.as_ref().and_then(|lock| lock.content().acquired_at);
        self.queue.clone_from(&files.queue);
        self.warnings = files.warnings.texts();
        self.files = Some(files);
        if let Some((task_id, dispatch, runs)) = outlived.map(|outlived| *outlived) {
            self.step(Event::RunsAlive { task_id, dispatch, runs });
        }
        let moment = self.moment_of_decision(begun);
        self.step_at(Event::Done(Box::new(done)), moment);
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
        self.publish_state();
    }

    fn owner_idle(&self) -> Option<(String, bool)> {
        self.project.owner_activity().map(|(id, idle)| (id.to_owned(), idle))
    }

    fn peer(&self, conn: Conn) -> Option<&Arc<Peer>> {
        self.peers.iter().find(|peer| peer.conn() == conn)
    }

    /// Watches exactly the runs whose end nobody else tells, as far as their processes are known.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_begun_a_moment_ago_counts_as_begun_now() {
        let is_just = |then, now| is_just_before(Wall(then), Wall(now));
        assert!(is_just(5000, 5000) && is_just(5000, 6000));
        assert!(!is_just(5000, 6001), "a disk that hung, a machine that slept");
        assert!(!is_just(5000, 4999), "a clock that was set back");
        assert!(!is_just(i64::MAX, i64::MIN) && !is_just(i64::MIN, i64::MAX));
    }
}
