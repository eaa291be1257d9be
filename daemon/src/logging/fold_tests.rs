//! The two rules of folding under a clock of our own.

use proptest::prelude::*;
use serde_json::Value;

use super::super::fact::Said;
use super::*;
use crate::clock::Wall;

fn fact(project: &str, message: &str, detail: u64) -> Fact {
    let said = Said {
        project: Some(project.to_owned()),
        message: message.to_owned(),
        fields: vec![("detail", Value::from(detail))],
        ..Said::default()
    };
    Fact { at: Wall::from_unix_ms(0), level: Level::INFO, target: "test", site: None, said, repeated: None }
}

/// Feeds one fact; returns whether it was written, and the counts that came out before it.
fn feed(folds: &mut Folds, fact: &Fact, now: u64) -> (bool, Vec<u64>) {
    let mut counts = folds.due(now);
    let written = folds.admit(fact, now) == Verdict::Write;
    if written {
        counts.extend(folds.ahead_of(fact, now));
    }
    (written, counts.iter().filter_map(|count| count.repeated).map(|repeated| repeated.count).collect())
}

#[test]
fn a_rescan_demanded_a_hundred_times_a_second_is_a_few_lines_an_hour() {
    let mut folds = Folds::new(FIRST_WINDOW_MS);
    let rescan = fact("alpha", "rescan demanded", 0);
    let mut lines = 0;
    let mut told = 0;
    for now in (0..3_600_000_u64).step_by(10) {
        let (written, counts) = feed(&mut folds, &rescan, now);
        lines += u64::from(written) + u64::try_from(counts.len()).unwrap();
        told += u64::from(written) + counts.iter().sum::<u64>();
    }
    let rest: u64 = folds.drain(3_600_000).iter().filter_map(|fact| fact.repeated).map(|rest| rest.count).sum();
    assert!(lines <= 6, "{lines}");
    assert_eq!(told + rest, 360_000);
}

#[test]
fn a_fact_that_stopped_repeating_is_new_again() {
    let mut folds = Folds::new(FIRST_WINDOW_MS);
    let fact = fact("alpha", "x", 0);
    assert_eq!(feed(&mut folds, &fact, 0), (true, vec![]));
    assert_eq!(feed(&mut folds, &fact, 9_999), (false, vec![]));
    assert_eq!(folds.next_due(), Some(10_000));
    assert_eq!(folds.due(10_000).len(), 1);
    assert_eq!(folds.next_due(), None);
    assert_eq!(feed(&mut folds, &fact, 10_000 + 6 * FIRST_WINDOW_MS), (true, vec![]), "a window without a repeat");
}

#[test]
fn one_repeat_is_counted_too() {
    let mut folds = Folds::new(FIRST_WINDOW_MS);
    let fact = fact("alpha", "x", 0);
    feed(&mut folds, &fact, 0);
    feed(&mut folds, &fact, 1);
    let due: Vec<_> = folds.due(FIRST_WINDOW_MS).iter().map(|due| due.repeated).collect();
    assert_eq!(due, [Some(Repeated { count: 1, within_ms: FIRST_WINDOW_MS, how: How::Same })]);
}

#[test]
fn a_state_that_comes_back_is_news() {
    let mut folds = Folds::new(FIRST_WINDOW_MS);
    let (idle, running) = (fact("alpha", "state", 0), fact("alpha", "state", 1));
    for now in [0, 10, 20, 30] {
        assert_eq!(feed(&mut folds, &idle, now), (true, vec![]));
        assert_eq!(feed(&mut folds, &running, now + 5), (true, vec![]));
    }
    assert!(!feed(&mut folds, &running, 40).0, "a repeat");
    assert!(!feed(&mut folds, &running, 41).0);
    assert!(feed(&mut folds, &fact("beta", "state", 0), 42).0);
    assert!(!feed(&mut folds, &running, 43).0, "what another project says makes it no news");
    assert_eq!(feed(&mut folds, &idle, 50), (true, vec![3]), "the count comes first");
    assert!(folds.due(FIRST_WINDOW_MS + 50).is_empty());
}

#[test]
fn two_facts_that_chase_each_other_are_a_few_lines_an_hour() {
    let mut folds = Folds::new(FIRST_WINDOW_MS);
    let both = [fact("alpha", "does not answer", 0), fact("alpha", "answers again", 0)];
    let (mut lines, mut told) = (0, 0);
    for now in (0..3_600_000_u64).step_by(100) {
        for fact in &both {
            let (written, counts) = feed(&mut folds, fact, now);
            lines += u64::from(written) + u64::try_from(counts.len()).unwrap();
            told += u64::from(written) + counts.iter().sum::<u64>();
        }
    }
    told += folds.drain(3_600_000).iter().filter_map(|fact| fact.repeated).map(|rest| rest.count).sum::<u64>();
    assert!(lines <= 5 * 2 * u64::from(RETURNS + 1), "{lines}");
    assert_eq!(told, 72_000);
}

#[test]
fn details_make_a_fact_another_one() {
    let mut folds = Folds::new(FIRST_WINDOW_MS);
    assert!(feed(&mut folds, &fact("alpha", "x", 1), 0).0);
    assert!(feed(&mut folds, &fact("alpha", "x", 2), 0).0);
    assert!(feed(&mut folds, &fact("beta", "x", 1), 0).0);
    assert!(!feed(&mut folds, &fact("alpha", "x", 2), 0).0, "the latest of its project");
}

#[test]
fn one_place_cannot_flood_with_changing_details() {
    let mut folds = Folds::new(FIRST_WINDOW_MS);
    let written = (0..1000).filter(|&detail| feed(&mut folds, &fact("alpha", "x", detail), 5).0).count();
    assert_eq!(written, BURST as usize);
    let due = folds.due(FIRST_WINDOW_MS + 5);
    let repeated: Vec<_> = due.iter().filter_map(|fact| fact.repeated).collect();
    assert_eq!(repeated, [Repeated { count: 900, within_ms: 10_000, how: How::Alike }]);
}

#[test]
fn debugging_is_never_thinned_out() {
    let mut folds = Folds::new(FIRST_WINDOW_MS);
    let mut debug = fact("alpha", "x", 0);
    debug.level = Level::DEBUG;
    for detail in 0..1000 {
        debug.said.fields = vec![("detail", Value::from(detail))];
        assert!(feed(&mut folds, &debug, 0).0);
    }
}

proptest! {
    #[test]
    fn nothing_is_uncounted_and_memory_is_bounded(steps in proptest::collection::vec((0..40u8, 0..400u64, 0..3_000u64), 1..600)) {
        let mut folds = Folds::new(FIRST_WINDOW_MS);
        let (mut now, mut told) = (0, 0);
        for (project, detail, pause) in &steps {
            now += pause;
            let (written, counts) = feed(&mut folds, &fact(&project.to_string(), "x", *detail), now);
            told += u64::from(written) + counts.iter().sum::<u64>();
            prop_assert!(folds.windows.len() <= MOST && folds.sites.len() <= MOST);
        }
        told += folds.drain(now).iter().map(|due| due.repeated.map_or(1, |repeated| repeated.count)).sum::<u64>();
        prop_assert_eq!(told, steps.len() as u64);
    }
}
