//! The benchmark program: which measurements run, on how many projects, and the exit code.
//!
//! It measures the real program `handoffd` from outside, through files and its socket, and imports none of its crates (but
//! `packet`, which is a library to others): a number that a user cannot observe has no place here. How each thing is
//! measured lives in the module of its name.

mod burst;
mod client;
mod daemon;
mod dispatch;
mod floor;
mod idle;
mod packet;
mod process;
mod program;
mod project;
mod session;
mod start;
mod stats;
mod table;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::table::Table;
use crate::world::World;

/// Measures handoffd beside the floor: the least that any program must do for the same promise.
#[derive(Debug, Parser)]
#[command(name = "handoffd-benches")]
struct Args {
    #[command(subcommand)]
    what: What,

    /// Exit with 1 when a target is missed
    #[arg(long, global = true)]
    check: bool,

    /// Pairs of daemon and floor for `dispatch`
    #[arg(long, global = true, default_value_t = 200)]
    pairs: usize,

    /// Seconds of idleness for `idle`
    #[arg(long, global = true, default_value_t = 30)]
    seconds: u64,

    /// How many projects "many" are
    #[arg(long, global = true, default_value_t = 1000)]
    projects: usize,

    /// Rounds of each kind of `burst`, and of `start`
    #[arg(long, global = true, default_value_t = 5)]
    rounds: usize,

    /// Measure in this folder's file system; default: the folder for temporary files
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Measure this daemon; default: built from this repository with the profile of this program
    #[arg(long, global = true, value_name = "PROGRAM")]
    handoffd: Option<PathBuf>,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
enum What {
    /// From the planner's rename to the message at the session, beside the floor
    Dispatch,
    /// Processor time and memory of a daemon with nothing to do
    Idle,
    /// Time from the start to the first answer
    Start,
    /// 10,000 rewrites within a second: the last is never missed
    Burst,
    /// Reading and checking a TaskPacket of the full 16 KiB, beside the floor
    Packet,
    /// Everything
    All,
}

impl What {
    fn includes(self, other: Self) -> bool {
        self == other || self == Self::All
    }
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let mut table = Table::start()?;
    if args.what.includes(What::Packet) {
        packet::measure(&mut table)?;
    }
    if args.what != What::Packet {
        measure_daemon(&args, &mut table)?;
    }
    let missed = table.finish()?;
    Ok(if args.check && missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn measure_daemon(args: &Args, table: &mut Table) -> Result<()> {
    let handoffd = match &args.handoffd {
        Some(program) => std::path::absolute(program)?,
        None => program::build()?,
    };
    let folder = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    table.note("handoffd", &handoffd.display().to_string())?;
    table.note("folder", &folder.display().to_string())?;
    for projects in [1, args.projects] {
        measure(args, World::create(&handoffd, &folder, projects)?, table)?;
    }
    Ok(())
}

fn measure(args: &Args, world: World, table: &mut Table) -> Result<()> {
    if world.len() > 1 && args.what == What::Burst {
        return Ok(());
    }
    if args.what.includes(What::Start) {
        start::measure(&world, args.rounds, table)?;
    }
    if args.what.includes(What::Idle) {
        idle::measure(&world, args.seconds, table)?;
    }
    if args.what.includes(What::Dispatch) {
        dispatch::measure(&world, args.pairs, table)?;
    }
    if args.what.includes(What::Burst) && world.len() == 1 {
        burst::measure(&world, args.rounds, table)?;
    }
    world.remove()
}
