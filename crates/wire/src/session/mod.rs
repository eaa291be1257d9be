//! What a session sends: attaching, its signs, its runs, its report. What it is sent is in `daemon_calls`.

mod attach;
mod signs;
mod work;

pub use attach::*;
pub(crate) use signs::null_is_false;
pub use signs::*;
pub use work::*;
