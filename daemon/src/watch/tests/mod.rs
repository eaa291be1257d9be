//! The watcher against the field log, with real folders, a recording mailbox and no fixed sleeps.

mod limits;
mod moved;
mod own;
mod saves;
mod stuck;
pub(super) mod support;
