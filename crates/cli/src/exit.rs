//! How the program ends: the exit codes of the command line, and nothing else.

use std::process::ExitCode;

/// What a script learns from the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: good.
    Good,
    /// 1: the thing asked about is not good (a task that ended in ERROR, a file with problems).
    NotGood,
    /// 2: the command was not understood, or something that it names cannot be used.
    Usage,
    /// 3: no daemon can be reached, or it does not answer.
    Unreachable,
    /// 4: the daemon (or the state of the project) refuses.
    Refused,
    /// 5: the time is over.
    TimedOut,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Good => 0,
            Exit::NotGood => 1,
            Exit::Usage => 2,
            Exit::Unreachable => 3,
            Exit::Refused => 4,
            Exit::TimedOut => 5,
        })
    }
}
