//! The service as its users meet it: `handoff service`, the shipped units and the real daemon under a real
//! `systemd --user`, in a mount namespace of its own with a home of its own.
//!
//! The program starts itself again inside of `tests/tools/with-user-systemd`, which needs root and systemd. Where that is
//! not to be had, each test says that it was left out; where `CI` is `true` it is a failure instead.
#![expect(clippy::disallowed_methods, reason = "the harness starts systemctl and the programs under test")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a harness fails like a test")]

mod activation;
mod crashes;
mod doctor;
mod environment;
mod files;
mod fixture;
mod lifecycle;
mod logs;
mod outside;
mod package;
mod plist;
mod refusals;
mod uninstall;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One home, one manager: one test at a time.
    arguments.test_threads = Some(1);
    let list = arguments.list;
    let inside = outside::is_inside();
    if list || inside {
        let mut trials = under_systemd();
        if !inside {
            trials.extend(plist::trials());
        }
        return libtest_mimic::run(&arguments, trials).exit_code();
    }
    match outside::run_inside() {
        Ok(code) => {
            let here = libtest_mimic::run(&arguments, plist::trials());
            if code == 0 { here.exit_code() } else { ExitCode::from(code) }
        }
        Err(why) => {
            let mut trials = outside::left_out(under_systemd_names(), &why);
            trials.extend(plist::trials());
            libtest_mimic::run(&arguments, trials).exit_code()
        }
    }
}

type Test = (&'static str, fn());

fn all() -> Vec<Test> {
    [
        lifecycle::TESTS,
        uninstall::TESTS,
        activation::TESTS,
        crashes::TESTS,
        refusals::TESTS,
        files::TESTS,
        environment::TESTS,
        logs::TESTS,
        package::TESTS,
        doctor::TESTS,
    ]
    .concat()
}

fn under_systemd_names() -> Vec<&'static str> {
    all().into_iter().map(|(name, _)| name).collect()
}

fn under_systemd() -> Vec<Trial> {
    let trial = |(name, test): Test| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    all().into_iter().map(trial).collect()
}
