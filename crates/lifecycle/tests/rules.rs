//! The rules, one test or more for each sentence of the decisions about the lifecycle. `rules/rig.rs` is the harness.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a harness fails by panicking")]

#[path = "rules/d11.rs"]
mod d11;
#[path = "rules/d20.rs"]
mod d20;
#[path = "rules/d21.rs"]
mod d21;
#[path = "rules/d22.rs"]
mod d22;
#[path = "rules/d24.rs"]
mod d24;
#[path = "rules/d25.rs"]
mod d25;
#[path = "rules/d65.rs"]
mod d65;
#[path = "rules/d67.rs"]
mod d67;
#[path = "rules/d69.rs"]
mod d69;
#[path = "rules/d70.rs"]
mod d70;
#[path = "rules/d71.rs"]
mod d71;
#[path = "rules/d76.rs"]
mod d76;
#[path = "rules/rig.rs"]
mod rig;
