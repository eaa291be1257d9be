//! Whoever sits at this terminal: the task is shown, and the report is a file or is asked for, question by question.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::thread;

use serde_json::Value;
use tokio::sync::mpsc::Sender;
use wire::error::Problem;
use wire::limits::REPORT;

use super::report::{self, Told};
use super::worker::{Job, Kind, Said};
use crate::context::Context;
use crate::text::{Line, Tone, block};

/// The conversation.
#[derive(Debug)]
pub(super) struct Person {
    job: Option<Job>,
    form: Option<Form>,
    /// A report is on its way: what is typed now would be answered too late.
    sent: bool,
}

/// Questions that are still open, and the answers so far.
#[derive(Debug)]
struct Form {
    open: VecDeque<Question>,
    answers: Vec<String>,
    /// The gate that needs evidence.
    gate: Option<String>,
    /// One question only: what went wrong.
    is_error: bool,
}

#[derive(Debug)]
struct Question {
    text: &'static str,
    usual: String,
}

const PACKET_CHOICES: &str = "when it is done, type `done`; to give it up, `failed`";
const CHOICES: &str = "when it is done, type `complete`, `error`, or the path of a file with the report (JSON)";

impl Person {
    /// Listens to standard input from now on.
    pub(super) fn new(said: Sender<Said>) -> Self {
        // Not the runtime's business: a blocked read must not hold up the end of the program.
        thread::spawn(move || {
            for line in io::stdin().lines().map_while(Result::ok) {
                if said.blocking_send(Said::Typed(line)).is_err() {
                    return;
                }
            }
            said.blocking_send(Said::Quit).ok();
        });
        Self { job: None, form: None, sent: false }
    }

    pub(super) fn start(&mut self, ctx: &Context, job: Job) {
        ctx.out.note(Line::of(Tone::Strong, &format!("— {} —", job.name)));
        for line in block("", &job.message) {
            ctx.out.note(line);
        }
        match job.kind {
            Kind::Task => ctx.out.note(Line::of(Tone::Strong, CHOICES)),
            Kind::Packet => ctx.out.note(Line::of(Tone::Strong, PACKET_CHOICES)),
        }
        (self.job, self.form, self.sent) = (Some(job), None, false);
    }

    pub(super) fn cancel(&mut self, ctx: &Context, reason: &str) {
        ctx.out.note(Line::of(Tone::Bad, "cancelled").plain(": stop working on it: ").plain(reason));
        self.done();
    }

    pub(super) fn refused(&mut self, ctx: &Context, message: &str, problems: &[Problem]) {
        ctx.out.note(Line::of(Tone::Bad, "refused").plain(": ").plain(message));
        for problem in problems {
            ctx.out.note(Line::from("  ").plain(&problem.message));
        }
        (self.form, self.sent) = (None, false);
        ctx.out.note(Line::of(Tone::Strong, CHOICES));
    }

    pub(super) fn remind(&self, ctx: &Context, text: &str) {
        for line in block("", text) {
            ctx.out.note(line);
        }
    }

    pub(super) fn done(&mut self) {
        (self.job, self.form, self.sent) = (None, None, false);
    }

    /// Takes one line; a report comes out when it is complete.
    pub(super) fn typed(&mut self, ctx: &Context, line: &str) -> Option<Said> {
        let line = line.trim();
        let job = self.job.as_ref()?;
        if self.sent {
            ctx.out.note("the report is on its way");
            return None;
        }
        let report = match (&mut self.form, job.kind, line) {
            (_, Kind::Packet, "done") => String::new(),
            (_, Kind::Packet, "failed") => "given up by hand".to_owned(),
            (None, _, "") => return None,
            (_, Kind::Packet, _) => {
                ctx.out.note(Line::of(Tone::Strong, PACKET_CHOICES));
                return None;
            }
            (None, _, "complete") => {
                self.form = Some(Form::complete(&job.content));
                self.ask(ctx);
                return None;
            }
            (None, _, "error") => {
                self.form = Some(Form::error());
                self.ask(ctx);
                return None;
            }
            (None, _, path) => match crate::read::text(ctx, Path::new(path), REPORT) {
                Ok(report) => report,
                Err(failure) => {
                    ctx.out.failure(&failure);
                    ctx.out.note(Line::of(Tone::Strong, CHOICES));
                    return None;
                }
            },
            (Some(form), _, answer) => {
                form.take(answer);
                if !form.open.is_empty() {
                    self.ask(ctx);
                    return None;
                }
                form.report()
            }
        };
        (self.form, self.sent) = (None, true);
        Some(Said::Finished { dispatch_id: job.dispatch_id.clone(), report })
    }

    fn ask(&self, ctx: &Context) {
        let Some(question) = self.form.as_ref().and_then(|form| form.open.front()) else { return };
        let usual = if question.usual.is_empty() { String::new() } else { format!(" [{}]", question.usual) };
        ctx.out.note(Line::of(Tone::Strong, question.text).plain(&usual).plain(":"));
    }
}

impl Form {
    fn error() -> Self {
        let open = VecDeque::from([Question { text: "what went wrong", usual: String::new() }]);
        Self { open, answers: Vec::new(), gate: None, is_error: true }
    }

    /// The questions of a COMPLETE report; what is usual comes from the task.
    fn complete(planner: &wire::Raw) -> Self {
        let planner: Value = serde_json::from_str(planner.get()).unwrap_or_default();
        let text = |key: &str| planner[key].as_str().map(str::to_owned);
        let reads = matches!(text("task_type").as_deref(), Some("CONSULT" | "REVIEW"));
        let agent = text("preferred_agent")
            .unwrap_or_else(|| if reads { "handoff-reviewer" } else { "handoff-writer" }.to_owned());
        let question = |text, usual: &str| Question { text, usual: usual.to_owned() };
        let mut open = VecDeque::from([
            question("agent profile of the worker", &agent),
            question("model, as provider/id", "human/terminal"),
            question("thinking level", "off"),
            question("result", ""),
            question("files changed, separated by commas", ""),
            question("tests run, separated by commas", ""),
        ]);
        let gate = text("gate").filter(|gate| gate != "none");
        if gate.is_some() {
            open.extend([
                question("agent profile of the reviewer", "handoff-reviewer"),
                question("model of the reviewer", "human/terminal"),
                question("thinking level of the reviewer", "off"),
                question("the reviewer's verdict", ""),
            ]);
        }
        Self { open, answers: Vec::new(), gate, is_error: false }
    }

    fn take(&mut self, answer: &str) {
        if let Some(question) = self.open.pop_front() {
            self.answers.push(if answer.is_empty() { question.usual } else { answer.to_owned() });
        }
    }

    fn report(&self) -> String {
        let answer = |at: usize| self.answers.get(at).cloned().unwrap_or_default();
        if self.is_error {
            return report::of_error(&answer(0));
        }
        let list = |at: usize| -> Vec<String> {
            answer(at).split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
        };
        let told = |at: usize, result: usize| Told {
            agent: answer(at),
            model: answer(at + 1),
            thinking: answer(at + 2),
            result: answer(result),
        };
        let reviewer = told(6, 9);
        let gate = self.gate.as_deref().map(|gate| (gate, &reviewer));
        report::of_person(&told(0, 3), gate, &list(4), &list(5))
    }
}
