//! What the kernel says a process costs: processor time and memory, from `/proc`. Linux only.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// Memory of a process in KiB, from `smaps_rollup`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Resident pages.
    pub(crate) rss: u64,
    /// The same, shared ones divided among those who share them.
    pub(crate) pss: u64,
    /// What it allocated itself: not backed by a file.
    pub(crate) anonymous: u64,
}

/// Memory now.
pub(crate) fn memory(pid: u32) -> Result<Memory> {
    let text = read(pid, "smaps_rollup")?;
    let value = |key: &str| -> Result<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).with_context(|| format!("no {key}"))?;
        let number = line.trim().trim_end_matches(" kB");
        number.parse().with_context(|| format!("{key} is {number}"))
    };
    Ok(Memory { rss: value("Rss:")?, pss: value("Pss:")?, anonymous: value("Anonymous:")? })
}

/// Processor time so far, user and system, in the kernel's clock ticks.
pub(crate) fn ticks(pid: u32) -> Result<u64> {
    let text = read(pid, "stat")?;
    // The name in parentheses may hold anything; `utime` and `stime` are the 12th and 13th words behind it.
    let (_, behind) = text.rsplit_once(')').context("no name in stat")?;
    let words: Vec<_> = behind.split_whitespace().collect();
    let word = |index: usize| -> Result<u64> { Ok(words.get(index).context("stat is short")?.parse()?) };
    Ok(word(11)? + word(12)?)
}

/// Ticks a second.
pub(crate) fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}

/// Time that each of its threads spent on a processor: finer than ticks.
pub(crate) fn on_processor(pid: u32) -> Result<HashMap<OsString, Duration>> {
    let mut times = HashMap::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let task = task?;
        // A thread may end between the listing and the reading.
        let Ok(text) = fs::read_to_string(task.path().join("schedstat")) else { continue };
        let nanoseconds = text.split_whitespace().next().context("schedstat is empty")?.parse()?;
        times.insert(task.file_name(), Duration::from_nanos(nanoseconds));
    }
    Ok(times)
}

/// What the threads that are still there used since `before`.
pub(crate) fn used_since(before: &HashMap<OsString, Duration>, now: &HashMap<OsString, Duration>) -> Duration {
    now.iter().map(|(thread, time)| time.saturating_sub(before.get(thread).copied().unwrap_or_default())).sum()
}

/// Threads, open descriptors.
pub(crate) fn counts(pid: u32) -> Result<(usize, usize)> {
    let count = |what: &str| -> Result<usize> { Ok(fs::read_dir(format!("/proc/{pid}/{what}"))?.count()) };
    Ok((count("task")?, count("fd")?))
}

fn read(pid: u32, what: &str) -> Result<String> {
    let path = format!("/proc/{pid}/{what}");
    fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
}
