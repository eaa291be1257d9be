//! The members' actor: a mailbox, the state machine, at most one file job out. It decides nothing, and never blocks.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use lifecycle::members::{ClaimResult, Event, Look, Members, Seen};
use lifecycle::{Awake, Conn, Req};
use packet::TaskPacket;
use queue::DispatchId;
use team::Home;
use tokio::sync::{Notify as Signal, mpsc, oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior, interval};
use wire::session::AttachedProject;

use super::files::Files;
use super::jobs::{Context, Done, Job};
use super::look::{Closeness, Found};
use super::{Letter, MAILBOX, arrive};
use crate::actor::mail::{Mail, ProjectRef};
use crate::hub::Hub;
use crate::peer::{Peer, Responder};

/// Every so manieth sweep looks closely (D73).
const CLOSE_LOOK_EVERY: u8 = 8;

type JobFuture = Pin<Box<dyn Future<Output = (Option<Box<Files>>, Done)> + Send>>;

pub(super) struct Actor {
    pub(super) hub: Arc<Hub>,
    pub(super) machine: Members,
    deadline: Option<Awake>,
    pub(super) sessions: Vec<Attached>,
    /// The project of each member's newest session, also after that has gone.
    pub(super) projects: HashMap<String, ProjectRef>,
    /// Attaches that are being answered.
    pub(super) asked: Option<(Req, Responder, AttachedProject)>,
    pub(super) next_req: u64,
    pub(super) jobs: VecDeque<Job>,
    job: Option<JobFuture>,
    /// The connection whose attach is being read.
    pub(super) attaching: Option<Conn>,
    /// What sessions said whose attach is not answered yet.
    pub(super) later: Vec<(Conn, Letter)>,
    files: Option<Box<Files>>,
    /// Packets that were claimed and may have to be sent.
    pub(super) packets: HashMap<DispatchId, Box<TaskPacket>>,
    processes: Vec<crate::processes::Watch>,
    process_mail: mpsc::Sender<Box<Mail>>,
    changed: Arc<Signal>,
    /// Counts sweeps.
    sweeps: u8,
    stopping: Vec<oneshot::Sender<()>>,
}

/// One attached session.
pub(super) struct Attached {
    pub(super) peer: Arc<Peer>,
    pub(super) agent: String,
    pub(super) project: ProjectRef,
}

pub(super) fn spawn(hub: Arc<Hub>) -> mpsc::Sender<Box<Letter>> {
    let (mail, letters) = mpsc::channel(MAILBOX);
    let (process_mail, processes) = mpsc::channel(MAILBOX);
    let gaps = hub.gaps();
    let actor = Box::new(Actor {
        hub,
        machine: Members::new(),
        deadline: None,
        sessions: Vec::new(),
        projects: HashMap::new(),
        asked: None,
        next_req: 0,
        jobs: VecDeque::new(),
        job: None,
        attaching: None,
        later: Vec::new(),
        files: None,
        packets: HashMap::new(),
        processes: Vec::new(),
        process_mail,
        changed: Arc::new(Signal::new()),
        sweeps: 0,
        stopping: Vec::new(),
    });
    tokio::spawn(actor.run(letters, processes, gaps));
    mail
}

