//! MCP servers on standard input and output.
//!
//! A server is a [`Toolbox`]: a name, a sentence, and [`Tool`]s, none of which knows a library. [`serve`] connects it to a
//! client of either era: protocol 2025-11-25 and older, which opens with `initialize`, and 2026-07-28, whose requests
//! carry version and capabilities themselves.
//!
//! Three layers, from the outside: `transport` turns bytes into messages, with a limit for everything, and answers what is
//! no message; `adapter` is the only place that knows rmcp, which does the negotiation; `toolbox` is ours.
//!
//! Promises:
//!
//! - A line gets an answer whatever is in it, and no line makes the server hang, end or grow.
//! - A tool is given the arguments as they came (an empty object where they were none), so that its own refusals answer.
//! - Nothing but protocol is written to the output.
//! - The end of the input, the stop signal and a client that no longer reads each end [`serve`] within seconds.

mod adapter;
mod call;
mod echo;
mod scope;
mod serve;
pub mod team;
mod toolbox;
mod transport;

pub use call::{Call, Cancellation, Progress};
pub use echo::{SELF_ECHO_TOOL_NAMES, is_self_echo};
pub use scope::{Caller, Denied, Scope};
pub use serve::{Failed, serve};
pub use toolbox::{Answer, Definition, Effect, Outcome, Tool, Toolbox};
pub use transport::limits::{LINE, REQUESTS};
