//! Ending a process group: SIGTERM, and SIGKILL when it is still there 10 s later (D76).

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::time::{Instant, sleep};

/// How long a program may take to end itself.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Ends the group and returns when it is gone, or was killed. Its leader must be reaped by somebody else.
pub(super) async fn end(group: Pid) {
    end_within(group, PATIENCE).await;
}

async fn end_within(group: Pid, patience: Duration) {
    // Gone already is as good.
    kill_process_group(group, Signal::TERM).ok();
    let deadline = Instant::now() + patience;
    while test_kill_process_group(group).is_ok() {
        if Instant::now() >= deadline {
            kill_process_group(group, Signal::KILL).ok();
            return;
        }
        sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    use std::process::Stdio;

    use tokio::io::AsyncReadExt as _;

    use super::*;
    use crate::spawn;

    /// The signal that ended a shell script which says `ready` when its traps are set.
    async fn ended_by(script: &str, limit: Duration) -> Option<i32> {
        let mut command = spawn::command("/bin/sh", std::path::Path::new("/"));
        command.args(["-c", script]).process_group(0).stdout(Stdio::piped());
        let mut child = tokio::process::Command::from(command).spawn().unwrap();
        let mut ready = [0; 6];
        child.stdout.as_mut().unwrap().read_exact(&mut ready).await.unwrap();
        let group = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
        let (status, ()) = tokio::join!(child.wait(), end_within(group, limit));
        status.unwrap().signal()
    }

    /// Who listens is given the time that a busy machine needs for it.
    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(200);

    #[tokio::test]
    async fn a_program_is_asked_first_and_killed_when_it_does_not_listen() {
        assert_eq!(ended_by("echo ready; while :; do sleep 0.05; done", LONG).await, Some(15));
        assert_eq!(ended_by("trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done", LONG).await, None);
        assert_eq!(ended_by("trap '' TERM; echo ready; while :; do sleep 0.05; done", SHORT).await, Some(9));
    }
}
