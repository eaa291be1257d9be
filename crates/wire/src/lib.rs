//! The local socket protocol of handoffd: message types, framing, limits, and an async client behind a feature.
//!
//! This crate is the single source of the protocol. `docs/protocol.md` describes it for people who write clients and
//! carries the hash of these sources; the JSON Schemas in `schemas/` are made from the types.
//!
//! Layers, inner first: [`framing`] cuts bytes into lines, [`rpc`] reads a line as a JSON-RPC 2.0 message whose
//! parameters stay raw, [`calls`] gives each method its types, which live in the module named after their side
//! ([`hello`], [`session`], [`daemon_calls`], [`control`], [`status`], [`event`]). Nothing here knows a domain rule: the
//! daemon converts by hand between these structs and the values of the crates `queue` and `lifecycle`.
//!
//! Without features there is no runtime and no I/O in it. `tokio` adds [`io`]; `client` adds [`client`].

pub mod calls;
#[cfg(feature = "client")]
pub mod client;
pub mod control;
pub mod daemon_calls;
pub mod error;
pub mod event;
pub mod framing;
pub mod hello;
#[cfg(feature = "tokio")]
pub mod io;
pub mod journal;
pub mod limits;
mod object;
mod raw;
pub mod rpc;
pub mod run;
pub mod schema;
pub mod session;
pub mod status;
mod words;

pub use calls::{Call, Notify};
pub use raw::Raw;
