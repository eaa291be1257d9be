//! What is said where there is no log yet, or beside it: lines for whoever reads stderr.

use std::io::Write as _;

use tracing::Level;

use crate::env::Env;
use crate::logging::{Stderr, priority};

/// The standard error stream, with who reads it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Voice(Stderr);

impl Voice {
    pub(super) fn of(env: &Env) -> Self {
        Self(Stderr::look(env.journal_stream.as_deref()))
    }

    /// Lines for the person who started the program. The journal takes a line without a level for news.
    pub(super) fn tell(self, level: Level, lines: &[String]) {
        let mut stderr = std::io::stderr().lock();
        for line in lines {
            // Nobody is left to tell when this fails.
            match self.0 {
                Stderr::Journal => writeln!(stderr, "<{}>handoffd: {line}", priority(level)).ok(),
                Stderr::Terminal | Stderr::Other => writeln!(stderr, "handoffd: {line}").ok(),
            };
        }
    }
}
