//! Who has a member's place, who shares its packets, and who is no member (D20, D33, D81).

use std::fs;

use handoffd_tests::{Attach, Session, Task, report, wait, world};
use serde_json::{Value, json};

use crate::members::{PLANNED, came, done, stage};
use crate::resources::{descriptors, watches};

#[test]
fn members_of_one_role_share_its_packets() {
    let stage = stage();
    stage.team.member("exec-2", "executor", "T-1", 0);
    let (one, two) = (stage.executor("s-1"), stage.attach(&Attach::idle("s-2").member("exec-2")));
    for (slot, id) in [(0, "a"), (1, "b"), (2, "c"), (3, "d")] {
        stage.team.file("T-1", 1, PLANNED, slot, id);
    }
    let all = || {
        let mut all = [came(&one), came(&two)].concat();
        all.sort();
        all
    };
    for (at, (session, other)) in [(&one, &two), (&two, &one), (&one, &two), (&two, &one)].into_iter().enumerate() {
        wait::until_true("somebody is at work", || all().len() > at);
        for session in [session, other] {
            if let Some(dispatch) = session.dispatches().last() {
                session.settled(dispatch);
            }
        }
    }
    wait::until_true("all came", || all().len() == 4);
    assert_eq!(all(), ["a", "b", "c", "d"]);
    assert!(!came(&one).is_empty() && !came(&two).is_empty());
}

#[test]
fn d20_a_second_session_of_a_member_stands_by_and_is_told_why() {
    let stage = stage();
    let first = stage.executor("s-1");
    let second = stage.attach(&Attach::idle("s-2").member("exec"));
    assert_eq!(second.ownership(), "standby");
    let told = wait::until("it is told why", || second.peer.told("session.notice").first().cloned());
    assert!(told.params["text"].as_str().unwrap().contains("s-1"), "{told:?}");
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    let dispatch = first.wait_dispatch("a");
    assert_eq!((stage.member()["standby"].clone(), came(&second).len()), (json!(1), 0));
    first.settled(&dispatch);
    first.leave("quit");
    let change = wait::until("it is next", || second.peer.told("session.ownership").first().cloned());
    assert_eq!(change.params["ownership"], "member");
    stage.team.file("T-1", 1, PLANNED, 1, "b");
    done(&second, "b");
    assert_eq!(came(&first), ["a"]);
}

#[test]
fn a_killed_session_ends_its_packet_which_is_never_given_to_another() {
    let stage = stage();
    let session = stage.executor("s-1");
    for (slot, id) in [(0, "a"), (1, "b")] {
        stage.team.file("T-1", 1, PLANNED, slot, id);
    }
    session.wait_dispatch("a");
    session.ping();
    let next = stage.attach(&Attach::idle("s-2").member("exec"));
    session.process.kill();
    done(&next, "b");
    assert_eq!(came(&next), ["b"]);
    let ended = stage.team.delivered("T-1", 1).into_iter().find(|row| row["state"] == "ended").unwrap();
    assert_eq!(ended["reason"], "The session's process ended before its turn did.");
}

#[test]
fn members_get_no_tasks_and_take_no_owners_place() {
    let stage = stage();
    let member = stage.executor("s-1");
    stage.project.plan(&Task::new("t-1"));
    stage.control.wait_state(&stage.project, "waiting", "no_session");
    let owner = stage.attach(&Attach::idle("s-2"));
    assert_eq!(owner.ownership(), "owner");
    let dispatch = owner.wait_dispatch("t-1");
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    let packet = member.wait_dispatch("a");
    let refused = member.report(&packet, report::complete()).unwrap_err();
    assert_eq!(refused.name(), "no_such_dispatch");
    owner.finish(&dispatch, report::complete());
    member.settled(&packet);
    assert_eq!((came(&member), came(&owner)), (vec!["a".to_owned()], vec!["t-1".to_owned()]));
}

#[test]
fn who_is_no_member_is_refused_and_may_try_again() {
    let stage = stage();
    stage.team.member("nowhere", "executor", "../x", 0);
    fs::create_dir_all(stage.team.home().join("agents/old")).unwrap();
    fs::write(stage.team.record("old"), "[agent]\nrole = \"executor\"\n").unwrap();
    let process = stage.world.process();
    let attach = |agent: &str| {
        let how = Attach::idle("s-1").member(agent);
        Session::attach(&process, stage.daemon.socket(), stage.project.root(), &how)
    };
    for (agent, expected) in [
        ("missing", "handoff team add"),
        ("../exec", "an agent's id is"),
        ("nowhere", "no packet has"),
        ("old", "names no goal"),
    ] {
        let refused = attach(agent).err().unwrap();
        assert_eq!(refused.name(), "not_a_team_member", "{agent}");
        assert!(refused.message.contains(expected), "{agent}: {}", refused.message);
    }
    let connected = attach("exec").unwrap();
    let again = connected.peer.call("session.attach", json!({})).unwrap_err();
    assert_eq!(again.code, -32602);
}

