//! A project on a disk where everything succeeds, for the table. It writes down what was done, in words.

use queue::{DispatchId, Run, RunState};

use crate::{
    Acquired, Admin, Answer, Attach, Awake, Checked, ClaimResult, Conn, Content, Done, Effect, Event, Fact, Failure,
    Job, Known, Moment, Outcome, Outgoing, Pending, Process, Project, Reply, Req, Seen, Settings, SettleResult, State,
    SubmitResult, TaskMeta, Verdict, View, Wall,
};

#[derive(Debug, Clone)]
pub(super) struct Bench {
    pub(super) project: Project,
    pub(super) file: View,
    pub(super) now: u64,
    pub(super) deadline: Option<Awake>,
    pub(super) done: Vec<String>,
    /// Jobs stay out.
    pub(super) hold: bool,
    /// Nothing can be written.
    pub(super) full: bool,
    pub(super) locked: bool,
    out: Option<Job>,
    stamp: u8,
}

pub(super) const OWNER: Conn = Conn(1);

/// The owner and a stranger.
pub(super) const fn process(conn: Conn) -> Process {
    Process { pid: if conn.0 == 2 { 2 } else { 1 }, started: 0 }
}

pub(super) fn pending(number: u8) -> Content {
    let task = task(number);
    let pending = Pending { task, rejection: None, full: false, tracked: false, dispatched_before: Vec::new() };
    Content::Pending(Box::new(pending))
}

pub(super) fn task(number: u8) -> TaskMeta {
    TaskMeta { task_id: format!("T-{number}"), created_at: String::new(), fingerprint: [number; 32] }
}

impl Bench {
    pub(super) fn new(file: Content) -> Self {
        let mut bench = Self {
            project: Project::new(Settings::DEFAULT, Admin::Active, false),
            file: View { hash: None, content: Content::Missing },
            now: 1_000_000,
            deadline: None,
            done: Vec::new(),
            hold: false,
            full: false,
            locked: false,
            out: None,
            stamp: 0,
        };
        bench.set(file);
        bench
    }

    /// The state and its reason, as `handoff status` has them.
    pub(super) fn shown(&self) -> String {
        let shown = self.project.status(self.wall()).shown;
        match shown.reason {
            Some(reason) => format!("`{}` ({})", shown.state.as_str(), reason.as_str()),
            None => format!("`{}`", shown.state.as_str()),
        }
    }

    pub(super) fn is(&self, state: State) -> bool {
        self.project.status(self.wall()).shown.state == state
    }

    fn wall(&self) -> Wall {
        Wall(1_800_000_000_000 + i64::try_from(self.now).unwrap_or(0))
    }

    fn set(&mut self, content: Content) -> [u8; 32] {
        self.stamp = self.stamp.wrapping_add(1);
        let hash = [self.stamp; 32];
        self.file = View { hash: (content != Content::Missing).then_some(hash), content };
        hash
    }

    pub(super) fn write(&mut self, content: Content) {
        self.set(content);
        self.event(Event::Touched);
    }

    pub(super) fn event(&mut self, event: Event) {
        let now = Moment { awake: Awake(self.now), wall: self.wall(), entropy: 1 };
        let (effects, deadline) = self.project.step(event, now);
        self.deadline = deadline;
        for effect in effects {
            self.done.extend(word(&effect));
            if let Effect::Job(job) = effect {
                self.out = Some(job);
            }
        }
        if !self.hold {
            self.answer();
        }
    }

    /// Time passes until the next deadline.
    pub(super) fn pass(&mut self) {
        if let Some(at) = self.deadline {
            self.now = at.0;
            self.event(Event::Tick);
        }
    }

    pub(super) fn answer(&mut self) {
        if let Some(job) = self.out.take() {
            let done = self.result(&job);
            self.event(Event::Done(Box::new(done)));
        }
    }

    fn result(&mut self, job: &Job) -> Done {
        let full = || Failure::CannotWrite("no space left".into());
        match job {
            Job::Acquire if self.locked => {
                let (text, holder) = ("another program owns it".into(), crate::Holder::default());
                Done::Acquired(Acquired::Blocked(Verdict { rule: 8, reason: crate::Reason::LockLive, text, holder }))
            }
            Job::Acquire => {
                Done::Acquired(Acquired::Ours { recovered: None, fresh_folder: false, lost: Vec::new(), halted: None })
            }
            Job::Read => Done::Read(Seen::View(self.file.clone())),
            Job::Bind(_) => Done::Bound(Ok([0; 32])),
            Job::Release(_) => Done::Released,
            Job::Unlock { confirm } => Done::Unlocked { moved: *confirm },
            Job::Claim(claim) => {
                let content = Content::Running { task: Box::new(task(1)), by: Some(claim.dispatch), facts: None };
                Done::Claimed(ClaimResult::Claimed { hash: self.set(content), displaced: true })
            }
            Job::Settle => Done::Settled(SettleResult::Clean),
            Job::Reject { .. } => Done::Rejected(Ok(self.end(None, false))),
            Job::CheckReport { hash, .. } if Some(*hash) != self.file.hash => {
                Done::Checked(Checked::Changed(self.file.clone()))
            }
            Job::CheckReport { .. } => Done::Checked(Checked::Accepted { complete: true }),
            Job::OpenLog => Done::LogOpened(Ok(())),
            Job::WriteEnd(_) if self.full => Done::EndWritten(Err(full())),
            Job::WriteEnd(end) => {
                let complete = matches!(end.outcome, Outcome::Report { complete: true, .. });
                Done::EndWritten(Ok(self.end(end.dispatch, complete)))
            }
            Job::AppendLog => Done::LogAppended(Ok(())),
            Job::ReplayLog { .. } => Done::Replayed(Ok(())),
            Job::Submit { .. } => Done::Submitted(SubmitResult::Written(self.set(pending(1)))),
        }
    }

