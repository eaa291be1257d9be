//! Member records: made, listed, used at the door, removed.

use packet::Role;
use serde_json::json;
use team::members::{MemberError, NewMember, add, list, remove};
use team::{Code, Door};

use crate::support::{World, arguments, call, filed, now};

fn new(role: Role) -> NewMember<'static> {
    NewMember { role, goal: "goal-7", round: 2, parent: "agnes" }
}

#[test]
fn a_new_member_can_file_at_once_and_only_as_itself() {
    let world = World::new();
    let id = add(&world.home(), &new(Role::Executor)).unwrap();
    assert!(id.starts_with("eph-agnes-r2-executor-") && team::is_path_part(&id), "{id}");
    let record = format!("agents/.ephemeral/{id}/agent.toml");
    assert_eq!((world.mode(&record), world.mode("agents/.ephemeral")), (0o600, 0o700));
    let door = Door::new(world.home(), &*id);
    let done = filed(door.handoff(&call("pk"), now()));
    assert_eq!(done.path, "team_packets/goal-7/r2/executor-to-verifier.json");
    let packet = json!({"packet_id": "pk", "goal_id": "other", "objective": "o", "output_format": "diff"});
    assert_eq!(door.handoff(&arguments(&packet), now()).unwrap_err().code, Code::TaskIdMismatch);
}

#[test]
fn ids_are_bounded_and_differ() {
    let world = World::new();
    let goal = "g".repeat(64);
    let parent = "p".repeat(64);
    let new = NewMember { role: Role::Executor, goal: &goal, round: 10_000, parent: &parent };
    let ids: std::collections::BTreeSet<String> = (0..20).map(|_| add(&world.home(), &new).unwrap()).collect();
    assert_eq!(ids.len(), 20);
    assert!(ids.iter().all(|id| team::is_path_part(id)), "{ids:?}");
}

#[test]
fn what_has_no_place_gets_no_record() {
    let world = World::new();
    for (goal, round, parent) in [("a/b", 1, "p"), ("", 1, "p"), ("g", 10_001, "p"), ("g", 1, "p\"\nrole = 1")] {
        let new = NewMember { role: Role::Planner, goal, round, parent };
        assert!(add(&world.home(), &new).is_err(), "{goal} {round} {parent}");
    }
    assert!(!world.path("").exists());
}

#[test]
fn the_list_has_members_and_broken_records_and_nobody_else() {
    let world = World::new();
    world.write("agents/boss/agent.toml", "[agent]\nrole = \"main\"");
    world.write("agents/lasting/agent.toml", "[agent]\nrole = \"verifier\"");
    world.write("agents/odd/agent.toml", "team_member = 1");
    world.write("agents/.ephemeral/eph-empty/notes", "");
    let id = add(&world.home(), &new(Role::Planner)).unwrap();
    let listed = list(&world.home()).unwrap();
    let shown: Vec<(&str, bool, bool)> =
        listed.iter().map(|one| (one.id.as_str(), one.ephemeral, one.member.is_ok())).collect();
    assert_eq!(
        shown,
        [(id.as_str(), true, true), ("eph-empty", true, false), ("lasting", false, true), ("odd", false, false)]
    );
    assert_eq!(list(&World::new().home()).unwrap(), []);
}

#[test]
fn removing_takes_the_record_and_never_more() {
    let world = World::new();
    let home = world.home();
    let id = add(&home, &new(Role::Planner)).unwrap();
    let door = Door::new(home.clone(), &*id);
    let done = filed(door.handoff(&call("pk"), now()));
    world.write(&format!("agents/.ephemeral/{id}/state/notes"), "x");
    assert!(matches!(remove(&home, &id), Err(MemberError::NotOurs { name, .. }) if name == "state"));
    assert!(world.path(&format!("agents/.ephemeral/{id}/agent.toml")).exists());
    std::fs::remove_dir_all(world.path(&format!("agents/.ephemeral/{id}/state"))).unwrap();
    remove(&home, &id).unwrap();
    assert!(!world.path(&format!("agents/.ephemeral/{id}")).exists());
    assert!(world.path(&done.path).exists(), "its packets stay");
    assert_eq!(door.handoff(&call("pk"), now()).unwrap_err().code, Code::NotATeamMember);
    world.write("agents/lasting/agent.toml", "[agent]\nrole = \"verifier\"");
    for stranger in [id.as_str(), "lasting", "eph-", "eph-nobody"] {
        assert!(matches!(remove(&home, stranger), Err(MemberError::Unknown(_))), "{stranger}");
    }
    assert!(matches!(remove(&home, "../lasting"), Err(MemberError::NoId(_))));
    assert!(world.path("agents/lasting/agent.toml").exists());
}
