//! Who is at the other end of a connection, as the kernel says: never as the client says (F110, F112).
//!
//! Only facts about the peer; what a client may do is decided elsewhere, except that another user may do nothing.

use lifecycle::Process;
use store::{Presence, Processes};
use tokio::net::UnixStream;
use tokio::net::unix::UCred;
use wire::error::{ErrorCode, ErrorObject, Refusal};

/// The peer of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Credentials {
    pid: Option<i32>,
}

impl Credentials {
    /// Asks the kernel. Only this user and root may connect, whatever the modes of socket and folder are.
    ///
    /// # Errors
    /// `not_permitted`, naming both users.
    pub(super) fn of(stream: &UnixStream) -> Result<Self, ErrorObject> {
        let cred = stream.peer_cred().map_err(|error| refused(format!("the caller's user cannot be told: {error}")))?;
        check(&cred, nix::unistd::geteuid().as_raw()).map_err(refused)?;
        Ok(Self { pid: cred.pid().filter(|pid| *pid > 0) })
    }

    /// The peer's process with its start time, so that a later process of the same number is another one.
    ///
    /// # Errors
    /// `not_permitted`: the process cannot be seen from here (it has ended, or lives in another pid namespace), so its
    /// end could not be noticed either.
    pub(super) fn process(self, processes: &dyn Processes) -> Result<Process, ErrorObject> {
        let Some((pid, Presence::Alive { started, .. })) = self.pid.map(|pid| (pid, processes.look(pid))) else {
            let why = "the session's process cannot be seen from the daemon's; both must share one process table";
            return Err(refused(why.to_owned()));
        };
        Ok(Process { pid: pid.unsigned_abs(), started: started.unwrap_or(0) })
    }
}

fn check(cred: &UCred, us: u32) -> Result<(), String> {
    match cred.uid() {
        uid if uid == us || uid == 0 => Ok(()),
        uid => Err(format!("this daemon serves the user with the number {us} only; the caller is {uid}")),
    }
}

fn refused(why: String) -> ErrorObject {
    Refusal::new(ErrorCode::NotPermitted, why).into()
}
