//! Sessions that attach as team members: which packets they get, in which order, and what is told of it (D20, D69, D74).

use std::fs;

use handoffd_tests::session::Dispatch;
use handoffd_tests::{Attach, Control, Daemon, Manner, Project, Session, Team, World, wait, world};
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
    let said = stage.world.handoff_in(stage.project.root(), &["status"]);
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("member eph-check (verifier of T-1 r3): it is at work on packet product"), "{said}");
    let path = dispatch.params["packet_path"].as_str().unwrap();
    let read = stage.world.handoff_in(stage.project.root(), &["packet", "show", path]);
    assert_eq!(String::from_utf8(read.stdout).unwrap(), dispatch.params["message"].as_str().unwrap());
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
    wait::until_true("its end is on record", || team.delivered("T-1", 2).iter().any(|row| row["state"] == "ended"));
    drop(stage.daemon);
    let daemon = stage.world.start();
    let back = session.reattach(daemon.socket(), &Attach::idle("s-1").member("exec")).unwrap();
    team.file("T-1", 2, PLANNED, 1, "again");
    done(&back, "again");
    assert_eq!(audit().len(), 2);
    assert_eq!(came(&session), ["good", "more", "again"]);
}

#[test]
fn a_leg_without_a_valid_packet_fails_its_stage_until_there_is_one() {
    let stage = stage();
    let team = &stage.team;
    team.put(&team.slot("T-1", 1, PLANNED, 0), "{");
    let session = stage.executor("s-1");
    wait::until_true("it is told", || team.ledger("security_audit.jsonl").len() == 3);
    let rows = team.ledger("security_audit.jsonl");
    assert_eq!(rows[2]["event_type"], "team_stage_failed");
    assert_eq!(
        rows[2]["details"],
        json!({"task_id": "T-1", "round": 1, "stage": "planner", "error_type": "planner_no_packets"})
    );
    team.file("T-1", 1, PLANNED, 1, "a");
    done(&session, "a");
    assert_eq!(team.ledger("security_audit.jsonl").len(), 3, "it is told once");
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
    let states = || stage.team.delivered("T-1", 1).iter().map(|row| row["state"].clone()).collect::<Vec<_>>();
    wait::until_true("the claim is taken back", || states().len() > 1);
    assert_eq!(states(), ["claimed", "released"]);
    stage.team.member("exec-2", "executor", "T-1", 0);
    let other = stage.attach(&Attach::idle("s-2").member("exec-2"));
    done(&other, "a");
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
