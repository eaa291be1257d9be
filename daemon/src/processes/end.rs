//! Waiting for the end of one process through a pidfd, which names it for good: its number may be used again, its
//! descriptor never is. It becomes readable when the process ends, also while it still waits to be reaped.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use store::Presence;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::table::Key;
use super::{Shared, id_of, lock};

/// Waits, then tells everybody. Ends at once when the system has no pidfds; then the end is found by sampling.
pub(super) async fn wait(shared: Arc<Shared>, key: Key) {
    let opened = open(key);
    // Only now: whatever the number meant before it was opened, from here on it cannot change behind us.
    let gone = matches!(shared.look(key.process), Presence::Gone | Presence::Zombie);
    match opened {
        _ if gone => {}
        Ok(process) => {
            if let Err(error) = process.readable().await.map(|_| ()) {
                tracing::warn!(pid = key.process.pid, %error, "the end of a process cannot be waited for; it is sampled");
                return lock(&shared.table).sample_for_end(key);
            }
        }
        Err(error) => {
            tracing::debug!(pid = key.process.pid, %error, "no pidfd; the process is sampled");
            return lock(&shared.table).sample_for_end(key);
        }
    }
    shared.has_ended(key).await;
}

#[cfg(target_os = "linux")]
fn open(key: Key) -> io::Result<AsyncFd<OwnedFd>> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let no_such = || io::Error::from(io::ErrorKind::NotFound);
    let pid = id_of(key.process).and_then(|id| Pid::from_raw(id.pid)).ok_or_else(no_such)?;
    let fd = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
    #[expect(
        deprecated,
        reason = "its successor is unsafe for types whose descriptor may change; an OwnedFd's never does"
    )]
    AsyncFd::with_interest(fd, Interest::READABLE)
}

/// Untested: no machine of ours can compile it.
#[cfg(not(target_os = "linux"))]
fn open(_key: Key) -> io::Result<AsyncFd<OwnedFd>> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}
