//! Sessions that attach as team members: which packets they get, in which order, and what is told of it (D20, D69, D74).

use std::fs;

use handoffd_tests::session::Dispatch;
use handoffd_tests::{Attach, Control, Daemon, Manner, Project, Session, Task, Team, World, report, wait, world};
use serde_json::{Value, json};

pub(crate) const PLANNED: &str = "planner-to-executor";

/// A daemon, a project, the team's home with the executor `exec` of goal `T-1`.
pub(crate) struct Stage {
    pub(crate) team: Team,
    pub(crate) control: Control,
    pub(crate) daemon: Daemon,
    pub(crate) project: Project,
    pub(crate) world: World,
}

pub(crate) fn stage() -> Stage {
    let world = world!();
    world.settings("team.language = \"en\"\n");
    let project = world.project("app");
    let team = Team::of(&world);
    team.member("exec", "executor", "T-1", 0);
    let daemon = world.start();
    let control = daemon.control();
    Stage { team, control, daemon, project, world }
}

impl Stage {
    pub(crate) fn attach(&self, how: &Attach) -> Session {
        self.daemon.attach(&self.world.process(), &self.project, how)
    }

    pub(crate) fn executor(&self, id: &str) -> Session {
        let session = self.attach(&Attach::idle(id).member("exec"));
        assert_eq!(session.ownership(), "member");
        session
    }

    /// The only member of the project, as `status` shows it.
    pub(crate) fn member(&self) -> Value {
        self.control.project(&self.project)["members"][0].clone()
    }
}

/// What came, in order.
pub(crate) fn came(session: &Session) -> Vec<String> {
    session.dispatches().into_iter().map(|dispatch| dispatch.task_id).collect()
}

/// Waits for this packet and ends its turn.
pub(crate) fn done(session: &Session, id: &str) -> Dispatch {
    let dispatch = session.wait_dispatch(id);
    session.settled(&dispatch);
    dispatch
}

