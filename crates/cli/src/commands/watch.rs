//! `handoff watch`: the table of `status`, redrawn as things happen, with the last events below. On a pipe: the table once,
//! then one line an event.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};
use wire::calls::DaemonNotification;
use wire::client::{FromDaemon, Inbox};
use wire::control::EventsSubscribe;
use wire::limits::{RECONNECT_FIRST, RECONNECT_LONGEST};
use wire::status::Status;

use crate::commands::events::line;
use crate::commands::status::table;
use crate::context::Context;
use crate::daemon::{self, Daemon, is_absent};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::FullScreen;
use crate::text::{Line, Tone};

/// Events that are kept for the screen.
const KEPT: usize = 20;
/// The screen is drawn again at least this often, for the ages in it…
const REDRAW: Duration = Duration::from_secs(1);
/// …and after an event once it was quiet for this long, so that a burst costs one question.
const QUIET: Duration = Duration::from_millis(100);

/// Watch every project live
///
/// Ends with Ctrl-C. A daemon that is restarted is waited for.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print the status as one JSON object a line, each time something happens
    #[arg(long)]
    json: bool,
}

/// How what is seen is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Screen,
    Lines,
    Json,
}

/// What woke the loop.
#[expect(clippy::large_enum_variant, reason = "one value at a time, moved once")]
enum Woken {
    Told(Option<FromDaemon>),
    Due,
    Stopped,
}

struct Watch {
    mode: Mode,
    events: VecDeque<Line>,
    status: Option<Status>,
    /// Something happened since the status was asked for.
    stale: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let (runtime, (daemon, inbox)) = ctx.start(connect)?;
        let mode = match (self.json, ctx.out.is_terminal()) {
            (true, _) => Mode::Json,
            (false, true) => Mode::Screen,
            (false, false) => Mode::Lines,
        };
        let mut watch = Watch { mode, events: VecDeque::new(), status: None, stale: true };
        if mode == Mode::Screen {
            ctx.out.full_screen(FullScreen::Begin);
        }
        let outcome = watch.run(ctx, &runtime, daemon, inbox);
        if mode == Mode::Screen {
            ctx.out.full_screen(FullScreen::End);
        }
        outcome.map(|()| Exit::Good)
    }
}

async fn connect(ctx: &Context) -> Result<(Daemon, Inbox), Failure> {
    let (daemon, inbox) = daemon::connect(ctx).await?;
    daemon.call(&EventsSubscribe::default()).await?;
    Ok((daemon, inbox))
}

impl Watch {
    fn run(&mut self, ctx: &mut Context, runtime: &Runtime, daemon: Daemon, inbox: Inbox) -> Result<(), Failure> {
        let _entered = runtime.enter();
        let (mut daemon, mut inbox) = (daemon, inbox);
        let mut stop = stop_signals()?;
        while !ctx.out.is_closed() {
            match self.refresh(ctx, runtime, &daemon) {
                Ok(()) => {}
                // The loss of the connection is seen below.
                Err(failure) if is_absent(&failure) => {}
                Err(failure) => return Err(failure),
            }
            let due = Instant::now() + if self.stale { QUIET } else { REDRAW };
            match runtime.block_on(woken(&mut inbox, &mut stop, due)) {
                Woken::Told(Some(FromDaemon::Notification(DaemonNotification::Event(event)))) => {
                    self.stale = true;
                    self.note(ctx, line::of(&event));
                }
                Woken::Told(Some(_)) => {}
                Woken::Told(None) => match self.reconnected(ctx, runtime, &mut stop)? {
                    Some(connected) => (daemon, inbox) = connected,
                    None => return Ok(()),
                },
                Woken::Due => self.stale = self.stale || self.mode == Mode::Screen,
                Woken::Stopped => return Ok(()),
            }
        }
        Ok(())
    }

    /// Asks for the status if something happened, and shows it.
    fn refresh(&mut self, ctx: &mut Context, runtime: &Runtime, daemon: &Daemon) -> Result<(), Failure> {
        if std::mem::take(&mut self.stale) {
            let told = runtime.block_on(daemon.status_as_told())?;
            let status = daemon.understood(&told)?;
            match self.mode {
                Mode::Json => ctx.out.json_text(told.get()),
                Mode::Lines if self.status.is_none() => {
                    for line in table::lines(&status, ctx.now(), None, ctx.working_dir().ok()) {
                        ctx.out.line(line);
                    }
                }
                Mode::Lines | Mode::Screen => {}
            }
            self.status = Some(status);
        }
        self.draw(ctx, None);
        Ok(())
    }

    fn draw(&self, ctx: &mut Context, remark: Option<&str>) {
        let (Mode::Screen, Some(status)) = (self.mode, &self.status) else { return };
        let mut lines = table::lines(status, ctx.now(), ctx.out.width(), ctx.working_dir().ok());
        lines.push(Line::default());
        lines.extend(remark.map(|remark| Line::of(Tone::Bad, remark)));
        lines.extend(self.events.iter().cloned());
        ctx.out.screen(&lines);
    }

    fn note(&mut self, ctx: &mut Context, line: Line) {
        match self.mode {
            Mode::Lines => ctx.out.line(line),
            Mode::Screen => {
                self.events.push_front(line);
                self.events.truncate(KEPT);
            }
            Mode::Json => {}
        }
    }

    /// Waits for the daemon; `None` when the person stopped waiting.
    fn reconnected(
        &mut self,
        ctx: &mut Context,
        runtime: &Runtime,
        stop: &mut [Signal; 2],
    ) -> Result<Option<(Daemon, Inbox)>, Failure> {
        let mut pause = RECONNECT_FIRST;
        let remark = "the daemon is not reachable; waiting for it";
        if self.mode != Mode::Screen {
            ctx.out.note(remark);
        }
        loop {
            self.draw(ctx, Some(remark));
            match runtime.block_on(connect(ctx)) {
                Ok(connected) => {
                    self.stale = true;
                    return Ok(Some(connected));
                }
                Err(failure) if is_absent(&failure) => {}
                Err(failure) => return Err(failure),
            }
            let stopped = runtime.block_on(async {
                tokio::select! {
                    () = tokio::time::sleep(pause) => false,
                    () = stopped(stop) => true,
                }
            });
            if stopped || ctx.out.is_closed() {
                return Ok(None);
            }
            pause = (pause * 2).min(RECONNECT_LONGEST);
        }
    }
}

async fn woken(inbox: &mut Inbox, stop: &mut [Signal; 2], due: Instant) -> Woken {
    tokio::select! {
        told = inbox.next() => Woken::Told(told),
        () = stopped(stop) => Woken::Stopped,
        () = sleep_until(due) => Woken::Due,
    }
}

fn stop_signals() -> Result<[Signal; 2], Failure> {
    let listen =
        |kind| signal(kind).map_err(|error| Failure::new(Exit::NotGood, format!("cannot hear signals: {error}")));
    Ok([listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?])
}

async fn stopped(stop: &mut [Signal; 2]) {
    let [interrupt, terminate] = stop;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
