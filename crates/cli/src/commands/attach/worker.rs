//! Who does the work, seen from the session: it is started, cancelled and told about its report, and it says things.
//! Nothing of the socket is known here.

use wire::Raw;
use wire::error::Problem;
use wire::session::Ownership;

use super::exec::Exec;
use super::person::Person;
use crate::context::Context;

/// A task or a packet that is to be done.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) dispatch_id: String,
    /// The planner's id; for a packet its goal, if it names one.
    pub(super) task_id: Option<String>,
    /// For people: the task's id, or which packet it is.
    pub(super) name: String,
    /// Ready to show.
    pub(super) message: String,
    /// The whole dispatch as JSON.
    pub(super) json: String,
    /// The planner's fields, or the packet.
    pub(super) content: Raw,
    pub(super) kind: Kind,
}

/// What a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A report is owed.
    Task,
    /// It is over when the work is.
    Packet,
}

impl Kind {
    /// The place of a session that gets it.
    pub(super) const fn place(self) -> Ownership {
        match self {
            Self::Task => Ownership::Owner,
            Self::Packet => Ownership::Member,
        }
    }

    /// What people call it.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Packet => "packet",
        }
    }
}

/// What a worker says.
#[derive(Debug)]
pub(super) enum Said {
    /// The work is over; for a task this is its report.
    Finished {
        /// Of which dispatch.
        dispatch_id: String,
        /// One JSON object; for a packet what went wrong, or nothing.
        report: String,
    },
    /// There is no program that could do this job or another; it has nothing to say but `Finished`.
    Unusable(String),
    /// A line for whoever looks on.
    Line(String),
    /// A line that the person typed.
    Typed(String),
    /// Nobody is there any more.
    Quit,
}

/// Who does it.
#[derive(Debug)]
pub(super) enum Worker {
    /// A program for each job.
    Program(Exec),
    /// Whoever sits at this terminal.
    Person(Person),
}

impl Worker {
    /// Starts a job; the error says why it could not be started.
    pub(super) fn start(&mut self, ctx: &Context, job: Job) -> Result<(), String> {
        match self {
            Self::Program(exec) => exec.start(job),
            Self::Person(person) => {
                person.start(ctx, job);
                Ok(())
            }
        }
    }

    /// The job is to stop. `true` if `Said::Finished` still follows.
    pub(super) fn cancel(&mut self, ctx: &Context, reason: &str) -> bool {
        match self {
            Self::Program(exec) => exec.cancel(),
            Self::Person(person) => {
                person.cancel(ctx, reason);
                false
            }
        }
    }

    /// The report was refused. A program cannot do better, so another report follows at once; a person is asked again.
    pub(super) fn refused(&mut self, ctx: &Context, message: &str, problems: &[Problem]) -> Option<String> {
        match self {
            Self::Program(_) => Some(super::report::of_refusal(message, problems)),
            Self::Person(person) => {
                person.refused(ctx, message, problems);
                None
            }
        }
    }

    /// Whether the reminder reached somebody who can act on it.
    pub(super) fn remind(&self, ctx: &Context, text: &str) -> bool {
        match self {
            Self::Program(_) => false,
            Self::Person(person) => {
                person.remind(ctx, text);
                true
            }
        }
    }

    /// The job's report was taken, or nobody wants it any more.
    pub(super) fn done(&mut self) {
        if let Self::Person(person) = self {
            person.done();
        }
    }

    /// What a typed line means: a report, sometimes.
    pub(super) fn typed(&mut self, ctx: &Context, line: &str) -> Option<Said> {
        match self {
            Self::Program(_) => None,
            Self::Person(person) => person.typed(ctx, line),
        }
    }

    /// Ends what still runs, before the program ends.
    pub(super) async fn end(&mut self) {
        if let Self::Program(exec) = self {
            exec.end().await;
        }
    }
}