#[test]
fn packets_come_in_order_one_at_a_time_and_each_once() {
    let stage = stage();
    let team = &stage.team;
    team.file("T-1", 2, PLANNED, 0, "late");
    team.file("T-1", 1, "verifier-to-executor", 0, "repair");
    team.file("T-1", 1, "executor-to-verifier", 0, "not-mine");
    team.file("T-1", 1, PLANNED, 1, "b");
    team.file("T-1", 1, PLANNED, 0, "a");
    team.file("T-2", 1, PLANNED, 0, "other-goal");
    let session = stage.executor("s-1");
    for (at, id) in ["a", "b", "repair", "late"].into_iter().enumerate() {
        let dispatch = session.wait_dispatch(id);
        session.ping();
        assert_eq!(came(&session).len(), at + 1, "one at a time");
        let packet = &dispatch.params["packet"];
        assert_eq!(packet["objective"], format!("objective of {id}"));
        assert!(dispatch.params["message"].as_str().unwrap().contains(&format!("objective of {id}")));
        assert!(dispatch.params["expires_at"].is_string());
        let path = dispatch.params["packet_path"].as_str().unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap()["packet_id"], id);
        session.settled(&dispatch);
    }
    // What is filed again under its old id is the same packet.
    team.file("T-1", 1, PLANNED, 0, "a");
    team.file("T-1", 2, PLANNED, 1, "last");
    done(&session, "last");
    assert_eq!(came(&session), ["a", "b", "repair", "late", "last"]);
    let rows = team.delivered("T-1", 1);
    let states: Vec<_> = rows.iter().map(|row| row["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["claimed", "accepted", "ended"].repeat(3));
}

#[test]
fn a_busy_session_is_waited_for_and_a_verifier_gets_products() {
    let stage = stage();
    stage.team.member("eph-check", "verifier", "T-1", 3);
    stage.team.file("T-1", 3, "executor-to-verifier", 0, "product");
    stage.team.file("T-1", 2, "executor-to-verifier", 0, "of-another-round");
    let session = stage.attach(&Attach::busy("s-1").member("eph-check"));
    wait::until_true("it waits", || stage.member()["waiting"] == 1);
    assert_eq!((came(&session).len(), &stage.member()["why"]), (0, &json!("its session is busy")));
    session.state("idle");
    let dispatch = session.wait_dispatch("product");
    session.ping();
    let shown = stage.member();
    assert_eq!((&shown["role"], &shown["goal"], &shown["round"]), (&json!("verifier"), &json!("T-1"), &json!(3)));
    assert_eq!((&shown["packet"]["packet_id"], &shown["packet"]["delivery"]), (&json!("product"), &json!("accepted")));
    assert_eq!(shown["packet"]["dispatch_id"], dispatch.id.as_str());
    session.settled(&dispatch);
    wait::until_true("it is over", || stage.member()["packet"].is_null());
    assert_eq!(came(&session), ["product"]);
}

#[test]
fn a_packet_filed_later_comes_at_once_also_for_a_goal_without_packets() {
    let stage = stage();
    let session = stage.executor("s-1");
    session.ping();
    stage.team.file("T-1", 1, PLANNED, 0, "first");
    done(&session, "first");
    stage.team.file("T-1", 1, PLANNED, 1, "second");
    done(&session, "second");
    stage.team.file("T-1", 7, PLANNED, 0, "third");
    done(&session, "third");
}

#[test]
fn without_file_events_the_sweep_finds_packets() {
    let world = world!();
    world.settings("watch.mode = \"poll\"\n");
    let project = world.project("app");
    let team = Team::of(&world);
    team.member("exec", "executor", "T-1", 0);
    let daemon = world.start();
    let session = daemon.attach(&world.process(), &project, &Attach::idle("s-1").member("exec"));
    for id in ["a", "b"] {
        team.file("T-1", 1, PLANNED, u32::from(id == "b"), id);
        done(&session, id);
    }
    // Also one that is written over in place, which no folder tells of.
    team.put(&team.slot("T-1", 1, PLANNED, 2), "{");
    wait::until_true("it is passed over", || team.ledger("security_audit.jsonl").len() == 1);
    let good = fs::read_to_string(team.slot("T-1", 1, PLANNED, 1)).unwrap().replace("\"b\"", "\"c\"");
    fs::write(team.slot("T-1", 1, PLANNED, 2), good).unwrap();
    done(&session, "c");
}

#[test]
fn files_that_are_no_packets_are_told_of_once_and_passed_over() {
    let stage = stage();
    let team = &stage.team;
    team.put(&team.slot("T-1", 1, PLANNED, 0), "{\"packet_id\":\"x\"");
    fs::create_dir(team.slot("T-1", 1, PLANNED, 1)).unwrap();
    team.file("T-1", 1, PLANNED, 2, "good");
    team.file("T-1", 1, PLANNED, 4, "behind-a-gap");
    let session = stage.executor("s-1");
    done(&session, "good");
    let audit = || -> Vec<String> {
        let rows = team.ledger("security_audit.jsonl");
        rows.iter().map(|row| row["details"]["error_type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(audit(), ["unparseable", "not_a_regular_file"]);
    // More looks, by this daemon and the next, tell nothing new.
    team.file("T-1", 2, PLANNED, 0, "more");
    done(&session, "more");
    drop(stage.daemon);
    let daemon = stage.world.start();
    let back = session.reattach(daemon.socket(), &Attach::idle("s-1").member("exec")).unwrap();
    team.file("T-1", 2, PLANNED, 1, "again");
    done(&back, "again");
    assert_eq!(audit().len(), 2);
    assert_eq!(came(&session), ["good", "more", "again"]);
}

#[test]
fn d69_refused_packets_are_sent_again_at_idle_with_the_same_id() {
    let stage = stage();
    let session = stage.executor("s-1");
    session.set_manner(Manner::Busy);
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    let first = session.wait_dispatch("a");
    wait::until_true("refused", || stage.member()["packet"]["delivery"] == "refused");
    session.set_manner(Manner::Accept);
    session.state("idle");
    let second = session.wait_nth_dispatch("a", 2);
    assert_eq!(first.id, second.id);
    session.settled(&second);
    wait::until_true("it is over", || stage.member()["packet"].is_null());
}

#[test]
fn d69_a_session_that_takes_nothing_is_asked_no_more_and_another_gets_the_packet() {
    let stage = stage();
    let session = stage.executor("s-1");
    session.set_manner(Manner::Busy);
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    for nth in 1..=10 {
        session.wait_nth_dispatch("a", nth);
        session.ping();
        session.state("idle");
    }
    wait::until_true("it is asked no more", || {
        stage.member()["why"].as_str().is_some_and(|why| why.contains("took none"))
    });
    assert_eq!(session.count("a"), 10);
    let states = stage.team.delivered("T-1", 1).iter().map(|row| row["state"].clone()).collect::<Vec<_>>();
    assert_eq!(states, ["claimed", "released"]);
    stage.team.member("exec-2", "executor", "T-1", 0);
    let other = stage.attach(&Attach::idle("s-2").member("exec-2"));
    done(&other, "a");
}

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
fn a_paused_project_sends_no_packets() {
    let stage = stage();
    let session = stage.executor("s-1");
    stage.control.ask("project.pause", &stage.project, json!({})).unwrap();
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    wait::until_true("it waits", || stage.member()["why"] == "its project is paused");
    assert_eq!(came(&session).len(), 0);
    stage.control.ask("project.resume", &stage.project, json!({})).unwrap();
    done(&session, "a");
}

#[test]
fn journal_and_events_carry_packets() {
    let stage = stage();
    let watcher = stage.daemon.control();
    watcher.call("events.subscribe", json!({})).unwrap();
    let session = stage.executor("s-1");
    session.set_manner(Manner::Busy);
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    session.wait_dispatch("a");
    session.ping();
    session.set_manner(Manner::Accept);
    session.state("idle");
    let dispatch = session.wait_nth_dispatch("a", 2);
    session.run_started(&dispatch, json!({"run_id": "r-1", "agent": "builder", "state": "running"}));
    session.settled(&dispatch);
    let of_packet = |rows: Vec<Value>| -> Vec<Value> {
        rows.into_iter().filter(|row| row["kind"] == "packet").map(|row| row["change"].clone()).collect()
    };
    let expected = ["sent", "refused", "sent", "accepted", "ended"];
    wait::until_true("the stream has it", || {
        of_packet(watcher.peer.told("event").into_iter().map(|event| event.params).collect()) == expected
    });
    let rows = || {
        let asked = json!({"task_id": "T-1"});
        let answer = stage.control.call("history.list", asked).unwrap();
        answer["rows"].as_array().unwrap().iter().rev().cloned().collect::<Vec<_>>()
    };
    wait::until_true("the journal has it", || of_packet(rows()) == expected);
    let first = rows().into_iter().find(|row| row["kind"] == "packet").unwrap();
    assert_eq!((&first["agent_id"], &first["packet_id"]), (&json!("exec"), &json!("a")));
    assert_eq!(first["project"], stage.project.root().to_str().unwrap());
    assert!(rows().iter().any(|row| row["kind"] == "run" && row["run"]["run_id"] == "r-1"));
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
