//! A start that failed: whoever started it is told why, which are the service manager and the clients that wait at its
//! socket.

use std::os::unix::net::UnixListener;
use std::process::ExitCode;

use tracing::Level;
use wire::error::{ErrorCode, ErrorObject, Problem, Refusal};

use super::Exit;
use super::voice::Voice;
use crate::causes::chain;
use crate::server::turn_away;
use crate::supervision::Supervisor;

/// Why it did not start.
pub(super) struct Fault {
    /// How the program ends.
    pub(super) exit: Exit,
    /// What is wrong as a whole; empty where the one line says it.
    pub(super) what: &'static str,
    /// What is wrong one by one.
    pub(super) lines: Vec<String>,
}

impl Fault {
    pub(super) fn failed(error: &dyn std::error::Error) -> Self {
        Self { exit: Exit::Failed, what: "", lines: vec![chain(error)] }
    }

    /// Says why as long as it is `still` so, and how the program ends.
    pub(super) fn end(
        &self,
        supervisor: Supervisor,
        voice: Voice,
        waiting: Option<UnixListener>,
        still: &dyn Fn() -> bool,
    ) -> ExitCode {
        supervisor.says(&self.sentence());
        if let Some(Err(error)) = waiting.map(|waiting| turn_away(&waiting, &self.refusal(), still)) {
            voice.tell(Level::WARN, &[format!("clients that wait cannot be told: {error}")]);
        }
        match (self.exit, supervisor) {
            // launchd starts again whatever does not end with 0. Where another start would not help it must be 0 (F133).
            (Exit::Invalid | Exit::AnotherRuns, Supervisor::Launchd) => Exit::Good.into(),
            (exit, _) => exit.into(),
        }
    }

    /// The service manager keeps it.
    fn sentence(&self) -> String {
        let lines = self.lines.join("; ");
        if self.what.is_empty() { lines } else { format!("{}: {lines}", self.what) }
    }

    fn refusal(&self) -> ErrorObject {
        let problem = |line: &String| Problem { field: None, code: "cannot_start".to_owned(), message: line.clone() };
        let (words, problems) = match &self.lines[..] {
            [_] => (self.sentence(), Vec::new()),
            lines => (self.what.to_owned(), lines.iter().map(problem).collect()),
        };
        Refusal::with_problems(ErrorCode::CannotStart, format!("handoffd cannot start: {words}"), problems).into()
    }
}
