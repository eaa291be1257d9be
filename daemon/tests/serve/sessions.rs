//! What the server decides about sessions before a project's actor sees them (D20, D72).

use serde_json::{Value, json};

use crate::client::{Client, attach};
use crate::world::{World, until};

/// The parameters of an ordinary session with one member changed.
fn with(project: &std::path::Path, member: &str, value: Value) -> Value {
    let mut params = attach(project);
    params[member] = value;
    params
}

async fn state(client: &mut Client) -> Value {
    client.result("daemon.status", json!({})).await["projects"][0].take()
}

#[tokio::test]
async fn a_session_whose_folder_is_the_root_becomes_the_owner() {
    let world = World::new();
    let root = world.project("shop");
    let daemon = world.daemon(&[&root]).await;
    let mut client = daemon.client().await;
    let answer = client.attach(&root).await;
    assert_eq!(answer["result"]["ownership"], "owner", "{answer}");
    assert_eq!(answer["result"]["project"]["path"], root.to_str().unwrap());
    let shown = state(&mut client).await;
    assert_eq!(shown["session"]["session_id"], "s-1");
    assert_eq!(shown["session"]["pid"], std::process::id());
    assert_eq!(client.refusal("session.attach", attach(&root)).await, "already_attached");
    daemon.stop().await;
}

#[tokio::test]
async fn every_spelling_of_the_root_leads_to_the_project() {
    let world = World::new();
    let root = world.project("shop");
    let link = world.path("link");
    std::os::unix::fs::symlink(&root, &link).unwrap();
    let daemon = world.daemon(&[&link]).await;
    for spelled in [root.join("../shop"), root.join("."), link] {
        let answer = daemon.client().await.attach(&spelled).await;
        assert_eq!(answer["result"]["project"]["path"], root.to_str().unwrap(), "{}: {answer}", spelled.display());
    }
}

#[tokio::test]
async fn a_folder_inside_a_project_is_another_one_and_the_nearest_is_named() {
    let world = World::new();
    let root = world.project("shop");
    let inside = world.project("shop/sub");
    let daemon = world.daemon(&[&root]).await;
    let answer = daemon.client().await.attach(&inside).await;
    let expected = json!({"code": "unknown_project", "nearest": root});
    assert_eq!(answer["error"]["data"], expected, "{answer}");
    let elsewhere = daemon.client().await.attach(&world.project("other")).await;
    assert_eq!(elsewhere["error"]["data"], json!({"code": "unknown_project"}));
}

#[tokio::test]
async fn a_refused_session_is_told_when_its_folder_becomes_a_project() {
    let world = World::new();
    let root = world.project("later");
    let daemon = world.daemon(&[]).await;
    let mut session = daemon.client().await;
    assert_eq!(session.refusal("session.attach", attach(&root)).await, "unknown_project");
    let mut other = daemon.client().await;
    other.result("project.add", json!({"path": root})).await;
    assert_eq!(session.notification("session.attach_again").await, json!({"project": root}));
    assert_eq!(session.attach(&root).await["result"]["ownership"], "owner");
}

#[tokio::test]
async fn only_main_sessions_attach() {
    let world = World::new();
    let root = world.project("shop");
    let daemon = world.daemon(&[&root]).await;
    let mut client = daemon.client().await;
    assert_eq!(client.refusal("session.attach", with(&root, "mode", json!("json"))).await, "not_a_main_session");
    let nobody = with(&root, "member", json!({"agent_id": "nobody-of-a-team"}));
    assert_eq!(client.refusal("session.attach", nobody).await, "not_a_team_member");
    let relative = client.ask("session.attach", with(&root, "project", json!("shop"))).await;
    assert_eq!(relative["error"]["code"], -32602);
    assert_eq!(client.attach(&root).await["result"]["ownership"], "owner");
}

#[tokio::test]
async fn a_disabled_project_takes_no_session_until_it_is_enabled() {
    let world = World::new();
    let root = world.project("shop");
    let daemon = world.daemon(&[&root]).await;
    let mut control = daemon.client().await;
    control.result("project.disable", json!({"project": root})).await;
    let mut session = daemon.client().await;
    loop {
        // Until the lock is let go, the project is leaving and takes sessions.
        let answer = session.attach(&root).await;
        if answer["error"]["data"]["code"] == "project_disabled" {
            break;
        }
        session = daemon.client().await;
    }
    control.result("project.enable", json!({"project": root})).await;
    session.notification("session.attach_again").await;
    assert_eq!(session.attach(&root).await["result"]["ownership"], "owner");
}

#[tokio::test]
async fn a_report_without_a_session_is_refused() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    let report = |id: &str| json!({"dispatch_id": id, "report": {}});
    assert_eq!(client.refusal("task.report", report(&"0".repeat(32))).await, "not_owner");
    assert_eq!(client.refusal("task.report", report("no-id")).await, "no_such_dispatch");
}

#[tokio::test]
async fn a_session_that_is_gone_gives_its_place_up() {
    let world = World::new();
    let root = world.project("shop");
    let daemon = world.daemon(&[&root]).await;
    let mut first = daemon.client().await;
    first.attach(&root).await;
    let mut second = daemon.client().await;
    let standby = second.ask("session.attach", with(&root, "session_id", json!("s-2"))).await;
    assert!(matches!(standby["result"]["ownership"].as_str(), Some("owner" | "standby")), "{standby}");
    drop(first);
    drop(second);
    until("the socket is there", || daemon.socket().exists().then_some(())).await;
    let mut control = daemon.client().await;
    while !state(&mut control).await["session"].is_null() {
        tokio::task::yield_now().await;
    }
    daemon.stop().await;
}
