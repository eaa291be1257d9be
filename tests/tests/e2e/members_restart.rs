//! Members over the end of a daemon, at every point of a packet's way, and disks that refuse its record (D22, D23, D70).

use std::fs;
use std::os::unix::fs::symlink;

use handoffd_tests::mount::Mount;
use handoffd_tests::session::Dispatch;
use handoffd_tests::{Attach, Known, Manner, Session, wait};
use serde_json::Value;

use crate::members::{PLANNED, Stage, came, done, stage};

/// Ends the daemon in this moment and starts the next.
fn restarted(stage: &mut Stage, session: &Session) {
    stage.daemon.signal(nix::sys::signal::Signal::SIGKILL);
    stage.daemon.wait();
    session.peer.wait_closed();
    stage.daemon = stage.world.start();
    stage.control = stage.daemon.control();
}

/// The same session comes back, and knows this.
fn back(stage: &Stage, session: &Session, known: Known, idle: bool) -> Session {
    let how = Attach { idle, ..Attach::again(session.id(), known).member("exec") };
    session.reattach(stage.daemon.socket(), &how).unwrap()
}

fn delivered(dispatch: &Dispatch) -> Known {
    Known::Delivered(dispatch.id.clone())
}

fn states(stage: &Stage) -> Vec<Value> {
    stage.team.delivered("T-1", 1).into_iter().map(|row| row["state"].clone()).collect()
}

#[test]
fn a_packet_that_was_filed_while_no_daemon_ran_comes_to_who_attaches() {
    let mut stage = stage();
    let session = stage.executor("s-1");
    stage.daemon.signal(nix::sys::signal::Signal::SIGKILL);
    stage.daemon.wait();
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    stage.daemon = stage.world.start();
    let back = back(&stage, &session, Known::Nothing, true);
    assert_eq!(back.ownership(), "member");
    done(&back, "a");
}

#[test]
fn d23_an_accepted_packet_goes_on_in_its_session_and_is_not_sent_again() {
    let mut stage = stage();
    let session = stage.executor("s-1");
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    let dispatch = session.wait_dispatch("a");
    wait::until_true("the acceptance is on record", || states(&stage) == ["claimed", "accepted"]);
    restarted(&mut stage, &session);
    let back = back(&stage, &session, delivered(&dispatch), false);
    assert_eq!(back.attached["task"]["dispatch_id"], dispatch.id.as_str());
    assert_eq!((&back.attached["task"]["task_id"], back.ownership()), (&"T-1".into(), "member"));
    stage.team.file("T-1", 1, PLANNED, 1, "b");
    back.settled(&dispatch);
    done(&back, "b");
    assert_eq!(came(&session), ["a", "b"]);
}

#[test]
fn d23_what_the_session_knows_decides_about_an_unconfirmed_packet() {
    for (known, times, outcome) in [
        (None, 1, "settled"),
        (Some(Known::Nothing), 2, "settled"),
        (Some(Known::LeftOut), 1, "The session cannot say whether it got the packet."),
    ] {
        let mut stage = stage();
        let session = stage.executor("s-1");
        session.set_manner(Manner::Silent);
        stage.team.file("T-1", 1, PLANNED, 0, "a");
        stage.team.file("T-1", 1, PLANNED, 1, "b");
        let dispatch = session.wait_dispatch("a");
        restarted(&mut stage, &session);
        session.set_manner(Manner::Accept);
        let back = back(&stage, &session, known.clone().unwrap_or_else(|| delivered(&dispatch)), true);
        if times == 2 {
            let again = back.wait_nth_dispatch("a", 2);
            assert_eq!(again.id, dispatch.id);
            back.settled(&again);
        }
        done(&back, "b");
        assert_eq!(session.count("a"), times, "{known:?}");
        let ended = stage.team.delivered("T-1", 1).into_iter().find(|row| row["state"] == "ended").unwrap();
        assert_eq!(ended["reason"].as_str().unwrap_or("settled"), outcome);
    }
}

#[test]
fn d69_a_refused_packet_survives_the_daemon_and_keeps_its_id() {
    let mut stage = stage();
    let session = stage.executor("s-1");
    session.set_manner(Manner::Busy);
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    let dispatch = session.wait_dispatch("a");
    wait::until_true("refused", || stage.member()["packet"]["delivery"] == "refused");
    restarted(&mut stage, &session);
    session.set_manner(Manner::Accept);
    let back = back(&stage, &session, Known::Undelivered(dispatch.id.clone()), true);
    let again = back.wait_nth_dispatch("a", 2);
    assert_eq!(again.id, dispatch.id);
    back.settled(&again);
}

