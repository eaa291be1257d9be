//! What these tests need of the machine, and what becomes of a test when it is not there.

use std::path::Path;

use libtest_mimic::{Completion, Failed};

/// A program, and how to get it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    name: &'static str,
    remedy: &'static str,
}

/// Brings Node, too: npm runs on it.
pub(crate) const NPM: Program =
    Program { name: "npm", remedy: "install Node.js with npm (Debian: apt-get install nodejs npm)" };
/// Gives Pi a terminal.
pub(crate) const TMUX: Program = Program { name: "tmux", remedy: "install it (Debian: apt-get install tmux)" };

/// Why a test did not come to its end.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It ran and failed.
    Failed(String),
    /// Something that the machine lacks.
    Missing(String),
}

/// Runs a test, or says why it is left out. Where everything must be there, that is a failure.
pub(crate) fn unless_left_out(
    needs: &[Program],
    test: impl FnOnce() -> Result<(), Trouble>,
) -> Result<Completion, Failed> {
    let missing = needs.iter().find(|program| !is_on_the_path(program.name));
    let outcome = match missing {
        Some(program) => Err(Trouble::Missing(format!("{} is not installed: {}", program.name, program.remedy))),
        None => test(),
    };
    match outcome {
        Ok(()) => Ok(Completion::Completed),
        Err(Trouble::Missing(why)) if !everything_must_run() => {
            Ok(Completion::ignored_with(format!("left out: {why}")))
        }
        Err(Trouble::Missing(why) | Trouble::Failed(why)) => Err(why.into()),
    }
}

/// A test that takes its time and is not asked for.
pub(crate) fn left_out_as_slow() -> Completion {
    Completion::ignored_with("left out: HANDOFF_SLOW is not 1")
}

/// Whether the slow tests run.
pub(crate) fn slow_ones_run() -> bool {
    is_set("HANDOFF_SLOW", "1")
}

fn everything_must_run() -> bool {
    slow_ones_run() || is_set("CI", "true")
}

fn is_set(name: &str, value: &str) -> bool {
    std::env::var_os(name).is_some_and(|set| set == value)
}

fn is_on_the_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).is_file())
}
