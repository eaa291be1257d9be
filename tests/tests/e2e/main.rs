//! Scenarios with the real programs. Each test has its own world and says in its name which rule it holds to; those
//! named `f123_…` are entries of `docs/field-log.md`. Tests over 30 s run with `HANDOFF_SLOW=1` only.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests fail like tests, and tests play users and planners, who write files as they like"
)]

mod acceptance;
mod bytes;
mod chaos;
mod command_line;
mod configuration;
mod crashes;
mod disks;
mod dispatch;
mod doctor;
mod halting;
mod hardships;
mod limits;
mod locks;
mod logs;
mod members;
mod members_chaos;
mod members_exec;
mod members_places;
mod members_restart;
mod namespaces;
mod notices;
mod people;
mod races;
mod report;
mod resources;
mod restart;
mod save_patterns;
mod sessions;
mod sockets;
mod support;
mod team_handoff;
mod users;
