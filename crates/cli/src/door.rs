//! Who listens at a socket: the daemon, or a service manager for it.

use std::path::Path;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::context::Context;
use crate::failure::Failure;

const WITHIN: Duration = Duration::from_secs(1);

/// The process that has bound it, as the kernel says; `None` if nobody does, or it cannot be told. Whoever listens for a
/// daemon that does not run starts it.
pub(crate) fn listener(ctx: &Context, socket: &Path) -> Option<u32> {
    let look = async {
        let stream = timeout(WITHIN, UnixStream::connect(socket)).await.map_err(Failure::usage)?;
        stream.and_then(|stream| stream.peer_cred()).map_err(Failure::usage)
    };
    ctx.block_on(look).ok()?.pid().and_then(|pid| pid.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use handoffd::env::Env;

    #[test]
    fn the_process_that_listens_is_known_and_a_dead_socket_has_none() {
        let dir = tempfile::tempdir().unwrap();
        let (ctx, path) = (Context::of_call(Env::default(), None), dir.path().join("s"));
        assert_eq!(listener(&ctx, &path), None);
        let bound = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(listener(&ctx, &path), Some(std::process::id()));
        drop(bound);
        assert_eq!(listener(&ctx, &path), None);
    }
}
