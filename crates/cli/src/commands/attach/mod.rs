//! `handoff attach`: a session without Pi. This terminal, or a program, gets the project's tasks.
//!
//! `session` keeps the place over lost connections, `serve` answers on one connection, `worker` is who does the work:
//! `exec` a program for each task, which `check` looks at before, `person` whoever sits here. `report` builds reports.

mod check;
mod exec;
mod group;
mod person;
mod report;
mod serve;
mod session;
mod task_file;
mod worker;

use tokio::sync::mpsc;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

use exec::Exec;
use person::Person;
use session::Session;
use worker::Worker;

/// Get the tasks of the project in the working folder, here or in a program
///
/// With --exec, each task runs COMMAND by the shell in the project's root: the message on its standard input,
/// HANDOFF_TASK_FILE (the dispatch as JSON, for this user alone, removed afterwards), HANDOFF_TASK_ID and HANDOFF_DISPATCH_ID in its
/// environment. Exit 0: its standard output is the report, one JSON object. Anything else is reported as ERROR with the
/// end of its standard error. When the task is cancelled, its process group gets SIGTERM, and SIGKILL 10 s later.
///
/// A COMMAND that cannot be run is not attached (exit 2), as far as can be seen before: the shell cannot read it, or what it
/// begins with does not exist or is not executable. When that shows only in a task (exit 126 or 127 of the shell), that task
/// ends in ERROR and says so, and the session ends with exit 2 instead of taking the next one.
///
/// With --member, this session gets the packets of that team member instead, and no tasks. COMMAND runs once for each
/// packet, in the same way, with the goal in HANDOFF_TASK_ID and the member in HANDOFF_AGENT_ID, so that `handoff mcp
/// team` below it knows who files. Exit 0: the packet is done, and the next one follows. Anything else: it ends as
/// aborted, which is told and kept, and the next one follows, too; a packet is never run twice. What COMMAND prints is not
/// used: a product is filed as a packet.
///
/// Without --exec the task is shown here, and the report is asked for or read from a file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program that does the work
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true)]
    exec: Option<String>,
    /// Be this team member: get its packets, and no tasks
    #[arg(long, visible_alias = "agent-id", value_name = "AGENT_ID", value_parser = super::team::id)]
    member: Option<String>,
}

/// What a worker may say before anybody listens.
const SAID: usize = 64;

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let root = ctx.working_dir()?.to_owned();
        let ctx = &*ctx;
        ctx.block_on(async {
            let (sender, said) = mpsc::channel(SAID);
            let worker = match self.exec {
                Some(command) => Worker::Program(Exec::new(ctx, command, self.member.clone(), sender)?),
                None => Worker::Person(Person::new(sender)),
            };
            Session::new(&root, self.member, worker, said)?.run(ctx).await
        })
    }
}
