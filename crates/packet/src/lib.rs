//! The TaskPacket, version 1.0: what one role of an agent team hands to the next.
//!
//! The roles of a team (planner, executor, verifier) run on different models and never see each other's conversation. A
//! packet carries decisions and references between them, in at most 16 KiB of JSON. This crate reads packets, checks them,
//! writes them and turns them into prompt text. It is pure: no file, no socket, no clock.
//!
//! ```
//! use packet::{TaskPacket, door};
//!
//! let packet = door::check(packet::MINIMAL_PACKET_EXAMPLE.as_bytes())?;
//! assert_eq!(packet.objective, "one sentence: what the next role must do");
//!
//! // The written form is what lies on disk and what the cap counts.
//! assert!(packet.normalized().ends_with(r#""output_format":{"kind":"markdown"},"fidelity":"none","irreversible":false}"#));
//!
//! // A refusal has a stable code, and names the item.
//! let mut packet = packet;
//! packet.audience = vec!["verifier".into(), " ".into()];
//! let error = packet.validate().unwrap_err();
//! assert_eq!((error.code(), error.to_string().as_str()), ("blank_field", "`audience[1]` must not be blank"));
//! # Ok::<(), packet::door::Refusal>(())
//! ```
//!
//! [`render`] makes prompt text of a packet, in which no value can pass for a heading or for more than one line.
//!
//! # Ways in
//!
//! | from | through | repeated keys | a forbidden key is |
//! |---|---|---|---|
//! | a file | [`door::check`] | refused | `invalid_packet` (D60) |
//! | a tool call | [`door::open`], then [`door::admit`] | the last one won already | `forbidden_provider_field` (D32) |
//!
//! Both are strict (D31): unknown keys, lists in place of objects, numbers in place of strings are refused in every object.
//! There is no member that takes any JSON, so that no transcript can travel along.
//!
//! # Limits
//!
//! Every cap is a public constant under its name in the specification. Over a cap a packet is refused whole; nothing is ever
//! cut. Decisions (`D31`) are those of the project's `docs/decisions.md`.

pub mod door;
mod error;
mod forbidden;
mod keys;
mod limits;
mod object;
mod output_format;
mod parts;
mod read;
mod render;
mod schema;
mod task_packet;
mod validate;
mod words;

pub use door::Refusal;
pub use error::PacketError;
pub use forbidden::forbidden_key;
pub use keys::{FORBIDDEN_PROVIDER_FIELDS, MINIMAL_PACKET_EXAMPLE, OPTIONAL_KEYS, REQUIRED_KEYS, shape_hint};
pub use limits::{
    ASSERTION_LIST_MAX, ASSERTION_TOKEN_MAX_CHARS, AUDIENCE_ID_MAX_CHARS, AUDIENCE_MAX, CONSTRAINT_ID_MAX_CHARS,
    CONSTRAINT_TEXT_MAX_CHARS, CONSTRAINTS_MAX, EVIDENCE_INDEX_MAX, OBJECTIVE_MAX_CHARS, TASK_PACKET_MAX_BYTES,
};
pub use output_format::OutputFormat;
pub use parts::{ArtifactRef, Assertion, Budget, Constraint, Finding, ToolScope};
pub use read::ReadError;
pub use render::{Frame, Language, render};
pub use schema::schema;
pub use task_packet::TaskPacket;
pub use words::{AssertionKind, Fidelity, Role};
