//! Awake time (D21) as properties: it never runs back, never faster than the clock, and every long step is a gap.

use lifecycle::{Awake, AwakeClock};
use proptest::prelude::*;

proptest! {
    #[test]
    fn awake_time_never_runs_back_nor_ahead(start in 0..u64::MAX / 2, steps in prop::collection::vec(0..200_000_u64, 0..50)) {
        let mut clock = AwakeClock::start(start);
        let (mut mono, mut last) = (start, clock.read(start).0);
        for step in steps {
            mono += step;
            let (awake, gap) = clock.read(mono);
            let passed = awake.0 - last.0;
            let expected = if step > AwakeClock::GAP_MS { (0, Some(step)) } else { (step, None) };
            prop_assert_eq!((passed, gap), expected);
            last = awake;
        }
    }

    #[test]
    fn a_clock_that_steps_back_stands_still(readings in prop::collection::vec(0..1_000_000_u64, 1..50)) {
        let mut clock = AwakeClock::start(500_000);
        let mut last = Awake(0);
        for reading in readings {
            let (awake, _) = clock.read(reading);
            prop_assert!(awake >= last);
            last = awake;
        }
    }
}
