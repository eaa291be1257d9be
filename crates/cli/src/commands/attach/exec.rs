//! A program for each job: how it is started, what it is given, and what its output means.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::Pid;
use tempfile::NamedTempFile;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin};
use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use wire::limits::REPORT;

use super::worker::{Job, Kind, Said};
use super::{check, group, report, task_file};
use crate::context::Context;
use crate::failure::Failure;
use crate::spawn;

/// The end of standard error that is kept: 2,000 characters of at most four bytes.
const TAIL: usize = 8_000;
/// How long the pipes of a program that has ended are read on: a child of its own may hold them open.
const PIPES_WITHIN: Duration = Duration::from_secs(2);

/// Starts COMMAND for each job.
#[derive(Debug)]
pub(super) struct Exec {
    command: String,
    root: PathBuf,
    /// Where task files are made.
    run_dirs: Vec<PathBuf>,
    /// The team member whose packets these are.
    member: Option<String>,
    said: Sender<Said>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    group: Option<Pid>,
    run: JoinHandle<()>,
}

/// What a pipe brought so far.
type Bytes = Arc<Mutex<Vec<u8>>>;

impl Exec {
    /// Refuses a command that could not be run, and tidies up after sessions that were killed.
    pub(super) fn new(
        ctx: &Context,
        command: String,
        member: Option<String>,
        said: Sender<Said>,
    ) -> Result<Self, Failure> {
        let (root, run_dirs) = (ctx.working_dir()?.to_owned(), ctx.places()?.run_dirs());
        check::check(&command, &root)?;
        task_file::sweep(&run_dirs, ctx.now());
        Ok(Self { command, root, run_dirs, member, said, running: None })
    }

    /// Returns when the program really runs.
    pub(super) fn start(&mut self, job: Job) -> Result<(), String> {
        let file = task_file::create(&self.run_dirs, &job.json)
            .map_err(|error| format!("cannot write the task file: {error}"))?;
        let child = self.spawn(&job, &file).map_err(|error| format!("cannot start the command: {error}"))?;
        let group = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        let run = tokio::spawn(run(child, job, file, self.said.clone()));
        self.running = Some(Running { group, run });
        Ok(())
    }

    fn spawn(&self, job: &Job, file: &NamedTempFile) -> io::Result<Child> {
        let mut command = spawn::command(check::SHELL, &self.root);
        command.arg("-c").arg(&self.command).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("HANDOFF_TASK_FILE", file.path()).env("HANDOFF_DISPATCH_ID", &job.dispatch_id);
        match &job.task_id {
            Some(task_id) => command.env("HANDOFF_TASK_ID", task_id),
            None => command.env_remove("HANDOFF_TASK_ID"),
        };
        if let Some(member) = &self.member {
            command.env("HANDOFF_AGENT_ID", member);
        }
        tokio::process::Command::from(command).spawn()
    }

    /// The program is told to end; whether it still runs.
    pub(super) fn cancel(&mut self) -> bool {
        let running = self.running.as_ref().filter(|running| !running.run.is_finished());
        if let Some(group) = running.and_then(|running| running.group) {
            tokio::spawn(group::end(group));
        }
        running.is_some()
    }

    /// Ends the program and waits for it.
    pub(super) async fn end(&mut self) {
        let Some(running) = self.running.take().filter(|running| !running.run.is_finished()) else { return };
        if let Some(group) = running.group {
            group::end(group).await;
        }
    }
}

/// From the start of the program to what it means.
async fn run(mut child: Child, job: Job, file: NamedTempFile, said: Sender<Said>) {
    let (output, errors) = (Bytes::default(), Bytes::default());
    let reading = [
        child.stdout.take().map(|pipe| tokio::spawn(read_output(pipe, Arc::clone(&output)))),
        child.stderr.take().map(|pipe| tokio::spawn(read_errors(pipe, Arc::clone(&errors), said.clone()))),
    ];
    if let Some(stdin) = child.stdin.take() {
        tokio::spawn(write_message(stdin, job.message));
    }
    let status = child.wait().await;
    for reading in reading.into_iter().flatten() {
        timeout(PIPES_WITHIN, reading).await.ok();
    }
    drop(file);
    if let Some(why) = status.as_ref().ok().and_then(not_run) {
        said.send(Said::Unusable(why)).await.ok();
    }
    let report = match job.kind {
        Kind::Task => meaning(&status, &taken(&output), &taken(&errors)),
        Kind::Packet => fault(&status).unwrap_or_default(),
    };
    // Without a listener the program itself is ending.
    said.send(Said::Finished { dispatch_id: job.dispatch_id, report }).await.ok();
}

fn taken(bytes: &Bytes) -> Vec<u8> {
    std::mem::take(&mut bytes.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The shell's own words for a program that it could not run, also for one in a script of its.
fn not_run(status: &ExitStatus) -> Option<String> {
    let what = match status.code()? {
        126 => "could not be executed",
        127 => "was not found",
        _ => return None,
    };
    Some(format!("the command, or a program in it, {what} ({status})"))
}

/// What went wrong with the program; for a packet its output means nothing.
fn fault(status: &io::Result<ExitStatus>) -> Option<String> {
    match status {
        Err(error) => Some(format!("the command was lost: {error}")),
        Ok(status) if status.success() => None,
        Ok(status) => Some(match not_run(status) {
            Some(why) => format!("{why}; its session has ended and takes no other"),
            None => format!("the command ended with {status}"),
        }),
    }
}

fn meaning(status: &io::Result<ExitStatus>, output: &[u8], errors: &[u8]) -> String {
    if let Some(fault) = fault(status) {
        return report::of_failure(&fault, errors);
    }
    if output.len() > REPORT {
        let what = format!("the command wrote more than {REPORT} bytes, too much for a report");
        return report::of_failure(&what, errors);
    }
    report::from_output(output)
        .unwrap_or_else(|| report::of_failure("the command wrote no JSON object as its report", errors))
}

/// A program need not read the message.
async fn write_message(mut stdin: ChildStdin, message: String) {
    stdin.write_all(message.as_bytes()).await.ok();
}

/// Keeps one byte more than a report may have; the rest is read and dropped, so that the program can go on.
async fn read_output(mut pipe: impl AsyncRead + Unpin, kept: Bytes) {
    let mut chunk = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let room = (REPORT + 1).saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..count.min(room)]);
    }
}

/// Shows the lines and keeps the end.
async fn read_errors(mut pipe: impl AsyncRead + Unpin, kept: Bytes, said: Sender<Said>) {
    let mut chunk = vec![0; 16 * 1024];
    let mut line = Vec::new();
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&chunk[..count]);
            let surplus = kept.len().saturating_sub(TAIL);
            kept.drain(..surplus);
        }
        for byte in &chunk[..count] {
            match byte {
                b'\n' => show(&mut line, &said).await,
                byte if line.len() < TAIL => line.push(*byte),
                _ => {}
            }
        }
    }
    if !line.is_empty() {
        show(&mut line, &said).await;
    }
}

async fn show(line: &mut Vec<u8>, said: &Sender<Said>) {
    let text = String::from_utf8_lossy(line).into_owned();
    line.clear();
    said.send(Said::Line(text)).await.ok();
}
