//! The JSON-RPC 2.0 envelope: one line in, one [`Incoming`]; one message out, one line. Methods are not known here.

mod encode;
mod id;
mod params;
mod parse;

pub use encode::{EncodeError, error_line, notification_line, request_line, result_line};
pub use id::Id;
pub use params::{Params, decode};
pub use parse::{Malformed, parse};

use crate::Raw;
use crate::error::ErrorObject;

/// What one line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// Wants an answer.
    Request(Request),
    /// Never gets an answer, also not when it is wrong.
    Notification(Notification),
    /// Answers a request of ours.
    Response(Response),
}

/// A call that wants an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Chosen by the sender; comes back in the answer as it was written.
    pub id: Id,
    /// The method's name, known or not.
    pub method: String,
    /// Raw until the method is known.
    pub params: Params,
}

/// A call that wants no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The method's name, known or not.
    pub method: String,
    /// Raw until the method is known.
    pub params: Params,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The request it answers; `None` (`null`) when the other side could not read the request's id.
    pub id: Option<Id>,
    /// The result, raw until the caller gives it its type, or the error.
    pub outcome: Result<Raw, ErrorObject>,
}
