//! `handoff mcp`: MCP servers on standard input and output. One file a server.

mod planner;
mod team;

use std::io::IsTerminal as _;

use mcp::Toolbox;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use handoffd::logging::{self, Colour, LogSettings, Target};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Serve tools to an MCP client
///
/// The client starts the command and speaks to it on standard input and output; standard error has what went wrong. It ends
/// with its input. Clients of protocol 2025-11-25 and older and of 2026-07-28 are served.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Planner(planner::Args),
    Team(team::Args),
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        match self.command {
            Command::Planner(args) => args.run(ctx),
            Command::Team(args) => args.run(ctx),
        }
    }
}

/// Each call may need a thread, and the server takes no more calls than that.
const BLOCKING_THREADS: usize = mcp::REQUESTS;

/// Serves this process's standard streams until the client leaves or a signal comes.
fn serve(ctx: &Context, toolbox: Toolbox) -> Result<Exit, Failure> {
    if std::io::stdin().is_terminal() {
        ctx.out.note("This speaks MCP: a client starts it. Ctrl-D or Ctrl-C ends it.");
    }
    let _log = logging::init(&LogSettings {
        target: Target::Stderr,
        // The library's remarks about every request are the client's business.
        level: "warn,rmcp=error".to_owned(),
        format: ctx.config().log.format,
        colour: if ctx.env.no_color { Colour::Never } else { Colour::Auto },
        journal_stream: None,
    })
    .map_err(Failure::usage)?;
    let cannot = |what: &str, error: std::io::Error| Failure::new(Exit::NotGood, format!("cannot {what}: {error}"));
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING_THREADS).build();
    let runtime = runtime.map_err(|error| cannot("start the runtime", error))?;
    let served = runtime.block_on(async {
        let mut stop = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()]
            .map(signal)
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| cannot("hear signals", error))?;
        let stop = std::future::poll_fn(move |context| {
            let came = stop.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if came { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        });
        let served = mcp::serve(toolbox, std::io::stdin(), std::io::stdout(), stop).await;
        served.map_err(|failed| Failure::new(Exit::NotGood, failed.to_string()))
    });
    // A disk that hangs must not keep the process.
    runtime.shutdown_background();
    served.map(|()| Exit::Good)
}
