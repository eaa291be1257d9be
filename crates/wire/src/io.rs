//! Reading lines from a tokio stream. Writing is left to each side: the daemon's queues differ from the client's.

use crate::framing::{LineDecoder, LineTooLong};
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// Bytes that one read asks for. They lie on the stack during the read, so that a waiting connection holds no buffer.
const CHUNK: usize = 8 * 1024;

/// Why no further line comes.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The other side sent too long a line: answer -32700 and close.
    #[error(transparent)]
    TooLong(#[from] LineTooLong),
    /// The stream failed.
    #[error("cannot read from the socket")]
    Io(#[from] io::Error),
}

/// Lines from a stream, one at a time, each at most as long as its limit.
#[derive(Debug)]
pub struct LineReader<R> {
    stream: R,
    decoder: LineDecoder,
    /// Read but not yet cut into lines; empty most of the time.
    waiting: Vec<u8>,
    taken: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads from `stream` lines of at most `limit` bytes, see [`crate::limits`].
    pub const fn new(stream: R, limit: usize) -> Self {
        Self { stream, decoder: LineDecoder::new(limit), waiting: Vec::new(), taken: 0 }
    }

    /// The next whole line without its end; `None` when the stream has ended. What stands after the last line end is
    /// dropped: a half message is none.
    ///
    /// Safe to cancel: no byte is lost when the future is dropped before it is done.
    ///
    /// # Errors
    /// See [`ReadError`]. After `TooLong` every further call gives it again.
    pub async fn next_line(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        poll_fn(|cx| self.poll_line(cx)).await
    }

    fn poll_line(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Vec<u8>>, ReadError>> {
        loop {
            if let Some(line) = self.line_from_waiting()? {
                return Poll::Ready(Ok(Some(line)));
            }
            let mut chunk = [MaybeUninit::uninit(); CHUNK];
            let mut buffer = ReadBuf::uninit(&mut chunk);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Ok(None));
            }
            let mut input = buffer.filled();
            let line = self.decoder.feed(&mut input)?.map(std::borrow::Cow::into_owned);
            self.waiting.extend_from_slice(input);
            if let Some(line) = line {
                return Poll::Ready(Ok(Some(line)));
            }
        }
    }

    fn line_from_waiting(&mut self) -> Result<Option<Vec<u8>>, LineTooLong> {
        if self.waiting.is_empty() {
            return Ok(None);
        }
        let mut input = &self.waiting[self.taken..];
        let line = self.decoder.feed(&mut input)?.map(std::borrow::Cow::into_owned);
        self.taken = self.waiting.len() - input.len();
        if self.taken == self.waiting.len() {
            self.waiting = Vec::new();
            self.taken = 0;
        }
        Ok(line)
    }
}