#[test]
fn a_member_whose_record_goes_gets_nothing_until_it_is_back() {
    let stage = stage();
    let session = stage.executor("s-1");
    let record = fs::read(stage.team.record("exec")).unwrap();
    fs::remove_file(stage.team.record("exec")).unwrap();
    let change = wait::until("it is told", || session.peer.told("session.ownership").first().cloned());
    assert_eq!(change.params["ownership"], "standby");
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    assert_eq!(stage.member()["role"], Value::Null);
    fs::write(stage.team.record("exec"), record).unwrap();
    done(&session, "a");
}

#[test]
fn a_disabled_project_lets_go_of_its_members() {
    let stage = stage();
    let session = stage.executor("s-1");
    stage.control.ask("project.disable", &stage.project, json!({})).unwrap();
    session.peer.wait_closed();
    let refused = session.reattach(stage.daemon.socket(), &Attach::idle("s-1").member("exec")).err().unwrap();
    assert_eq!(refused.name(), "project_disabled");
}

#[test]
fn a_session_that_detached_leaves_nothing_behind() {
    let stage = stage();
    let session = stage.executor("s-1");
    session.leave("quit");
    session.hang_up();
    wait::until_true("it is forgotten", || stage.control.project(&stage.project).get("members").is_none());
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    let span = std::time::Duration::from_millis(1_500);
    wait::stays(span, "nothing is claimed", || stage.team.delivered("T-1", 1).is_empty());
}

#[test]
fn what_a_session_says_right_behind_its_attach_is_heard_and_so_is_its_end() {
    let stage = stage();
    let processes = [stage.world.process(), stage.world.process()];
    let attach = |process: usize, session_id: &str| {
        let queue = stage.project.root().join("tasks.json");
        let peer = processes[process].connect(stage.daemon.socket(), &queue, Box::new(|_, _| ())).unwrap();
        peer.call("hello", json!({"protocol": 1, "client": {"name": "double", "version": "1"}})).unwrap();
        let params = json!({
            "session_id": session_id, "project": stage.project.root(), "mode": "tui", "reason": "startup",
            "idle": false, "host": {"name": "pi", "version": "1.6.0"}, "known_dispatch": null,
            "member": {"agent_id": "exec"}
        });
        let asked = peer.ask("session.attach", params);
        (peer, asked)
    };
    // It is gone before it is answered.
    attach(0, "s-0").0.close();
    let (peer, asked) = attach(1, "s-1");
    peer.notify("session.state", &json!({"state": "idle"}));
    peer.answer_to(asked, "session.attach").unwrap();
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    wait::until_true("a packet was sent", || stage.member()["packet"]["packet_id"] == "a");
}

#[test]
fn members_that_come_and_go_leave_nothing_behind() {
    let stage = stage();
    let come_and_go = |round| {
        stage.team.file("T-1", round, PLANNED, 0, "a");
        let session = stage.executor("s-1");
        done(&session, "a");
        session.leave("quit");
        session.hang_up();
        session.process.kill();
        wait::until_true("it is forgotten", || stage.control.project(&stage.project).get("members").is_none());
    };
    // What is opened once for all is open then.
    (1..4).for_each(come_and_go);
    let before = (descriptors(&stage.daemon), watches(&stage.daemon));
    (4..20).for_each(come_and_go);
    wait::until_true(&format!("as before: {before:?}"), || {
        descriptors(&stage.daemon) <= before.0 && watches(&stage.daemon) <= before.1
    });
}

#[test]
fn d24_a_stopped_process_is_given_nothing_until_it_goes_on() {
    let stage = stage();
    let session = stage.executor("s-1");
    session.process.stop();
    wait::until_true("it is seen", || stage.member()["session"]["idle"] == false);
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    wait::until_true("it waits", || stage.member()["why"] == "its process is stopped");
    assert!(stage.team.delivered("T-1", 1).is_empty());
    session.process.go_on();
    done(&session, "a");
}

#[test]
fn daemons_that_share_a_home_deliver_each_packet_once() {
    let (one, world) = (stage(), world!());
    world.settings(&format!("team.home = \"{}\"\n", one.team.home().display()));
    let project = world.project("other");
    let daemon = world.start();
    one.team.member("exec-2", "executor", "T-1", 0);
    let here = one.executor("s-1");
    let there = daemon.attach(&world.process(), &project, &Attach::idle("s-2").member("exec-2"));
    for slot in 0..30 {
        one.team.file("T-1", 1, PLANNED, slot, &format!("p-{slot}"));
    }
    let (mut settled, mut all) = ([0, 0], Vec::new());
    wait::until_true("all came", || {
        for (session, settled) in [&here, &there].into_iter().zip(&mut settled) {
            let dispatches = session.dispatches();
            for dispatch in &dispatches[*settled..] {
                session.settled(dispatch);
                all.push(dispatch.task_id.clone());
            }
            *settled = dispatches.len();
        }
        all.len() >= 30
    });
    all.sort();
    let mut once = all.clone();
    once.dedup();
    assert_eq!((once.len(), all.len()), (30, 30), "{all:?}");
}
