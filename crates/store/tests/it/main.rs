//! Tests of the file layer on real files, with real races and with every system call failing once.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests play the planner and other processes, which write files as they like"
)]

mod contained;
mod judge;
mod lines;
mod liveness;
mod lock;
mod lock_faults;
mod paths;
mod properties;
mod race;
mod real_kernel;
mod replace;
mod replace_faults;
mod support;
mod sweep;
mod worklog;
mod worklog_faults;
mod world;
