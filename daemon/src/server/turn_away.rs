//! A daemon that cannot start, and the clients that wait at a socket of the service manager: they are told why.
//!
//! systemd starts the daemon again for every connection that is left in the queue, and closes the socket for good after
//! twenty starts within two seconds. So every connection is taken out and answered, and a start that a client caused
//! lasts for [`OPEN`]: however often clients try, there are fewer starts than that, and the socket stays. The first
//! client after the repair starts a daemon that serves.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream as StdStream};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use wire::error::ErrorObject;
use wire::io::LineReader;
use wire::limits::{CLIENT_LINE, DAEMON_LINE};
use wire::rpc::{self, Incoming};

use super::credentials::Credentials;

/// How long connections are taken in.
const OPEN: Duration = Duration::from_millis(500);
/// How long a client may take to say hello and to read the answer.
const CLIENT: Duration = Duration::from_secs(1);
/// How many may be open at once; others wait in the queue.
const MOST: usize = 64;
/// After a failed accept: without it a process without descriptors would spin.
const PAUSE: Duration = Duration::from_millis(10);

/// Answers every request of those who wait, and of those who come while it does, with `why`; who comes when that is not
/// so any more is left to the next start. If nobody waits, the start was not a client's doing, and it returns at once.
///
/// # Errors
/// The system has no means for it.
pub fn turn_away(listener: &UnixListener, why: &ErrorObject, still: &dyn Fn() -> bool) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let Ok((first, _)) = listener.accept() else { return Ok(()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (clients, come) = mpsc::channel(1);
    thread::scope(|scope| {
        scope.spawn(|| runtime.block_on(tell_all(come, why)));
        clients.blocking_send(first).ok();
        take_in(listener, &clients, still);
        drop(clients);
    });
    Ok(())
}

fn take_in(listener: &UnixListener, clients: &mpsc::Sender<StdStream>, still: &dyn Fn() -> bool) {
    let until = Instant::now() + OPEN;
    while somebody_waits(listener, until) && still() {
        match listener.accept() {
            Ok((stream, _)) => {
                clients.blocking_send(stream).ok();
            }
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Looks without taking anybody in.
fn somebody_waits(listener: &UnixListener, until: Instant) -> bool {
    let Ok(left) = Timespec::try_from(until.saturating_duration_since(Instant::now())) else { return false };
    poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&left)).is_ok_and(|ready| ready > 0)
}

async fn tell_all(mut come: mpsc::Receiver<StdStream>, why: &ErrorObject) {
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = open.join_next() => {}
            Some(stream) = come.recv(), if open.len() < MOST => {
                open.spawn(timeout(CLIENT, tell(stream, why.clone())));
            }
            else => return,
        }
    }
}

/// Until the client ends the connection: it may send more than its hello before it reads.
async fn tell(stream: StdStream, why: ErrorObject) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    let mut stream = UnixStream::from_std(stream)?;
    let why = Credentials::of(&stream).err().unwrap_or(why);
    let (read, mut write) = stream.split();
    let mut reader = LineReader::new(read, CLIENT_LINE);
    while let Ok(Some(line)) = reader.next_line().await {
        if let Ok(Incoming::Request(request)) = rpc::parse(&line)
            && let Ok(line) = rpc::error_line(Some(&request.id), &why, DAEMON_LINE)
        {
            write.write_all(&line).await?;
        }
    }
    Ok(())
}
