//! `daemon.reload` and the end that a client asks for (F280).

use serde_json::json;

use crate::world::{Daemon, World};

#[tokio::test]
async fn a_broken_configuration_is_refused_whole_and_the_old_one_stays() {
    let world = World::new();
    let root = world.project("shop");
    let good = format!("[[project]]\npath = '{}'\nname = 'shop'\n", root.display());
    let daemon = Daemon::start(world.startup(&good)).await;
    let mut client = daemon.client().await;
    world.write("config.toml", "[[project]]\npath = 7\nname = 'x'\n[task]\naccept_timeout = 'soon'\n");
    let answer = client.ask("daemon.reload", json!({})).await;
    let data = &answer["error"]["data"];
    assert_eq!(data["code"], "invalid_config", "{answer}");
    let problems = data["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2, "{answer}");
    assert!(problems[0]["message"].as_str().unwrap().contains("config.toml:2: `project[0].path`"), "{answer}");
    let status = client.result("daemon.status", json!({})).await;
    assert!(status["daemon"]["config"]["error"].as_str().unwrap().contains("accept_timeout"), "{status}");
    assert_eq!(status["projects"][0]["name"], "shop");

    world.write("config.toml", &good);
    client.result("daemon.reload", json!({})).await;
    let status = client.result("daemon.status", json!({})).await;
    assert!(status["daemon"]["config"]["error"].is_null());
}

#[tokio::test]
async fn projects_come_and_go_with_the_configuration() {
    let world = World::new();
    let (one, two) = (world.project("one"), world.project("two"));
    let entry = |path: &std::path::Path| format!("[[project]]\npath = '{}'\n", path.display());
    let daemon = Daemon::start(world.startup(&entry(&one))).await;
    let mut client = daemon.client().await;
    world.write("config.toml", &entry(&two));
    client.result("daemon.reload", json!({})).await;
    loop {
        let status = client.result("daemon.status", json!({})).await;
        let paths: Vec<_> = status["projects"].as_array().unwrap().iter().map(|p| p["path"].clone()).collect();
        assert!(paths.contains(&json!(two)), "{status}");
        if paths.len() == 1 {
            break;
        }
    }
    assert!(!one.join(".pi/pi-claude-handoff.lock").exists());
    daemon.stop().await;
}

#[tokio::test]
async fn what_counts_only_after_a_restart_is_told() {
    let world = World::new();
    let daemon = Daemon::start(world.startup("")).await;
    let mut client = daemon.client().await;
    world.write("config.toml", "log.keep = 3\nlgo.level = 'info'\n");
    let result = client.result("daemon.reload", json!({})).await;
    let warnings: Vec<_> = result["warnings"].as_array().unwrap().iter().filter_map(|w| w.as_str()).collect();
    assert_eq!(warnings.len(), 2, "{result}");
    assert!(warnings[0].contains("`lgo`"), "{result}");
    assert_eq!(warnings[1], "`log.keep` has changed: it counts after the next start");
}

#[tokio::test]
async fn a_client_may_stop_the_daemon_and_its_answer_comes_first() {
    let world = World::new();
    let root = world.project("shop");
    let daemon = world.daemon(&[&root]).await;
    let mut session = daemon.client().await;
    session.attach(&root).await;
    let mut client = daemon.client().await;
    client.result("daemon.shutdown", json!({})).await;
    assert!(client.is_closed().await);
    assert_eq!(daemon.ended().await.left_behind, Vec::<std::path::PathBuf>::new());
    assert!(!root.join(".pi/pi-claude-handoff.lock").exists());
    while session.line().await.is_some() {}
}
