//! Cutting a stream of bytes into lines, without I/O. JSON is not looked at here.
//!
//! Memory is bounded by the limit, allocated only while a line is incomplete, and given away with the line: an idle
//! connection holds nothing.

use std::borrow::Cow;

/// A line is longer than its limit. The connection cannot be used any more: there is no telling where the line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a line is longer than {limit} bytes")]
pub struct LineTooLong {
    /// The most bytes that a line may have without its line end.
    pub limit: usize,
}

/// Collects bytes and gives back whole lines.
///
/// A line ends with `\n`, which is not part of it (a `\r` before it is: JSON takes it as white space). What stands
/// after the last `\n` when the stream ends is no line and must not be read as one.
#[derive(Debug)]
pub struct LineDecoder {
    limit: usize,
    partial: Vec<u8>,
    too_long: bool,
}

impl LineDecoder {
    /// A decoder for lines of at most `limit` bytes, see [`crate::limits`].
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { limit, partial: Vec::new(), too_long: false }
    }

    /// Takes bytes off the front of `input` up to the end of the first line and gives that line, or takes all of them
    /// and gives `None`. Call it again with what is left until `input` is empty.
    ///
    /// # Errors
    /// As soon as a line has more bytes than the limit, and ever after: the decoder never keeps more than the limit.
    pub fn feed<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Cow<'a, [u8]>>, LineTooLong> {
        let end = input.iter().position(|&byte| byte == b'\n');
        let chunk = &input[..end.unwrap_or(input.len())];
        if self.too_long || self.partial.len() + chunk.len() > self.limit {
            self.too_long = true;
            self.partial = Vec::new();
            return Err(LineTooLong { limit: self.limit });
        }
        *input = &input[end.map_or(input.len(), |at| at + 1)..];
        if end.is_none() {
            self.partial.extend_from_slice(chunk);
            return Ok(None);
        }
        if self.partial.is_empty() {
            return Ok(Some(Cow::Borrowed(chunk)));
        }
        self.partial.extend_from_slice(chunk);
        Ok(Some(Cow::Owned(std::mem::take(&mut self.partial))))
    }

    /// How many bytes of an incomplete line are held.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.partial.len()
    }
}
