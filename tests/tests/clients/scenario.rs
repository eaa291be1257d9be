//! The scenarios of `clients/pi/test/e2e/scenarios.json`, each on the versions of Pi it names.

use std::process::Command;
use std::time::Duration;

use handoffd_tests::binaries::binaries;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::needs::{self, NPM, TMUX, Trouble};
use crate::{command, tools};

/// The runner has a shorter deadline of its own, and says more about it.
const LIMIT: Duration = Duration::from_mins(5);

struct Scenario {
    name: String,
    pi: String,
    is_quick: bool,
}

/// One trial for each scenario and version.
pub(crate) fn all() -> Vec<Trial> {
    let list = tools::extension().join("test/e2e/scenarios.json");
    let text = std::fs::read(&list).expect("the list of scenarios");
    let rows: Vec<Value> = serde_json::from_slice(&text).expect("the list of scenarios is JSON");
    rows.iter().flat_map(scenarios).map(trial).collect()
}

fn scenarios(row: &Value) -> Vec<Scenario> {
    let word = |value: &Value| value.as_str().expect("a text in the list of scenarios").to_owned();
    let versions = row["pi"].as_array().expect("each scenario names versions of Pi");
    let quick = row["quick"].as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |version| Scenario { name: word(&row["name"]), pi: word(version), is_quick: quick.contains(version) };
    versions.iter().map(one).collect()
}

fn trial(scenario: Scenario) -> Trial {
    Trial::ignorable_test(format!("pi_{}::{}", scenario.pi, scenario.name), move || {
        if !scenario.is_quick && !needs::slow_ones_run() {
            return Ok(needs::left_out_as_slow());
        }
        needs::unless_left_out(&[NPM, TMUX], || run(&scenario))
    })
}

fn run(scenario: &Scenario) -> Result<(), Trouble> {
    let pi = format!("pi-{}", scenario.pi);
    let node = tools::install(&["node", "subagents", pi.as_str()])?;
    let mut runner = Command::new(node);
    runner
        .arg(tools::extension().join("test/e2e/run.mjs"))
        .args([&scenario.name, &scenario.pi])
        .env("HANDOFF_LAB", tools::folder())
        .env("HANDOFF_BIN", &binaries().handoff)
        .env("HANDOFFD_BIN", &binaries().handoffd);
    tools::finished(command::run(runner, LIMIT))
}
