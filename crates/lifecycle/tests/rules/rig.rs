//! A project on a scripted disk with virtual time. Jobs are answered at once, by default with success; what the machine
//! said is compared as short words, so that a test reads like the rule it is about.

use std::collections::VecDeque;

use lifecycle::{
    Acquired, Admin, Answer, Attach, Awake, Body, Checked, ClaimResult, Command, Conn, Content, Done, Effect, Event,
    Fact, Facts, Job, Known, LeaveReason, Moment, Outcome, Outgoing, Pending, Process, Project, Recovered, Reply, Req,
    Seen, Settings, SettleResult, State, Stopped, SubmitResult, TaskMeta, View, Wall,
};
use queue::{DispatchId, Run, RunState};

pub(crate) struct Rig {
    pub(crate) project: Project,
    pub(crate) now: u64,
    pub(crate) wall: i64,
    pub(crate) deadline: Option<Awake>,
    pub(crate) file: View,
    pub(crate) recovered: Option<Recovered>,
    /// Answers that come instead of success, each for the next job of its kind.
    pub(crate) script: VecDeque<Done>,
    /// While set, jobs stay out.
    pub(crate) hold: bool,
    pub(crate) out: Option<Job>,
    pub(crate) jobs: Vec<String>,
    said: Vec<String>,
    counter: u64,
}

/// The connection of a test's session, its process and its id share a number.
pub(crate) fn process(n: u64) -> Process {
    Process { pid: u32::try_from(n).unwrap(), started: n }
}

pub(crate) fn task(name: &str) -> TaskMeta {
    TaskMeta {
        task_id: name.into(),
        created_at: "2026-01-01".into(),
        fingerprint: [u8::try_from(name.len()).unwrap(); 32],
    }
}

pub(crate) fn pending(name: &str) -> Content {
    Content::Pending(Box::new(Pending {
        task: task(name),
        rejection: None,
        full: false,
        tracked: false,
        dispatched_before: Vec::new(),
    }))
}

pub(crate) fn running(name: &str, by: Option<DispatchId>, facts: Option<Facts>) -> Content {
    Content::Running { task: Box::new(task(name)), by, facts: facts.map(Box::new) }
}

pub(crate) fn half() -> Content {
    Content::Unreadable { code: "invalid_json", message: "it is cut off".into() }
}

pub(crate) fn run(id: &str, state: RunState, background: bool) -> Run {
    Run {
        run_id: id.into(),
        agent: "builder".into(),
        background,
        state,
        model: None,
        thinking: None,
        result: None,
        parent_run_id: None,
        pid: None,
    }
}

impl Rig {
    /// A project whose lock is taken and whose file is missing.
    pub(crate) fn new() -> Self {
        Self::with(Settings::DEFAULT, Content::Missing, None)
    }

    pub(crate) fn with(settings: Settings, file: Content, recovered: Option<Recovered>) -> Self {
        let mut rig = Self {
            project: Project::new(settings, Admin::Active, false),
            now: 1_000_000,
            wall: 1_800_000_000_000,
            deadline: None,
            file: View { hash: None, content: file },
            recovered,
            script: VecDeque::new(),
            hold: false,
            out: None,
            jobs: Vec::new(),
            said: Vec::new(),
            counter: 0,
        };
        rig.stamp();
        rig.event(Event::Touched);
        rig
    }

    /// A session `n` that owns the place, with `name` dispatched to it and accepted.
    pub(crate) fn at_work(name: &str) -> Self {
        let mut rig = Self::new();
        rig.attach(1);
        rig.write(pending(name));
        rig.accept(1);
        rig.event(Event::Activity { conn: Conn(1), idle: false, hint: None });
        rig.forget();
        rig
    }

