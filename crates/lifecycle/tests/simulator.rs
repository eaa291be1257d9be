//! The simulator's tests. `HANDOFF_SIM_SEED=n` replays one seed, `HANDOFF_SIM_PLAY="…"` a scenario as it was printed,
//! `HANDOFF_SIM_SEEDS=n` tries that many.

#![expect(clippy::disallowed_methods, reason = "the environment chooses what a person wants to replay")]

mod sim;

use std::collections::BTreeSet;

use sim::{Action, Mutant, from_text, play, reached, scenario, shrink, to_text};

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[track_caller]
fn fails(what: &str, actions: &[Action]) -> ! {
    let (small, why) = shrink(actions, Mutant::None);
    panic!("{what}: {why}\n{} actions; replay with\nHANDOFF_SIM_PLAY=\"{}\"", small.len(), to_text(&small));
}

#[test]
fn promises_hold_in_random_scenarios() {
    if let Some(text) = variable("HANDOFF_SIM_PLAY") {
        let actions = from_text(&text).unwrap();
        assert_eq!(play(&actions, Mutant::None), None);
        return;
    }
    if let Some(seed) = variable("HANDOFF_SIM_SEED") {
        let actions = scenario(seed.parse().unwrap());
        if play(&actions, Mutant::None).is_some() {
            fails(&format!("seed {seed}"), &actions);
        }
        return;
    }
    let seeds = variable("HANDOFF_SIM_SEEDS").map_or(4_000, |text| text.parse().unwrap());
    for seed in 0..seeds {
        let actions = scenario(seed);
        if play(&actions, Mutant::None).is_some() {
            fails(&format!("seed {seed}"), &actions);
        }
    }
}

/// Without these, scenarios that never fail prove nothing.
const MUST_BE_REACHED: &[&str] = &[
    "Cancelled: because",
    "Delivery was not confirmed; its effects are unknown.",
    "The background runs ended, but no valid report came in time.",
    "The session cannot say whether it got the task.",
    "The session gave no sign of life",
    "The session left the task's conversation without a report.",
    "The session never accepted it.",
    "The session was lost and did not come back within 24 h.",
    "The session was lost and did not come back within 30 s.",
    "The session's process ended without a report.",
    "The task ran longer than task.max_runtime allows.",
    "The turn ended without a valid report.",
    "The turn was aborted without a report.",
    "The work log could not be written",
    "Unowned RUNNING task",
    "abandoned",
    "attached owner true task true",
    "blocked cannot_write",
    "blocked lock_live",
    "blocked lock_lost",
    "blocked work_log",
    "cancelled PENDING ERROR NotReached",
    "cancelled RUNNING ERROR Aborted",
    "demoted",
    "halted lost_write",
    "halted replaced",
    "held repeating",
    "lock recovered true",
    "missing",
    "not accepted",
    "reminded",
    "report complete false Appended",
    "report complete true Appended",
    "started again true",
    "unreadable",
    "waiting runs_alive",
    "waiting stopped",
];

#[test]
fn scenarios_reach_what_matters() {
    let all: BTreeSet<String> = (0..4_000).flat_map(|seed| reached(&scenario(seed))).collect();
    let reaches = |mark: &&str| all.iter().any(|reached| reached.starts_with(*mark));
    let missed: Vec<&&str> = MUST_BE_REACHED.iter().filter(|mark| !reaches(mark)).collect();
    assert!(missed.is_empty(), "never reached: {missed:?}");
}

#[test]
fn the_simulator_finds_mutants() {
    for mutant in Mutant::ALL {
        let found = (0..1_000).find(|seed| play(&scenario(*seed), *mutant).is_some());
        assert!(found.is_some(), "{mutant:?} was not found");
    }
}

#[test]
fn scenarios_survive_as_text() {
    let actions = scenario(7);
    assert_eq!(from_text(&to_text(&actions)), Ok(actions));
}

#[test]
fn shrinking_keeps_the_failure() {
    let mutant = Mutant::DispatchTwice;
    let actions = (0..300).map(scenario).find(|actions| play(actions, mutant).is_some()).unwrap();
    let (small, why) = shrink(&actions, mutant);
    assert!(small.len() < 12, "{}", to_text(&small));
    assert!(play(&small, mutant).is_some(), "{why}");
}
