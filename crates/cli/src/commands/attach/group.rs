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
    // Gone already is as good.
    kill_process_group(group, Signal::TERM).ok();
    let deadline = Instant::now() + PATIENCE;
    while test_kill_process_group(group).is_ok() {
        if Instant::now() >= deadline {
            kill_process_group(group, Signal::KILL).ok();
            return;
        }
        sleep(LOOK).await;
    }
}
