//! The tests of `profiles` on real folders: one binary, one file a topic.
#![expect(clippy::disallowed_methods, reason = "the trees of these tests are throw-away files")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails as a test does")]

mod bounds;
mod front_matter;
mod links;
mod packages;
mod precedence;
mod settings;
mod traversal;
mod tree;
mod vectors;
