//! Looking at watched processes once a second, a few at a time: whether one is stopped, and whether one has ended where
//! the system does not tell (macOS). Runs only while something is watched, so that an idle daemon pays nothing.

use std::sync::Arc;

use lifecycle::Stopped;
use store::Presence;

use super::{Shared, lock};

/// So many looks at most each time; more processes take turns.
const AT_A_TIME: usize = 16;

/// Samples until nothing is watched any more.
pub(super) async fn run(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(shared.interval).await;
        let Some(samples) = lock(&shared.table).next_samples(AT_A_TIME) else { return };
        for (key, for_end) in samples {
            match shared.look(key.process) {
                Presence::Gone | Presence::Zombie if for_end => shared.has_ended(key).await,
                // The pidfd tells of it.
                Presence::Gone | Presence::Zombie => {}
                Presence::Alive { stopped, .. } => {
                    let stopped = if stopped { Stopped::Yes } else { Stopped::No };
                    let listeners = lock(&shared.table).is_stopped(key, stopped);
                    for listener in listeners {
                        listener.tell_stopped(key.process, stopped).await;
                    }
                }
            }
        }
    }
}
