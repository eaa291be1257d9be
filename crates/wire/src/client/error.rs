//! What can go wrong between a client and the daemon, told apart as far as a person or a script acts differently.

use crate::error::{ErrorCode, ErrorObject, Problem};
use crate::rpc::EncodeError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Nobody listens there.
    #[error("cannot connect to the daemon at {}", path.display())]
    NotReachable {
        /// The socket's path.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: io::Error,
    },
    /// Connected, but no answer came in time: the daemon is stopped, stuck, or something else has its socket.
    #[error("the daemon did not answer `{method}` within {} s", limit.as_secs_f32())]
    NoAnswer {
        /// What was asked.
        method: &'static str,
        /// How long the answer was waited for.
        limit: Duration,
    },
    /// The two speak different protocols: one of them is out of date.
    #[error("this program speaks protocol {ours}, the daemon{} speaks {}", version_suffix(daemon.as_deref()), list(theirs))]
    Protocol {
        /// The number that this program speaks.
        ours: u32,
        /// The numbers that the daemon speaks.
        theirs: Vec<u32>,
        /// The daemon's version, if it told.
        daemon: Option<String>,
    },
    /// The daemon answered with an error.
    #[error("{}", error.message)]
    Refused {
        /// What was asked.
        method: &'static str,
        /// Code, message and data.
        error: ErrorObject,
    },
    /// The connection has ended.
    #[error("the connection to the daemon has ended: {why}")]
    Closed {
        /// How.
        why: String,
    },
    /// The answer is not what the method answers.
    #[error("the answer to `{method}` is not understood: {why}")]
    BadAnswer {
        /// What was asked.
        method: &'static str,
        /// What is wrong with the answer.
        why: String,
    },
    /// The message is too long for a line.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl ClientError {
    /// The stable word of a refusal.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { error, .. } => error.refusal_code(),
            _ => None,
        }
    }

    /// All faults of a refusal, where there can be several.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        match self {
            Self::Refused { error, .. } => error.refusal().map(|data| data.problems).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// Whether the daemon cannot be worked with at all: not there, not answering, or not able to start.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::NotReachable { .. } | Self::NoAnswer { .. }) || self.code() == Some(ErrorCode::CannotStart)
    }
}

fn version_suffix(version: Option<&str>) -> String {
    version.map(|version| format!(" ({version})")).unwrap_or_default()
}

fn list(numbers: &[u32]) -> String {
    match numbers {
        [] => "another".to_owned(),
        _ => numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}
