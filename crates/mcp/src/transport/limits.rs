//! How much a client may ask for at once.

use std::time::Duration;

/// Bytes of a line. A packet of the largest size fits many times over, also when it comes as a string full of escapes.
pub const LINE: usize = 1 << 20;
/// Requests that wait for their answer. Further ones are left unread until one of these is answered.
pub const REQUESTS: usize = 256;
/// Lines that were read and not looked at yet, and lines that wait to be written.
pub(crate) const QUEUE: usize = 16;
/// How long no answer may go out after the end of the input, before those that are out are given up.
pub(crate) const QUIET: Duration = Duration::from_secs(3);
/// How long a client may read nothing while it asks for more than is in flight already.
pub(crate) const STALL: Duration = Duration::from_secs(30);
/// How often that is looked at, while something is waited for.
pub(crate) const LOOK: Duration = Duration::from_secs(1);
/// Characters of a text that is told back in an error.
pub(crate) const ECHO: usize = 100;
