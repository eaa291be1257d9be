//! Promises in random scenarios. `HANDOFF_SIM_SEED=n` replays one seed.

#![expect(clippy::disallowed_methods, reason = "the environment chooses what a person wants to replay")]

use std::collections::BTreeSet;

use crate::sim::{Mutant, Weather, World};

const ACTIONS: usize = 400;

fn seeds() -> std::ops::Range<u64> {
    match std::env::var("HANDOFF_SIM_SEED").ok().and_then(|text| text.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..600,
    }
}

#[test]
fn each_packet_comes_once_in_order_and_one_at_a_time_whatever_happens() {
    for seed in seeds() {
        if let Err(why) = World::new(seed, Weather::Rough, Mutant::None).play(ACTIONS) {
            panic!("seed {seed}: {why}");
        }
    }
}

#[test]
fn with_truthful_sessions_that_live_no_packet_is_ever_missing() {
    for seed in seeds() {
        let mut world = World::new(seed, Weather::Truthful, Mutant::None);
        if let Err(why) = world.play(ACTIONS) {
            panic!("seed {seed}: {why}");
        }
        assert!(world.missing().is_empty(), "seed {seed}: {:?}", world.missing());
    }
}

#[test]
fn scenarios_reach_what_matters() {
    let mut reached = BTreeSet::new();
    for seed in 0..400 {
        let mut world = World::new(seed, Weather::Rough, Mutant::None);
        world.play(ACTIONS).unwrap();
        reached.extend(world.marks);
    }
    let wanted = [
        "accepted",
        "back at its packet",
        "cannot say",
        "disk full",
        "lost",
        "member",
        "never accepted",
        "not confirmed",
        "refused",
        "released",
        "sent",
        "settled",
        "standby",
    ];
    let missed: Vec<_> = wanted.iter().filter(|mark| !reached.contains(*mark)).collect();
    assert!(missed.is_empty(), "never reached: {missed:?}");
}

#[test]
fn the_simulator_finds_mutants() {
    for mutant in [Mutant::ForgetsClaims, Mutant::BlindClaims, Mutant::LyingSessions] {
        let found = (0..300).any(|seed| World::new(seed, Weather::Rough, mutant).play(ACTIONS).is_err());
        assert!(found, "{mutant:?} was not found");
    }
}
