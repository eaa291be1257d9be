//! How much a client may ask for at once.

/// Bytes of a line. A packet of the largest size fits many times over, also when it comes as a string full of escapes.
pub const LINE: usize = 1 << 20;
/// Requests that wait for their answer. Further ones are left unread until one of these is answered.
pub const REQUESTS: usize = 256;
/// Lines that were read and not looked at yet, and lines that wait to be written.
pub(crate) const QUEUE: usize = 16;
/// Characters of a text that is told back in an error.
pub(crate) const ECHO: usize = 100;
