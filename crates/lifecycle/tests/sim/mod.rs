//! A simulator for the state machine: random interleavings of everything that can happen to a project, on a simulated
//! disk, with crashes between any two steps, checked against the promises after each (architecture, "Promises").

mod action;
mod check;
mod disk;
mod job;
mod mutant;
mod play;
mod session;
mod shrink;
mod world;

pub(crate) use action::{Action, from_text, to_text};
pub(crate) use mutant::Mutant;
pub(crate) use play::play;
pub(crate) use shrink::shrink;

/// The scenario of a seed.
pub(crate) fn scenario(seed: u64) -> Vec<Action> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let length = rng.usize(10..90);
    (0..length).map(|_| Action::random(&mut rng)).collect()
}
