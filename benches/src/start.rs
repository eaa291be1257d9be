//! `start`: how long a client waits for its first answer from a daemon that was just started.

use std::time::Instant;

use anyhow::Result;

use crate::stats::Sample;
use crate::table::Table;
use crate::world::World;

/// Milliseconds until `hello` is answered.
const MOST_MS: f64 = 2000.0;

/// Measures and prints.
///
/// # Errors
/// The daemon does not start or stop.
pub(crate) fn measure(world: &World, rounds: usize, table: &mut Table) -> Result<()> {
    let (mut answered, mut settled, mut stopped) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let begin = Instant::now();
        let daemon = world.start()?;
        answered.push(daemon.answered_after);
        daemon.wait_settled(world.len())?;
        settled.push(begin.elapsed());
        let begin = Instant::now();
        daemon.stop()?;
        stopped.push(begin.elapsed());
    }
    let (answered, words) = (Sample::of_millis(&answered), world.words());
    let judged = format!("start, {words}: hello is answered");
    table.judge(&judged, answered.percentile(100), MOST_MS, "ms", &answered.spread())?;
    table.note("  all queues owned and read, ms", &Sample::of_millis(&settled).spread())?;
    table.note("  stopped in order, ms", &Sample::of_millis(&stopped).spread())
}
