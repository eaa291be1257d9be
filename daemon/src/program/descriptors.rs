//! The limit of open descriptors: each project holds a few, so the soft limit is raised to the hard one (D17, F135).

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// What systems accept whose hard limit is only nominal: macOS says "unlimited" and takes this much.
const ACCEPTED: u64 = 10_240;

/// Raises the limit as far as it goes; where it does not, the daemon runs with what it has.
pub(super) fn raise_limit() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    if soft >= hard {
        return;
    }
    let raised = setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
        .or_else(|_| setrlimit(Resource::RLIMIT_NOFILE, ACCEPTED.clamp(soft, hard), hard));
    if let Err(error) = raised {
        tracing::debug!(%error, soft, hard, "the limit of open descriptors stays");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        setrlimit(Resource::RLIMIT_NOFILE, hard.min(256), hard).unwrap();
        raise_limit();
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap(), (hard, hard));
    }
}
