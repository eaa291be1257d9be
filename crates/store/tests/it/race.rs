//! A planner that writes as fast as it can while replaces are attempted: none of its writes is lost (D64, F165).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use store::{Expected, ProjectDir, ReplaceError, Settled, SwapFile};

use crate::support::{Project, now, write_by_rename};

const ROUNDS: usize = 20;
const WRITES: usize = 100;

/// How many writes in a row come as fast as they can. Then the planner waits for a replace: by chance alone there can be
/// none in a whole run, which would show nothing.
const STORM: usize = 25;

/// A writer in place that opened the file and then sleeps longer than this is not waited for (D64).
const AWAITED: Duration = Duration::from_millis(250);

/// The longest wait for a replace that nobody disturbs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the planner and the writers know of each other.
#[derive(Default)]
struct Shared {
    done: AtomicBool,
    replaced: AtomicUsize,
}

impl Shared {
    /// Waits until more than `before` replaces went through.
    fn wait_for_replace(&self, before: usize) {
        let since = Instant::now();
        while self.replaced.load(Ordering::SeqCst) <= before {
            assert!(since.elapsed() < PATIENCE, "no replace goes through although nobody writes");
            std::thread::yield_now();
        }
    }
}

/// What ours looks like when it was written over `old`.
fn ours_over(old: &[u8]) -> Vec<u8> {
    [b"ours over ", old].concat()
}

/// Reads and replaces until the planner is done; the displaced files that are still to be settled, and those kept aside.
fn replace_until(dir: &ProjectDir, shared: &Shared) -> (Vec<SwapFile>, Vec<PathBuf>) {
    let (mut swaps, mut kept) = (Vec::new(), Vec::new());
    while !shared.done.load(Ordering::SeqCst) {
        let Ok(file) = dir.read_queue() else { continue };
        if file.bytes.starts_with(b"ours") {
            continue;
        }
        match dir.replace_queue(Expected::Bytes(file.hash), &ours_over(&file.bytes), now()) {
            Ok(replaced) => {
                swaps.extend(replaced.displaced);
                shared.replaced.fetch_add(1, Ordering::SeqCst);
            }
            Err(ReplaceError::Changed { kept_as }) => kept.extend(kept_as),
            Err(_) => {}
        }
    }
    (swaps, kept)
}

/// How long a planner may sleep between opening the file and writing to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sleep {
    /// As long as it likes: it writes another file and renames that.
    Any,
    /// So long as it is waited for.
    Awaited,
}

/// One planner run against one daemon.
fn round(number: usize, write: fn(&Path, &[u8]), sleep: Sleep) {
    let project = Project::with_queue(b"start");
    let dir = project.open();
    let shared = Shared::default();
    let last = format!("planner {number} {WRITES}").into_bytes();
    let other = project.open();
    let mut took = Duration::ZERO;
    let left = std::thread::scope(|scope| {
        // The daemon, and somebody at `handoff submit`.
        let writers = [&dir, &other].map(|dir| scope.spawn(|| replace_until(dir, &shared)));
        for count in 1..=WRITES {
            let before = shared.replaced.load(Ordering::SeqCst);
            let begun = Instant::now();
            write(&project.queue(), format!("planner {number} {count}").as_bytes());
            took = begun.elapsed();
            if count % STORM == 0 && count < WRITES {
                shared.wait_for_replace(before);
            }
        }
        shared.done.store(true, Ordering::SeqCst);
        writers.map(|writer| writer.join().unwrap())
    });
    let mut aside = Vec::new();
    for (swaps, kept) in left {
        aside.extend(kept);
        aside.extend(swaps.iter().filter_map(|swap| match swap.settle(&dir, now()).unwrap() {
            Settled::Lost { kept_as } => Some(kept_as),
            Settled::Clean => None,
        }));
    }
    let found = project.queue_bytes();
    let lost = aside.iter().any(|path| fs::read(path).unwrap() == last);
    let text = String::from_utf8_lossy(&found).into_owned();
    let stands = found == last || found == ours_over(&last);
    // The machine may have put the planner to sleep in the midst of it.
    let beyond = sleep == Sleep::Awaited && took > AWAITED;
    assert!(stands || lost || beyond, "the last write, which took {took:?}, is gone: `{text}`, {aside:?}");
}

#[test]
fn no_write_by_rename_is_lost() {
    (0..ROUNDS).for_each(|number| round(number, write_by_rename, Sleep::Any));
}

#[test]
fn no_write_in_place_is_lost() {
    let in_place = |path: &Path, bytes: &[u8]| fs::write(path, bytes).unwrap();
    (0..ROUNDS).for_each(|number| round(number, in_place, Sleep::Awaited));
}
