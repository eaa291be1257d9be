//! The clients, with the real programs: unit tests of the Pi extension, and the scenarios of `clients/pi/test/e2e`, in which
//! the real Pi and pi-subagents work with a scripted model, the real daemon and the real command line; and the plugin of
//! Claude Code in the same way.
//!
//! They need npm, tmux and, once, the network. What is missing is said, one line for each test that was left out; where
//! `CI` is `true` or `HANDOFF_SLOW` is `1` it is a failure instead. Without `HANDOFF_SLOW` only the quick ones run.
#![expect(clippy::disallowed_methods, reason = "the harness starts node, npm and the programs under test")]
#![expect(clippy::expect_used, reason = "a harness fails like a test")]

mod claude_code;
mod command;
mod needs;
mod scenario;
mod tools;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// Two sessions of Pi, each with a child, are what two cores carry.
const AT_ONCE: usize = 2;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(arguments.test_threads.map_or(AT_ONCE, |wanted| wanted.min(AT_ONCE)));
    let mut trials = unit_tests();
    trials.push(claude_code::trial());
    trials.extend(scenario::all());
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What the extension tests by itself, without Pi.
fn unit_tests() -> Vec<Trial> {
    let npm = |name: &'static str, script: &'static str| {
        Trial::ignorable_test(format!("pi_extension::{name}"), move || {
            needs::unless_left_out(&[needs::NPM], || tools::run_script(script))
        })
    };
    vec![npm("types", "check"), npm("unit_tests", "test")]
}
