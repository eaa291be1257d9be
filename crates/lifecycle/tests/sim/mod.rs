//! A simulator for the state machine: random interleavings of everything that can happen to a project, on a simulated
//! disk, with crashes between any two steps, checked against the promises after each (architecture, "Promises").

mod action;
mod check;
mod clock;
mod disk;
mod job;
mod marks;
mod mutant;
mod play;
mod scenario;
mod session;
mod shrink;
mod world;

pub(crate) use action::{Action, from_text, to_text};
pub(crate) use mutant::Mutant;
pub(crate) use play::{play, reached};
pub(crate) use scenario::scenario;
pub(crate) use shrink::shrink;