    fn stamp(&mut self) {
        self.counter += 1;
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&self.counter.to_le_bytes());
        self.file.hash = (!matches!(self.file.content, Content::Missing)).then_some(hash);
    }

    /// New bytes, and the watcher tells of them.
    pub(crate) fn write(&mut self, content: Content) {
        self.file.content = content;
        self.stamp();
        self.event(Event::Touched);
    }

    pub(crate) fn event(&mut self, event: Event) {
        self.counter += 1;
        let now = Moment { awake: Awake(self.now), wall: Wall(self.wall), entropy: u128::from(self.counter) };
        let (effects, deadline) = self.project.step(event, now);
        self.deadline = deadline;
        for effect in effects {
            if let Effect::Job(job) = &effect {
                assert!(self.out.is_none(), "two jobs are out");
                self.out = Some(job.clone());
            }
            self.said.extend(word(&effect));
        }
        if !self.hold {
            self.answer();
        }
    }

    /// Answers the job that is out.
    pub(crate) fn answer(&mut self) {
        let Some(job) = self.out.take() else { return };
        self.jobs.push(format!("{job:?}").split(['(', ' ', '{']).next().unwrap_or_default().to_owned());
        let scripted = self.script.iter().position(|done| answers(done, &job));
        let done = match scripted.and_then(|at| self.script.remove(at)) {
            Some(done) => done,
            None => self.success(&job),
        };
        self.event(Event::Done(Box::new(done)));
    }

    fn success(&mut self, job: &Job) -> Done {
        match job {
            Job::Acquire => Done::Acquired(Acquired::Ours {
                recovered: self.recovered.take(),
                fresh_folder: false,
                lost: Vec::new(),
                halted: None,
            }),
            Job::Read => Done::Read(Seen::View(self.file.clone())),
            Job::Bind(_) => Done::Bound(Ok([0; 32])),
            Job::Release(_) => Done::Released,
            Job::Unlock { confirm } => Done::Unlocked { moved: *confirm },
            Job::Claim(claim) => {
                let Content::Pending(old) = &self.file.content else { panic!("claimed {:?}", self.file.content) };
                self.file.content = running(&old.task.task_id, Some(claim.dispatch), None);
                self.stamp();
                let hash = self.file.hash.unwrap();
                Done::Claimed(ClaimResult::Claimed { hash, displaced: true })
            }
            Job::Settle => Done::Settled(SettleResult::Clean),
            Job::Reject { .. } => Done::Rejected(Ok(self.settle(None, false))),
            Job::CheckReport { hash, .. } if Some(*hash) != self.file.hash => {
                Done::Checked(Checked::Changed(self.file.clone()))
            }
            Job::CheckReport { .. } => Done::Checked(Checked::Accepted { complete: true }),
            Job::OpenLog => Done::LogOpened(Ok(())),
            Job::WriteEnd(end) if Some(end.hash) != self.file.hash => {
                Done::EndWritten(Err(lifecycle::Failure::Changed))
            }
            Job::WriteEnd(end) => {
                let complete = matches!(end.outcome, Outcome::Report { complete: true, demoted: None, .. });
                Done::EndWritten(Ok(self.settle(end.dispatch, complete)))
            }
            Job::AppendLog => Done::LogAppended(Ok(())),
            Job::ReplayLog { .. } => Done::Replayed(Ok(())),
            Job::Submit { .. } => {
                self.file.content = pending("submitted");
                self.stamp();
                Done::Submitted(SubmitResult::Written(self.file.hash.unwrap()))
            }
        }
    }

    fn settle(&mut self, by: Option<DispatchId>, complete: bool) -> [u8; 32] {
        let task_id = match &self.file.content {
            Content::Pending(old) => Some(old.task.task_id.clone()),
            Content::Running { task, .. } => Some(task.task_id.clone()),
            _ => None,
        };
        self.file.content = Content::Settled { by, complete, task_id };
        self.stamp();
        self.file.hash.unwrap()
    }

    // --- what sessions and people do ---

    pub(crate) fn attach(&mut self, n: u64) {
        self.attach_as(n, &format!("s{n}"), n, Known::None, true);
    }

    /// Connection `n` of the session `id` in the process `pid`; its request is `n` too.
    pub(crate) fn attach_as(&mut self, n: u64, id: &str, pid: u64, known: Known, idle: bool) {
        let bound_alive = self.project.bound_process().is_some();
        self.event(Event::Attach(Box::new(Attach {
            conn: Conn(n),
            req: Req(n),
            session_id: id.into(),
            process: process(pid),
            idle,
            known,
            host: "pi".into(),
            session_file: None,
            bound_alive,
        })));
    }

    pub(crate) fn dispatch(&self) -> DispatchId {
        self.project.running().expect("a task is running")
    }

    pub(crate) fn reply(&mut self, n: u64, answer: Answer) {
        let dispatch = self.dispatch();
        self.event(Event::Answered { conn: Conn(n), dispatch, answer });
    }

    pub(crate) fn accept(&mut self, n: u64) {
        self.reply(n, Answer::Accepted);
    }

    pub(crate) fn idle(&mut self, n: u64) {
        self.event(Event::Activity { conn: Conn(n), idle: true, hint: None });
    }

    pub(crate) fn busy(&mut self, n: u64) {
        self.event(Event::Activity { conn: Conn(n), idle: false, hint: None });
    }

    pub(crate) fn settled(&mut self, n: u64, aborted: bool) {
        let dispatch = self.project.running();
        let aborted = aborted.then(String::new);
        self.event(Event::TurnSettled { conn: Conn(n), dispatch, aborted });
    }

    pub(crate) fn run(&mut self, n: u64, run: Run) {
        let dispatch = self.dispatch();
        self.event(Event::Run { conn: Conn(n), dispatch, run: Box::new(run) });
    }

    pub(crate) fn remind_answered(&mut self, n: u64) {
        let dispatch = self.dispatch();
        self.event(Event::RemindAnswered { conn: Conn(n), dispatch });
    }

    /// Request and body have the number `r`.
    pub(crate) fn report(&mut self, n: u64, r: u64) {
        let dispatch = self.dispatch();
        self.report_on(n, r, dispatch);
    }

    pub(crate) fn report_on(&mut self, n: u64, r: u64, dispatch: DispatchId) {
        self.event(Event::Report { conn: Conn(n), req: Req(r), dispatch, body: Body(r) });
    }

    pub(crate) fn close(&mut self, n: u64) {
        self.event(Event::Closed { conn: Conn(n), unsent: None });
    }

    pub(crate) fn leave(&mut self, n: u64, reason: LeaveReason) {
        self.event(Event::Leaving { conn: Conn(n), reason });
    }

    pub(crate) fn gone(&mut self, n: u64) {
        self.event(Event::ProcessGone(process(n)));
    }

    pub(crate) fn stopped(&mut self, n: u64, stopped: Stopped) {
        self.event(Event::ProcessStopped { process: process(n), stopped });
    }

    pub(crate) fn control(&mut self, r: u64, command: Command) {
        self.event(Event::Control { req: Req(r), command });
    }

    pub(crate) fn cancel(&mut self, r: u64, name: &str) {
        self.control(r, Command::Cancel { task_id: name.into(), reason: "not needed".into() });
    }

    /// Lets time pass; every deadline is kept.
    pub(crate) fn wait(&mut self, ms: u64) {
        let until = self.now + ms;
        while self.now < until {
            let next = self.deadline.map_or(until, |at| at.0.min(until));
            self.wall += i64::try_from(next - self.now).unwrap();
            self.now = next;
            self.event(Event::Tick);
        }
    }

    // --- what is compared ---

    pub(crate) fn forget(&mut self) {
        self.said.clear();
        self.jobs.clear();
    }

    /// What was said since the last look.
    #[track_caller]
    pub(crate) fn says(&mut self, expected: &[&str]) {
        assert_eq!(std::mem::take(&mut self.said), expected);
    }

    /// Why the project is as it is, in words.
    pub(crate) fn why(&self) -> String {
        self.project.status(Wall(self.wall)).why.unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn shows(&self, state: State, reason: &str) {
        let shown = self.project.status(Wall(self.wall)).shown;
        assert_eq!((shown.state, shown.reason.map_or("", lifecycle::Reason::as_str)), (state, reason));
    }
}

