//! The plugin of Claude Code: `clients/claude-code/test`, with the real program and a scripted model.

use std::process::Command;
use std::time::Duration;

use handoffd_tests::binaries::binaries;
use libtest_mimic::Trial;

use crate::needs::{self, NPM, Trouble};
use crate::{command, tools};

/// Each test of it has a shorter deadline of its own.
const LIMIT: Duration = Duration::from_mins(8);

/// All of its tests. The program is large, so it is fetched only where the slow tests run; once it is there, they always run.
pub(crate) fn trial() -> Trial {
    Trial::ignorable_test("claude_code::plugin", || {
        if !needs::slow_ones_run() && !is_installed() {
            return Ok(needs::left_out_as_slow());
        }
        needs::unless_left_out(&[NPM], run)
    })
}

fn is_installed() -> bool {
    let entries = std::fs::read_dir(tools::folder()).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with("claude-code-"))
}

fn run() -> Result<(), Trouble> {
    let node = tools::install(&["node"])?;
    let folder = tools::client("claude-code").join("test");
    let claude = tools::installed_by(&folder.join("install.mjs"), &[], "claude ")?;
    let mut tests = Command::new(node);
    tests
        .arg("--test")
        .arg(folder.join("plugin.test.mjs"))
        .env("CLAUDE_BIN", claude)
        .env("HANDOFF_BIN", &binaries().handoff)
        .env("HANDOFFD_BIN", &binaries().handoffd);
    tools::finished(command::run(tests, LIMIT))
}
