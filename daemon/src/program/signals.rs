//! Signals: SIGTERM and SIGINT stop in order, the second one at once; SIGHUP reads the configuration again, unless it comes
//! because the terminal that the daemon writes to was closed: then it stops in order, as a person expects who closed it.
//!
//! SIGPIPE stays ignored, as the standard library has it: a client that is gone is an error of one write, not the end.

use std::future::Future;
use std::io::{self, IsTerminal as _};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag::{register, register_conditional_shutdown};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

/// The exit code of a daemon that a second signal ended at once.
const AT_ONCE: i32 = 1;

/// The signals of this process.
pub(super) struct Signals {
    /// Comes with the first SIGTERM or SIGINT, or when the terminal is closed.
    pub(super) stop: Pin<Box<dyn Future<Output = ()>>>,
    /// A message for each SIGHUP; several that come together are one.
    pub(super) reloads: mpsc::Receiver<()>,
}

impl Signals {
    /// Takes the signals over. Needs a runtime.
    ///
    /// # Errors
    /// The system refused.
    pub(super) fn listen() -> io::Result<Self> {
        end_at_once_on_the_second()?;
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let (asked, asked_to_stop) = oneshot::channel();
        let (closed, terminal_closed) = oneshot::channel();
        let stop = async move {
            tokio::select! {
                Ok(()) = asked_to_stop => {}
                Ok(()) = terminal_closed => {}
            }
        };
        // Two that come at the same moment can run on two threads, and each takes itself for the first. Both are taken
        // here, in one turn: an orderly stop that was short would end before another task saw the second.
        tokio::spawn(async move {
            either(&mut term, &mut int).await;
            asked.send(()).ok();
            either(&mut term, &mut int).await;
            signal_hook::low_level::exit(AT_ONCE);
        });
        let mut hup = signal(SignalKind::hangup())?;
        let (wish, reloads) = mpsc::channel(1);
        let on_terminal = io::stderr().is_terminal();
        tokio::spawn(async move {
            let mut closed = Some(closed);
            while hup.recv().await.is_some() {
                if on_terminal && !io::stderr().is_terminal() {
                    closed.take().map(|closed| closed.send(()).ok());
                    continue;
                }
                // A wish that already waits is as good as this one.
                wish.try_send(()).ok();
            }
        });
        Ok(Self { stop: Box::pin(stop), reloads })
    }
}

async fn either(term: &mut Signal, int: &mut Signal) {
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
}

/// Works also when the loop is stuck: the second signal is acted on in the handler itself. The order matters: the first
/// signal finds the flag unset, then sets it.
fn end_at_once_on_the_second() -> io::Result<()> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in TERM_SIGNALS.iter().filter(|signal| **signal != signal_hook::consts::SIGQUIT) {
        register_conditional_shutdown(*signal, AT_ONCE, Arc::clone(&asked))?;
        register(*signal, Arc::clone(&asked))?;
    }
    Ok(())
}