impl Actor {
    async fn run(
        mut self: Box<Self>,
        mut letters: mpsc::Receiver<Box<Letter>>,
        mut processes: mpsc::Receiver<Box<Mail>>,
        mut gaps: watch::Receiver<u64>,
    ) {
        let mut sweeps = interval(self.hub.config().watch.sweep_interval.max(Duration::from_millis(1)));
        sweeps.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let in_use = !self.machine.is_empty();
            let due = self.deadline.map(|at| Instant::now() + self.until(at));
            let changed = self.changed.clone();
            tokio::select! {
                biased;
                (files, done) = next_done(&mut self.job) => self.job_done(files, done),
                letter = letters.recv() => match letter {
                    Some(letter) => self.read_letter(*letter),
                    None => return,
                },
                Some(mail) = processes.recv() => self.process_changed(*mail),
                () = at(due) => self.step(Event::Tick),
                () = changed.notified(), if in_use => self.look(Closeness::Close),
                _ = sweeps.tick(), if in_use => self.sweep(),
                Ok(()) = gaps.changed() => self.step(Event::Woke),
            }
            self.start_next_job();
            if self.machine.is_empty() && self.job.is_none() {
                self.rest();
            }
            if self.has_stopped() {
                return;
            }
        }
    }

    fn until(&self, deadline: Awake) -> Duration {
        // One millisecond more, so that the machine's clock has passed the deadline when we look.
        Duration::from_millis(deadline.0.saturating_sub(self.hub.awake().0) + 1)
    }

    fn read_letter(&mut self, letter: Letter) {
        match arrive::conn_of(&letter) {
            Some(conn) if self.is_attaching(conn) => self.later.push((conn, letter)),
            _ => self.read(letter),
        }
    }

    pub(super) fn read(&mut self, letter: Letter) {
        match letter {
            Letter::Attach(arrival) => self.jobs.push_back(Job::Attach(arrival)),
            Letter::Event(event) => self.take(event),
            Letter::Run { conn, dispatch, run } => {
                self.run_seen(conn, dispatch, &run);
                self.step(Event::Named { conn, dispatch });
            }
            Letter::Status(answer) => {
                answer.send(self.shown()).ok();
            }
            Letter::Shutdown(answer) => {
                self.stopping.push(answer);
                self.step(Event::Shutdown);
            }
        }
    }

    fn take(&mut self, mut event: Event) {
        let mut closed = None;
        if let Event::Closed { conn, unsent } = &mut event {
            closed = Some(*conn);
            // A dispatch that was queued when the connection had already ended was not delivered either (D69).
            *unsent = unsent.or_else(|| self.peer(*conn)?.undelivered());
        }
        self.step(event);
        if let Some(conn) = closed {
            self.sessions.retain(|session| session.peer.conn() != conn);
        }
    }

    fn process_changed(&mut self, mail: Mail) {
        let Mail::Event(event) = mail else { return };
        if let Some(Letter::Event(event)) = super::letter(event) {
            self.step(event);
        }
    }

    pub(super) fn step(&mut self, event: Event) {
        let now = self.hub.now();
        let (effects, deadline) = self.machine.step(event, now);
        self.deadline = deadline;
        for effect in effects {
            self.carry_out(effect, now.wall);
        }
        self.watch_processes();
    }

    fn sweep(&mut self) {
        self.sweeps = (self.sweeps + 1) % CLOSE_LOOK_EVERY;
        self.look(if self.sweeps == 0 { Closeness::Close } else { Closeness::Glance });
    }

    /// Wants a look, unless one waits already; one that is out may have begun too early.
    pub(super) fn look(&mut self, how: Closeness) {
        let waiting = self.jobs.iter_mut().find_map(|job| match job {
            Job::Look(how) => Some(how),
            _ => None,
        });
        match waiting {
            Some(waiting) => *waiting = how.max(*waiting),
            None => self.jobs.push_back(Job::Look(how)),
        }
    }

    fn start_next_job(&mut self) {
        while self.job.is_none()
            && let Some(job) = self.jobs.pop_front()
        {
            if let Job::Claim { agent, dispatch, .. } = &job
                && let Some(why) = self.held(agent)
            {
                self.step(Event::Claimed { dispatch: *dispatch, result: ClaimResult::Held(why) });
                continue;
            }
            self.start(job);
        }
    }

    fn start(&mut self, job: Job) {
        let home = Home::at(self.home());
        let mode = self.hub.config().watch.mode;
        let changed = self.changed.clone();
        let mut files = self.files.take().unwrap_or_else(|| Box::new(Files::new(home.clone(), mode, changed)));
        files.move_to(home);
        let context = Context {
            hub: self.hub.clone(),
            now: crate::convert::timestamp(self.hub.now().wall),
            agents: self.machine.view().into_iter().map(|view| view.agent).collect(),
        };
        self.attaching = match &job {
            Job::Attach(arrival) => Some(arrival.peer.conn()),
            _ => None,
        };
        let failed = failed(&job);
        let running = self.hub.pool.run(move || {
            let done = files.perform(job, &context);
            (files, done)
        });
        self.job = Some(Box::pin(async move {
            match running.await {
                Ok((files, done)) => (Some(files), done),
                Err(_) => (None, failed),
            }
        }));
    }

    pub(super) fn home(&self) -> PathBuf {
        let config = self.hub.config();
        crate::places::team_home(&self.hub.env, &config).unwrap_or_else(|_| self.hub.places.team_home.clone())
    }

    fn job_done(&mut self, files: Option<Box<Files>>, done: Done) {
        self.job = None;
        self.files = files;
        let attaching = self.attaching.take();
        match done {
            Done::Attached(arrival, disk) => self.attached(*arrival, disk),
            Done::Looked(found) => self.looked(found),
            Done::Claimed { dispatch, result, packet } => {
                if let Some(packet) = packet {
                    self.packets.insert(dispatch, packet);
                }
                self.step(Event::Claimed { dispatch, result });
            }
            Done::Recorded => {}
            Done::Again { conn, dispatch, at, expires, packet } => match packet {
                Some(packet) => {
                    self.packets.insert(dispatch, packet);
                    self.send_packet(conn, dispatch, &at, expires);
                }
                None => self.step(Event::Unreadable { dispatch }),
            },
        }
        if let Some(conn) = attaching {
            self.read_later(conn);
        }
    }

    fn looked(&mut self, found: Found) {
        let members = found.members.into_iter().map(|member| Seen {
            held: self.held(&member.agent).or(member.problem),
            agent: member.agent,
            record: member.record,
        });
        let members = members.collect();
        self.step(Event::Looked(Look { packets: found.packets, members }));
        self.close_unmanaged();
    }

    /// Nobody is attached: nothing is watched or remembered.
    fn rest(&mut self) {
        if let Some(files) = &mut self.files {
            files.watching.stop();
            files.goals.clear();
        }
        self.packets.clear();
        self.projects.clear();
    }

    fn has_stopped(&mut self) -> bool {
        let done = !self.stopping.is_empty() && self.job.is_none() && self.jobs.is_empty();
        if done {
            for answer in self.stopping.drain(..) {
                answer.send(()).ok();
            }
        }
        done
    }

    pub(super) fn peer(&self, conn: Conn) -> Option<&Arc<Peer>> {
        self.sessions.iter().map(|session| &session.peer).find(|peer| peer.conn() == conn)
    }

    /// Watches exactly the processes that the state machine knows.
    fn watch_processes(&mut self) {
        let wanted = self.machine.processes();
        self.processes.retain(|watch| wanted.contains(&watch.process()));
        for process in wanted {
            if !self.processes.iter().any(|watch| watch.process() == process) {
                self.processes.push(self.hub.processes.watch(process, self.process_mail.downgrade()));
            }
        }
    }
}

/// What a job that panicked is taken for: nothing was done.
fn failed(job: &Job) -> Done {
    match job {
        Job::Claim { dispatch, .. } => {
            let result = ClaimResult::Failed("an internal error; see the daemon's log".into());
            Done::Claimed { dispatch: *dispatch, result, packet: None }
        }
        Job::Again { conn, dispatch, packet, expires } => {
            Done::Again { conn: *conn, dispatch: *dispatch, at: packet.clone(), expires: *expires, packet: None }
        }
        // The arrival went down with the job; its answer was given by that.
        Job::Attach(_) | Job::Look(_) | Job::Record(_) => Done::Recorded,
    }
}

async fn next_done(job: &mut Option<JobFuture>) -> (Option<Box<Files>>, Done) {
    match job {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
