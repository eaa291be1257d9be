//! `idle`: processor time and memory of a daemon whose projects have nothing to do.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::process;
use crate::table::Table;
use crate::world::World;

/// Rest after the start, before counting.
const REST: Duration = Duration::from_secs(3);
/// Per cent of one processor, with one project and with many.
const MOST_CPU: [f64; 2] = [0.05, 0.5];
/// KiB for the daemon, and for each project.
const MOST_KIB: [u32; 2] = [12 * 1024, 4];

/// Measures and prints.
///
/// # Errors
/// The daemon fails, or `/proc` is not as on Linux.
pub(crate) fn measure(world: &World, seconds: u64, table: &mut Table) -> Result<()> {
    let daemon = world.start()?;
    daemon.wait_settled(world.len())?;
    std::thread::sleep(REST);
    let (pid, words) = (daemon.pid(), world.words());
    let (ticks, fine, begin) = (process::ticks(pid)?, process::on_processor(pid)?, Instant::now());
    std::thread::sleep(Duration::from_secs(seconds));
    let (ticks, fine) = (process::ticks(pid)? - ticks, process::used_since(&fine, &process::on_processor(pid)?));
    let elapsed = begin.elapsed().as_secs_f64();

    let used = u32::try_from(ticks)? * 100 / u32::try_from(process::ticks_per_second())?.max(1);
    let coarse = f64::from(used) / elapsed;
    let most = MOST_CPU[usize::from(world.len() > 1)];
    let detail = format!("by the scheduler's clock {:.4} %", fine.as_secs_f64() / elapsed * 100.0);
    table.judge(&format!("idle, {words}: processor"), coarse, most, "%", &detail)?;

    let memory = process::memory(pid)?;
    let most = MOST_KIB[0] + MOST_KIB[1] * u32::try_from(world.len())?;
    let (threads, descriptors) = process::counts(pid)?;
    let detail = format!(
        "PSS {} KiB, anonymous {} KiB, {threads} threads, {descriptors} descriptors",
        memory.pss, memory.anonymous
    );
    let rss = f64::from(u32::try_from(memory.rss)?);
    table.judge(&format!("idle, {words}: resident memory"), rss, f64::from(most), "KiB", &detail)?;
    daemon.stop()
}
