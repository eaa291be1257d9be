//! The simulator's tests. `HANDOFF_SIM_SEED=n` replays one seed, `HANDOFF_SIM_PLAY="…"` a scenario as it was printed,
//! `HANDOFF_SIM_SEEDS=n` tries that many.

#![expect(clippy::disallowed_methods, reason = "the environment chooses what a person wants to replay")]

mod sim;

use sim::{Action, Mutant, from_text, play, scenario, shrink, to_text};

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

#[test]
fn the_simulator_finds_mutants() {
    for mutant in Mutant::ALL {
        let found = (0..300).find(|seed| play(&scenario(*seed), *mutant).is_some());
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
