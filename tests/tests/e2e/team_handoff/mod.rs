//! `team_handoff` through the real server on its standard streams.

mod disks;
mod identity;
mod server;
mod team;
mod traffic;
mod vectors;
mod world;
