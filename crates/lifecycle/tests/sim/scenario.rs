//! Where scenarios come from: pieces of ordinary life, so that tasks really run, and single actions between them.

use super::action::{Action, Verb};

/// The scenario of a seed.
pub(crate) fn scenario(seed: u64) -> Vec<Action> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let main = rng.u8(0..3);
    let length = rng.usize(8..70);
    // Some scenarios are calm, some are wild.
    let wild = rng.u8(1..10);
    let mut all = Vec::new();
    while all.len() < length {
        if rng.u8(0..10) < wild {
            all.push(Action::random(&mut rng));
        } else {
            let session = if rng.u8(0..5) == 0 { rng.u8(0..3) } else { main };
            all.extend(piece(&mut rng, session));
        }
    }
    all
}

fn piece(rng: &mut fastrand::Rng, session: u8) -> Vec<Action> {
    let (run, how) = (rng.u8(0..2), rng.u8(2..6) & !1);
    let own = |verb, b| (verb, session, b);
    let drain = (Verb::Drain, 0, 0);
    let plan = (Verb::Plan, 0, 1);
    let notice = (Verb::Notice, 0, 0);
    let steps = match rng.u8(0..23) {
        0 => vec![own(Verb::Connect, 0), drain],
        1..=3 => vec![own(Verb::Connect, 0), drain, plan, notice, drain],
        4..=6 => vec![plan, notice, drain],
        7 => vec![own(Verb::Turn, 0), drain],
        8 => vec![own(Verb::Turn, 2), drain],
        9 | 10 => vec![own(Verb::Report, 0), drain, own(Verb::Turn, 2), drain],
        11 => vec![own(Verb::Report, 1), drain, own(Verb::Turn, 2), drain],
        12 => vec![own(Verb::Run, run), drain],
        13 => vec![own(Verb::Run, how + run), drain],
        14 => vec![own(Verb::Break, 0), drain, (Verb::Wait, rng.u8(0..3), 0), own(Verb::Connect, 0), drain],
        15 => vec![(Verb::Crash, 0, 0), own(Verb::Connect, 0), drain, own(Verb::Connect, 0), drain],
        16 => vec![(Verb::Again, 0, 1), notice, drain],
        17 => vec![(Verb::Resume, 0, 0), drain],
        18 => vec![(Verb::FailLog, 0, 0), own(Verb::Report, 0), drain, (Verb::FailLog, 1, 0)],
        // A writer that had the file open writes after RUNNING took its place.
        21 => {
            let job = (Verb::Job, 3, 0);
            vec![own(Verb::Connect, 0), drain, plan, notice, job, job, (Verb::SwapWrite, 0, 0), drain]
        }
        // The daemon dies in the middle of a claim, or of an end.
        19 => vec![plan, notice, (Verb::Job, rng.u8(0..8), 0), (Verb::Job, rng.u8(0..8), 0), (Verb::Crash, 0, 0)],
        20 => vec![
            own(Verb::Report, 0),
            own(Verb::Feed, 0),
            (Verb::Job, 3, 0),
            (Verb::Job, rng.u8(0..8), 0),
            (Verb::Crash, 0, 0),
        ],
        _ => vec![(Verb::Crash, rng.u8(1..6), 0), own(Verb::Feed, 0), (Verb::Job, 3, 0), drain],
    };
    steps.into_iter().map(|(verb, a, b)| Action { verb, a, b }).collect()
}
