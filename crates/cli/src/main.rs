//! The program `handoff`.
fn main() {}