#[test]
fn an_ended_packet_stays_ended_and_its_end_is_told() {
    let mut stage = stage();
    let session = stage.executor("s-1");
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    let dispatch = done(&session, "a");
    wait::until_true("its end is on record", || states(&stage).last() == Some(&"ended".into()));
    restarted(&mut stage, &session);
    let back = back(&stage, &session, delivered(&dispatch), true);
    assert_eq!(back.attached["task"], Value::Null);
    assert_eq!(back.attached["ended"]["status"], "COMPLETE");
    stage.team.file("T-1", 1, PLANNED, 1, "b");
    done(&back, "b");
    assert_eq!(came(&session), ["a", "b"]);
}

#[test]
fn d22_a_session_that_died_with_its_daemon_makes_room_and_its_packet_is_not_repeated() {
    let mut stage = stage();
    let session = stage.executor("s-1");
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    stage.team.file("T-1", 1, PLANNED, 1, "b");
    session.wait_dispatch("a");
    wait::until_true("the acceptance is on record", || states(&stage) == ["claimed", "accepted"]);
    restarted(&mut stage, &session);
    session.process.kill();
    let next = stage.attach(&Attach::idle("s-2").member("exec"));
    done(&next, "b");
    assert_eq!(came(&next), ["b"]);
}

#[test]
fn a_daemon_that_stops_in_order_leaves_a_packet_at_work_to_the_next() {
    let mut stage = stage();
    let session = stage.executor("s-1");
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    let dispatch = session.wait_dispatch("a");
    session.ping();
    stage.daemon.signal(nix::sys::signal::Signal::SIGTERM);
    assert!(stage.daemon.wait().success());
    stage.daemon = stage.world.start();
    let back = back(&stage, &session, delivered(&dispatch), true);
    stage.team.file("T-1", 1, PLANNED, 1, "b");
    done(&back, "b");
    assert_eq!(came(&session), ["a", "b"]);
}

#[test]
fn torn_and_foreign_lines_of_the_record_stop_nothing() {
    let stage = stage();
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    let record = stage.team.round("T-1", 1).join(".delivered.jsonl");
    fs::write(&record, "{\"other\":\"tool\"}\nhalf a li").unwrap();
    let session = stage.executor("s-1");
    done(&session, "a");
    wait::until_true("its end is on record", || states(&stage).last() == Some(&"ended".into()));
    assert!(fs::read_to_string(&record).unwrap().starts_with("{\"other\":\"tool\"}\n"));
}

#[test]
fn a_record_that_cannot_be_read_stops_who_takes_part_in_its_round_and_nobody_else() {
    let stage = stage();
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    stage.team.file("T-1", 2, PLANNED, 0, "b");
    stage.team.file("T-1", 2, PLANNED, 1, "c");
    let record = stage.team.round("T-1", 1).join(".delivered.jsonl");
    symlink("/etc/hostname", &record).unwrap();
    let session = stage.executor("s-1");
    wait::until_true("it says why", || {
        stage.member()["why"].as_str().is_some_and(|why| why.contains("what was delivered"))
    });
    stage.team.member("second", "executor", "T-1", 2);
    let second = stage.attach(&Attach::idle("s-2").member("second"));
    done(&second, "b");
    second.wait_dispatch("c");
    assert_eq!(came(&session).len(), 0, "nobody knows what was delivered");
    fs::remove_file(&record).unwrap();
    done(&session, "a");
    assert_eq!((came(&session), came(&second)), (vec!["a".to_owned()], vec!["b".to_owned(), "c".to_owned()]));
}

#[test]
fn d70_nothing_is_sent_while_the_disk_under_the_record_is_full() {
    if !Mount::possible() {
        return;
    }
    let stage = stage();
    fs::create_dir_all(stage.team.home().join("team_packets")).unwrap();
    let mount = Mount::tmpfs(&stage.team.home().join("team_packets"), 256).unwrap();
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    let ballast = stage.team.home().join("team_packets/ballast");
    let mut size = 256 * 1024;
    while size > 0 && fs::write(&ballast, vec![0; size]).is_err() {
        size -= 4096;
    }
    let session = stage.executor("s-1");
    wait::until_true("it says why", || {
        stage.member()["why"].as_str().is_some_and(|why| why.contains("cannot be written"))
    });
    assert_eq!(came(&session).len(), 0);
    fs::remove_file(ballast).unwrap();
    done(&session, "a");
    wait::until_true("its end is on record", || states(&stage).last() == Some(&"ended".into()));
    drop(stage.daemon);
    drop(mount);
}
