//! What the daemon says of itself once a service manager has started it.

use std::thread;
use std::time::{Duration, Instant};

use crate::context::Context;
use crate::daemon;
use crate::failure::Failure;

/// A manager that waits for readiness is done when this begins; one that does not needs some time.
const WITHIN: Duration = Duration::from_secs(15);

/// Version and process of the daemon that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) version: String,
    pub(super) pid: u32,
    pub(super) started_at: String,
    /// The program on disk is another one by now.
    pub(super) outdated: bool,
    pub(super) socket: String,
}

/// Asks it now; starts nothing by itself, but for a service manager that does it on connecting.
pub(super) fn ask(ctx: &Context) -> Result<Answer, Failure> {
    ctx.block_on(async {
        let (daemon, _) = daemon::connect(ctx).await?;
        let told = daemon.status().await?.daemon;
        let (version, pid, started_at) = (told.version, told.pid, told.started_at);
        Ok(Answer { version, pid, started_at, outdated: told.outdated, socket: told.socket })
    })
}

/// Asks it until it answers.
pub(super) fn wait(ctx: &Context) -> Result<Answer, Failure> {
    let end = Instant::now() + WITHIN;
    loop {
        match ask(ctx) {
            Err(_) if Instant::now() < end => thread::sleep(Duration::from_millis(100)),
            result => return result,
        }
    }
}
