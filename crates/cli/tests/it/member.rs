//! `handoff attach --member`: a session that gets the packets of a team member.

use serde_json::json;

use crate::daemon::{attach_as, eventually, world};
use crate::env::{Running, TestEnv, write};

/// A packet of T-1 in its place, as the door files it.
fn file_packet(world: &TestEnv, slot: &str, id: &str) {
    let packet = json!({
        "packet_id": id, "goal_id": "T-1", "round": 1, "from_role": "planner", "to_role": "executor",
        "objective": format!("objective of {id}"), "output_format": "diff",
    });
    let place = format!(".local/share/handoffd/team_packets/T-1/r1/planner-to-executor{slot}.json");
    write(&world.home().join(place), packet.to_string().as_bytes());
}

fn executor(world: &TestEnv) -> String {
    let said = world.run(&["team", "add", "executor", "--goal", "T-1", "--round", "1"]);
    assert_eq!(said.code, 0, "{said}");
    said.stdout.trim_end().to_owned()
}

#[test]
fn each_packet_is_named_when_it_starts_and_when_it_is_over() {
    let (world, _daemon) = world();
    let id = executor(&world);
    file_packet(&world, "", "pk-1");
    file_packet(&world, ".01", "pk-2");
    let session =
        attach_as(&world, &id, "cat >> messages; echo $HANDOFF_AGENT_ID >> ids; [ -e second ] && exit 7; : > second");
    let way = "of T-1 (round 1, planner → executor)";
    eventually("the first is told", || session.stderr().contains(&format!("started packet pk-1 {way}\n")));
    eventually("its end is told", || session.stderr().contains(&format!("packet pk-1 {way} is done\n")));
    let aborted = format!("exit status: 7; packet pk-2 {way} ends as aborted");
    eventually("the end of the other is told", || session.stderr().contains(&aborted));
    assert!(session.stderr().contains(&format!("gets the packets of {id}")), "{}", session.stderr());
    assert_eq!(world.read("ids"), format!("{id}\n{id}\n"));
    assert!(world.read("messages").contains("objective of pk-2"));
    let rows = || world.run(&["history", "--task", "T-1"]).stdout;
    eventually("the journal has both", || rows().matches("change: ended").count() == 2);
    assert!(rows().contains("packet_id: pk-1, change: sent"), "{}", rows());
}

#[test]
fn a_program_that_turns_out_to_be_missing_costs_one_packet() {
    let (world, _daemon) = world();
    let id = executor(&world);
    file_packet(&world, "", "pk-1");
    file_packet(&world, ".01", "pk-2");
    let mut session = attach_as(&world, &id, "no-such-agent");
    eventually("the session ends by itself", || session.ended() == Some(2));
    assert!(session.stderr().contains("pk-1") && !session.stderr().contains("pk-2"), "{}", session.stderr());
    let rows = || world.run(&["history", "--task", "T-1"]).stdout;
    eventually("the first has ended", || rows().contains("packet_id: pk-1, change: ended"));
    assert!(!rows().contains("pk-2"), "the other was not sent: {}", rows());
}

#[test]
fn a_person_is_told_what_can_be_typed() {
    let (world, _daemon) = world();
    let id = executor(&world);
    file_packet(&world, "", "pk-1");
    let mut session = world.start(&["attach", "--member", &id]);
    let choices = |session: &Running| session.stderr().matches("when it is done, type `done`").count();
    eventually("the packet is shown", || choices(&session) == 1);
    session.type_line("complete");
    eventually("it is told again", || choices(&session) == 2);
    session.type_line("done");
    eventually("it is over", || session.stderr().contains("packet pk-1 of T-1 (round 1, planner → executor) is done"));
}

#[test]
fn an_id_that_nobody_has_is_refused_before_and_by_the_daemon() {
    let (world, _daemon) = world();
    let said = world.run(&["attach", "--member", "a b", "--exec", "true"]);
    assert!(said.code == 2 && said.stderr.contains("'a b' for '--member <AGENT_ID>': an id here is 1 to 64"), "{said}");
    let said = world.run(&["attach", "--member", "eph-nobody", "--exec", "true"]);
    assert!(said.code == 4 && said.stderr.contains("`handoff team add ROLE"), "{said}");
}
