//! `burst`: 10,000 rewrites of the queue within a second; the last one, a PENDING task, must be dispatched.
#![expect(clippy::disallowed_methods, reason = "the planner writes files as planners do")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::project::{Project, idle_text, pending_text};
use crate::session::Session;
use crate::stats::Sample;
use crate::table::Table;
use crate::world::World;

/// Rewrites in a burst.
const REWRITES: usize = 10_000;
/// They may take so long. They are not spread evenly over it, which would be kinder than planners are.
const WITHIN: Duration = Duration::from_secs(1);

/// How the planner rewrites.
#[derive(Debug, Clone, Copy)]
enum How {
    /// Another file renamed over it, each time.
    Rename,
    /// The same inode overwritten.
    InPlace,
}

/// Measures and prints.
///
/// # Errors
/// The daemon fails.
pub(crate) fn measure(world: &World, rounds: usize, table: &mut Table) -> Result<()> {
    let daemon = world.start()?;
    daemon.wait_settled(world.len())?;
    let mut session = Session::attach(daemon.socket(), world.project())?;
    for (how, words) in [(How::Rename, "by rename"), (How::InPlace, "in place")] {
        let (mut missed, mut bursts, mut delays) = (0_u32, Vec::new(), Vec::new());
        for round in 0..rounds {
            let id = format!("{how:?}-{round}");
            let (took, written) = burst(world.project(), how, &id)?;
            bursts.push(took);
            let Ok(arrived) = session.wait_dispatch() else {
                missed += 1;
                break;
            };
            missed += u32::from(arrived.task_id != id);
            delays.push(arrived.at.saturating_duration_since(written));
            session.finish(&arrived)?;
        }
        let detail = format!("of {rounds}; dispatched after, ms: {}", Sample::of_millis(&delays).spread());
        table.judge(&format!("burst {words}: last writes missed"), f64::from(missed), 0.0, "", &detail)?;
        let bursts = Sample::of_millis(&bursts);
        let limit = WITHIN.as_secs_f64() * 1e3;
        table.judge(&format!("  {REWRITES} rewrites took"), bursts.percentile(100), limit, "ms", &bursts.spread())?;
    }
    daemon.stop()
}

/// Rewrites the queue; how long that took, and when the last write was there.
fn burst(project: &Project, how: How, id: &str) -> Result<(Duration, Instant)> {
    let took = match how {
        How::Rename => by_rename(project)?,
        How::InPlace => in_place(project)?,
    };
    let last = project.prepare(&pending_text(id))?;
    last.publish()?;
    Ok((took, Instant::now()))
}

/// The files are made and synced beforehand, and the old ones stay (exchanged, not replaced): making and freeing 10,000
/// files takes many disks longer than a second.
fn by_rename(project: &Project) -> Result<Duration> {
    let folder = project.root().join(".burst");
    fs::create_dir_all(&folder)?;
    let path = |number: usize| folder.join(number.to_string());
    for number in 0..REWRITES {
        fs::write(path(number), idle_text(number))?;
    }
    rustix::fs::syncfs(File::open(&folder)?)?;
    let begin = Instant::now();
    for number in 0..REWRITES {
        renameat_with(CWD, path(number), CWD, project.queue(), RenameFlags::EXCHANGE)?;
    }
    Ok(begin.elapsed())
}

fn in_place(project: &Project) -> Result<Duration> {
    project.prepare(&idle_text(0))?.publish()?;
    let file = File::options().write(true).open(project.queue())?;
    let begin = Instant::now();
    for number in 0..REWRITES {
        file.write_all_at(idle_text(number).as_bytes(), 0)?;
    }
    Ok(begin.elapsed())
}