    fn end(&mut self, by: Option<DispatchId>, complete: bool) -> [u8; 32] {
        self.set(Content::Settled { by, complete, task_id: Some("T-1".into()) })
    }

    // --- what sessions do ---

    pub(super) fn attach(&mut self, conn: Conn, session: &str) {
        let dispatch = self.dispatch();
        let idle = !matches!(self.file.content, Content::Running { .. });
        self.event(Event::Attach(Box::new(Attach {
            conn,
            req: Req(conn.0),
            session_id: session.into(),
            process: process(conn),
            idle,
            known: Known::Some { dispatch, delivered: true },
            host: String::new(),
            session_file: None,
            bound_alive: true,
        })));
    }

    pub(super) fn dispatch(&self) -> DispatchId {
        self.project.running().unwrap_or(DispatchId::from_random(1))
    }

    pub(super) fn answered(&mut self, answer: Answer) {
        let dispatch = self.dispatch();
        self.event(Event::Answered { conn: OWNER, dispatch, answer });
    }

    pub(super) fn run(&mut self, state: RunState) {
        let (run_id, agent) = ("r-1".to_owned(), String::new());
        let (background, dispatch) = (true, self.dispatch());
        let (model, thinking, result, parent_run_id, pid) = (None, None, None, None, None);
        let run = Box::new(Run { run_id, agent, background, state, model, thinking, result, parent_run_id, pid });
        self.event(Event::Run { conn: OWNER, dispatch, run });
    }
}

fn word(effect: &Effect) -> Option<String> {
    let text = match effect {
        Effect::Job(job) => job_word(job),
        Effect::Send { message, .. } => match message {
            Outgoing::Dispatch { .. } => "send `task.dispatch`",
            Outgoing::Remind(_) => "send `task.remind`",
            Outgoing::Cancel { .. } => "send `task.cancel`",
            Outgoing::Ownership { owner: true, .. } => "tell the session it is owner",
            Outgoing::Ownership { owner: false, .. } => "tell the session it stands by",
            Outgoing::Notice(..) => return None,
        },
        Effect::Reply { reply, .. } => match reply {
            Reply::Attached { owner: true, .. } => "answer owner",
            Reply::Attached { owner: false, .. } => "answer standby",
            Reply::Refused(refusal) => return Some(format!("refuse {}", refusal.code())),
            _ => "answer",
        },
        Effect::Record(Fact::Ended(ended)) => {
            return Some(match &ended.error {
                Some(text) => format!("**ERROR** “{text}”"),
                None => "**COMPLETE**".into(),
            });
        }
        Effect::Record(Fact::Rejected { text, .. } | Fact::Cancelled { text, .. }) => {
            return Some(format!("**ERROR** “{text}”"));
        }
        Effect::Record(Fact::Abandoned { .. }) => "give the task up",
        Effect::Close(_) => "close the older connection",
        Effect::Gone => "let the project go",
        Effect::Record(_) | Effect::Drop(_) => return None,
    };
    Some(text.to_owned())
}

const fn job_word(job: &Job) -> &'static str {
    match job {
        Job::Acquire => "take the lock",
        Job::Read => "read the file",
        Job::Bind(Some(_)) => "write the binding",
        Job::Bind(None) => "clear the binding",
        Job::Release(crate::Keep::Remove) => "remove the lock",
        Job::Release(crate::Keep::File) => "leave the lock file",
        Job::Unlock { .. } => "look at the lock",
        Job::Claim(_) => "write RUNNING",
        Job::Settle => "look at the displaced file",
        Job::Reject { .. } => "write ERROR",
        Job::CheckReport { .. } => "check the report",
        Job::OpenLog => "open the work log",
        Job::WriteEnd(_) => "write the end",
        Job::AppendLog => "append the line",
        Job::ReplayLog { .. } => "make up for missing lines",
        Job::Submit { .. } => "write PENDING",
    }
}
