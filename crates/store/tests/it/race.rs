//! A planner that writes as fast as it can while replaces are attempted: none of its writes is lost (D64, F165).

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use store::{Expected, ProjectDir, Settled, SwapFile};

use crate::support::{Project, now, write_by_rename};

const ROUNDS: usize = 20;
const WRITES: usize = 100;

/// What ours looks like when it was written over `old`.
fn ours_over(old: &[u8]) -> Vec<u8> {
    [b"ours over ", old].concat()
}

/// Reads and replaces until the planner is done; the displaced files that are still to be settled.
fn replace_until(dir: &ProjectDir, done: &AtomicBool) -> Vec<SwapFile> {
    let mut swaps = Vec::new();
    while !done.load(Ordering::SeqCst) {
        let Ok(file) = dir.read_queue() else { continue };
        if file.bytes.starts_with(b"ours") {
            continue;
        }
        if let Ok(replaced) = dir.replace_queue(Expected::Bytes(file.hash), &ours_over(&file.bytes), now()) {
            swaps.extend(replaced.displaced);
        }
    }
    swaps
}

/// One planner run against one daemon; how many replaces went through.
fn round(number: usize, write: fn(&Path, &[u8])) -> usize {
    let project = Project::with_queue(b"start");
    let dir = project.open();
    let done = AtomicBool::new(false);
    let last = format!("planner {number} {WRITES}").into_bytes();
    let other = project.open();
    let swaps = std::thread::scope(|scope| {
        // The daemon, and somebody at `handoff submit`.
        let writers = [&dir, &other].map(|dir| scope.spawn(|| replace_until(dir, &done)));
        for count in 1..=WRITES {
            write(&project.queue(), format!("planner {number} {count}").as_bytes());
        }
        done.store(true, Ordering::SeqCst);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<SwapFile>>()
    });
    let settled: Vec<Settled> = swaps.iter().map(|swap| swap.settle(&dir, now()).unwrap()).collect();
    let found = project.queue_bytes();
    let lost = settled.iter().any(|settled| match settled {
        Settled::Lost { kept_as } => fs::read(kept_as).unwrap() == last,
        Settled::Clean => false,
    });
    let text = String::from_utf8_lossy(&found).into_owned();
    assert!(found == last || found == ours_over(&last) || lost, "the last write is gone: `{text}`, {settled:?}");
    swaps.len()
}

#[test]
fn no_write_by_rename_is_lost() {
    let replaced: usize = (0..ROUNDS).map(|number| round(number, write_by_rename)).sum();
    assert!(replaced > 0, "some replaces go through");
}

#[test]
fn no_write_in_place_is_lost() {
    let in_place = |path: &Path, bytes: &[u8]| fs::write(path, bytes).unwrap();
    let replaced: usize = (0..ROUNDS).map(|number| round(number, in_place)).sum();
    assert!(replaced > 0, "some replaces go through");
}
