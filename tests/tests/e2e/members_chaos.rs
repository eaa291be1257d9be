//! Exactly once: a daemon that is killed at any moment, connections that end, and a session that keeps its records (D23, D81).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use handoffd_tests::{Attach, Known, Session, wait};
use serde_json::json;

use crate::members::{PLANNED, Stage, stage};
use crate::support::slow;

/// Attaches the session again as soon as there is a daemon, with the record it has.
fn come_back(stage: &Stage, session: &Session) -> Session {
    let last = session.dispatches().last().map(|dispatch| dispatch.id.clone());
    let how = Attach { idle: true, ..Attach::again(session.id(), last.map_or(Known::Nothing, Known::Delivered)) };
    let how = how.member("exec");
    wait::until("the session is back", || session.try_reattach(stage.daemon.socket(), &how))
}

/// Works for so long: each packet's turn settles at once.
fn work(session: &Session, span: Duration) {
    let until = Instant::now() + span;
    let mut settled = 0;
    while Instant::now() < until && !session.peer.is_closed() {
        let all = session.dispatches();
        for dispatch in &all[settled..] {
            session.settled(dispatch);
        }
        settled = all.len();
        std::thread::yield_now();
    }
}

#[test]
fn packets_come_exactly_once_whenever_the_daemon_is_killed() {
    let (rounds, seed) = (if slow() { 60 } else { 8 }, fastrand::u64(..));
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut stage = stage();
    let mut session = stage.executor("s-1");
    let mut filed = Vec::new();
    for round in 1..=rounds {
        for slot in 0..rng.u32(1..6) {
            let id = format!("p{round}-{slot}");
            stage.team.file("T-1", round, PLANNED, slot, &id);
            filed.push(id);
        }
        work(&session, Duration::from_millis(rng.u64(1..120)));
        match rng.u8(0..3) {
            0 => session.hang_up(),
            _ => {
                stage.daemon.signal(nix::sys::signal::Signal::SIGKILL);
                stage.daemon.wait();
                session.peer.wait_closed();
                stage.daemon = stage.world.start();
            }
        }
        session = come_back(&stage, &session);
    }
    let seen = || -> BTreeMap<String, Vec<String>> {
        let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for dispatch in session.dispatches() {
            let ids = seen.entry(dispatch.task_id).or_default();
            if !ids.contains(&dispatch.id) {
                ids.push(dispatch.id);
            }
        }
        seen
    };
    wait::until_true("all have come", || {
        work(&session, Duration::from_millis(20));
        seen().len() == filed.len()
    });
    let twice: Vec<_> = seen().into_iter().filter(|(_, ids)| ids.len() > 1).collect();
    assert!(twice.is_empty(), "seed {seed}: delivered under two ids: {twice:?}");
    let order: Vec<String> = session.dispatches().into_iter().map(|dispatch| dispatch.task_id).collect();
    let mut once = order.clone();
    once.dedup();
    let expected: Vec<_> = filed.iter().filter(|id| once.contains(id)).cloned().collect();
    assert_eq!((once, json!(expected.len())), (expected, json!(filed.len())), "seed {seed}");
}
