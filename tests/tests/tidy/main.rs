//! Tidy: rules of the house that no lint knows, checked on the repository itself.
//!
//! Each module is about one kind of thing and holds nothing but its rules; how files are found is in [`tree`].
#![expect(clippy::expect_used, reason = "a tidy test that cannot read the repository fails")]

mod documents;
mod licences;
mod manifests;
mod markdown;
mod sources;
mod tree;
mod words;
