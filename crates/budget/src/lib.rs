//! Fits a conversation into a token budget, and never loses a byte of a protected section on the way.
//!
//! A conversation is a list of [`Message`]s. [`fit`] runs three [`Stage`]s over it, gentlest first, until the
//! [`Estimate`] of what is left is within the budget: long turns are cut, old tool results are dropped, the older half is
//! replaced by a summary. The sections `## Constraints` and `## Audience` (or `## 約束` and `## 受眾`), with which a
//! task packet is rendered, come out of every stage byte for byte, in order, in a message of the same role. When that
//! makes the budget unreachable, [`BudgetExceeded`] is the answer, and the caller sends what it had: an expensive request
//! can be afforded, a silently shortened constraint cannot be noticed.
//!
//! ```
//! use budget::{Conservative, Extractive, Message, fit};
//!
//! let packet = "objective: list the contracts\n\n## Constraints\n- [c1] read only\n";
//! let log = format!("reading…\n{}", "line\n".repeat(10_000));
//! let conversation =
//!     [Message::new("user", packet), Message::new("tool", log), Message::new("user", "go on")];
//! let fitted = fit(&conversation, 400, &Conservative, &Extractive).expect("there is enough to cut");
//! assert!(fitted.tokens <= 400);
//! assert!(fitted.messages[0].content.contains("## Constraints\n- [c1] read only\n"));
//! ```
//!
//! This crate is pure and depends on no other of ours. It is used by `handoff prompt fit` and never on the handoff message
//! of a queue task, which goes out whole or not at all.

mod estimate;
mod fit;
mod message;
mod section;
mod stage;
mod summary;

pub use estimate::{Conservative, Estimate, MESSAGE_OVERHEAD, conversation_tokens};
pub use fit::{BudgetExceeded, Fitted, fit};
pub use message::Message;
pub use section::{
    PROTECTED_HEADERS, SECTION_HEADER_AUDIENCE, SECTION_HEADER_AUDIENCE_EN, SECTION_HEADER_CONSTRAINTS,
    SECTION_HEADER_CONSTRAINTS_EN, protected_sections,
};
pub use stage::Stage;
pub use summary::{Extractive, Summarize};
