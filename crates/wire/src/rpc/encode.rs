//! One message to one line. Everything that is sent is made here, so that no message can break the framing.

use super::Id;
use crate::calls::{Call, Notify};
use crate::error::ErrorObject;
use serde::Serialize;

/// A message that cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// Longer than the peer would read.
    #[error("a message of {size} bytes is longer than the {limit} bytes of a line")]
    TooLong {
        /// Bytes of the line without its end.
        size: usize,
        /// The limit that was given.
        limit: usize,
    },
    /// Not expressible as JSON.
    #[error("a message cannot be written as JSON")]
    Json(#[from] serde_json::Error),
}

#[derive(Serialize)]
struct Outgoing<'a, T: Serialize> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Option<&'a Id>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorObject>,
}

impl<T: Serialize> Outgoing<'_, T> {
    const EMPTY: Self = Self { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None };

    /// The line with its `\n`.
    fn line(&self, limit: usize) -> Result<Vec<u8>, EncodeError> {
        let mut line = serde_json::to_vec(self)?;
        if line.len() > limit {
            return Err(EncodeError::TooLong { size: line.len(), limit });
        }
        // Raw members may be spread over lines. In JSON a bare line feed is always white space: in strings it is escaped.
        line.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        line.push(b'\n');
        Ok(line)
    }
}

/// The line of a request. `limit` is the sender's, see [`crate::limits`].
///
/// # Errors
/// See [`EncodeError`].
pub fn request_line<C: Call>(id: &Id, params: &C, limit: usize) -> Result<Vec<u8>, EncodeError> {
    Outgoing { id: Some(Some(id)), method: Some(C::METHOD), params: Some(params), ..Outgoing::EMPTY }.line(limit)
}

/// The line of a notification.
///
/// # Errors
/// See [`EncodeError`].
pub fn notification_line<N: Notify>(params: &N, limit: usize) -> Result<Vec<u8>, EncodeError> {
    Outgoing { method: Some(N::METHOD), params: Some(params), ..Outgoing::EMPTY }.line(limit)
}

/// The line that answers request `id` with `result`.
///
/// # Errors
/// See [`EncodeError`].
pub fn result_line<T: Serialize>(id: &Id, result: &T, limit: usize) -> Result<Vec<u8>, EncodeError> {
    Outgoing { id: Some(Some(id)), result: Some(result), ..Outgoing::EMPTY }.line(limit)
}

/// The line that answers request `id` (`None` is `null`: it could not be read) with `error`.
///
/// # Errors
/// See [`EncodeError`].
pub fn error_line(id: Option<&Id>, error: &ErrorObject, limit: usize) -> Result<Vec<u8>, EncodeError> {
    Outgoing::<()> { id: Some(id), error: Some(error), ..Outgoing::EMPTY }.line(limit)
}