fn answers(done: &Done, job: &Job) -> bool {
    matches!(
        (done, job),
        (Done::Acquired(_), Job::Acquire)
            | (Done::Read(_), Job::Read)
            | (Done::Bound(_), Job::Bind(_))
            | (Done::Claimed(_), Job::Claim(_))
            | (Done::Settled(_), Job::Settle)
            | (Done::Rejected(_), Job::Reject { .. })
            | (Done::Checked(_), Job::CheckReport { .. })
            | (Done::LogOpened(_), Job::OpenLog)
            | (Done::EndWritten(_), Job::WriteEnd(_))
            | (Done::LogAppended(_), Job::AppendLog)
            | (Done::Replayed(_), Job::ReplayLog { .. })
            | (Done::Submitted(_), Job::Submit { .. })
    )
}

fn word(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::Send { conn, message } => match message {
            Outgoing::Dispatch { .. } => format!("c{} dispatch", conn.0),
            Outgoing::Remind(_) => format!("c{} remind", conn.0),
            Outgoing::Cancel { .. } => format!("c{} cancel", conn.0),
            Outgoing::Ownership { owner: true, .. } => format!("c{} owner", conn.0),
            Outgoing::Ownership { owner: false, .. } => format!("c{} standby", conn.0),
            Outgoing::Notice(..) => return None,
        },
        Effect::Reply { req, reply } => format!("r{} {}", req.0, reply_word(reply)),
        Effect::Close(conn) => format!("c{} closed", conn.0),
        Effect::Gone => "gone".into(),
        Effect::Record(Fact::Ended(ended)) => match &ended.error {
            Some(text) => format!("ERROR {text}"),
            None if ended.complete => "COMPLETE".into(),
            None => "ERROR by report".into(),
        },
        Effect::Record(Fact::Rejected { text, .. } | Fact::Cancelled { text, .. }) => format!("rejected {text}"),
        Effect::Record(Fact::Abandoned { .. }) => "abandoned".into(),
        Effect::Record(Fact::Demoted { .. }) => "demoted".into(),
        _ => return None,
    })
}

fn reply_word(reply: &Reply) -> String {
    match reply {
        Reply::Attached { owner, task, .. } => {
            let place = if *owner { "owner" } else { "standby" };
            format!("{place}{}", if task.is_some() { " task" } else { "" })
        }
        Reply::Reported { complete, log } => format!("reported {complete} {log:?}"),
        Reply::ReportRefused(_) => "report refused".into(),
        Reply::Cancelled { was, now, session, live_runs } => {
            format!("cancelled {was} {now} {session:?} {}", live_runs.len())
        }
        Reply::Submitted(_) => "submitted".into(),
        Reply::InvalidTask(_) => "invalid".into(),
        Reply::Changed { lifted, leaving } => format!("changed {lifted:?}{}", if *leaving { " leaving" } else { "" }),
        Reply::Unlocked { moved, .. } => format!("unlocked {moved}"),
        Reply::Refused(refusal) => {
            format!("refused {}", format!("{refusal:?}").split(['(', ' ']).next().unwrap_or_default())
        }
    }
}
