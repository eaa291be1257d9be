//! The members' machine: its rules one by one, as a table, and under a simulator of sessions, disk and crashes.

#![expect(clippy::unwrap_used, reason = "a harness fails by panicking")]

#[path = "members/disk.rs"]
mod disk;
#[path = "members/rig.rs"]
mod rig;
#[path = "members/rules.rs"]
mod rules;
#[path = "members/sessions.rs"]
mod sessions;
#[path = "members/sim.rs"]
mod sim;
#[path = "members/simulator.rs"]
mod simulator;
#[path = "members/table.rs"]
mod table;
