//! Adding, changing and removing projects, and what of it survives a restart (D71, D77).

use std::path::Path;

use handoffd::registry::{Change, ProjectList, Registry, Selector};
use handoffd::run::{RunError, run};
use handoffd::server::socket::Listener;
use serde_json::{Value, json};

use crate::client::Client;
use crate::world::{Daemon, World};

async fn projects(client: &mut Client) -> Vec<Value> {
    match client.result("daemon.status", json!({})).await["projects"].take() {
        Value::Array(projects) => projects,
        other => panic!("{other}"),
    }
}

async fn warnings(client: &mut Client) -> String {
    client.result("daemon.status", json!({})).await["daemon"]["warnings"].to_string()
}

/// Waits until the daemon shows this many projects, all in this state.
async fn wait_for(client: &mut Client, count: usize, state: &str) {
    let wait = async {
        loop {
            let shown = projects(client).await;
            if shown.len() == count && shown.iter().all(|project| project["state"] == state) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(crate::world::SOON, wait).await.unwrap();
}

fn registered(world: &World) -> ProjectList {
    Registry::new(&world.places().state_dir).read().unwrap()
}

fn owned(world: &World) -> String {
    std::fs::read_to_string(world.places().owned_file()).unwrap_or_default()
}

fn has_lock(root: &Path) -> bool {
    root.join(".pi/pi-claude-handoff.lock").exists()
}

#[tokio::test]
async fn an_added_project_is_there_after_a_restart() {
    let world = World::new();
    let root = world.project("shop");
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    let added = client.result("project.add", json!({"path": root})).await;
    assert_eq!((&added["path"], &added["name"]), (&json!(root), &json!("shop")));
    client.result("project.add", json!({"path": root.join(".")})).await;
    assert_eq!(projects(&mut client).await.len(), 1);
    daemon.stop().await;
    let again = world.daemon(&[]).await;
    wait_for(&mut again.client().await, 1, "idle").await;
}

#[tokio::test]
async fn what_is_no_folder_cannot_be_added() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    let file = world.write("file", "");
    for path in [world.path("nothing"), file] {
        assert_eq!(client.refusal("project.add", json!({"path": path})).await, "not_a_folder");
    }
    assert_eq!(client.ask("project.add", json!({"path": "shop"})).await["error"]["code"], -32602);
    let said = client.ask("project.add", json!({"path": "/"})).await["error"].take();
    assert_eq!(
        (&said["data"]["code"], &said["message"]),
        (&json!("not_a_folder"), &json!("/ cannot be a project: every folder lies in it"))
    );
}

#[tokio::test]
async fn pause_and_disable_survive_a_restart() {
    let world = World::new();
    let root = world.project("shop");
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    client.result("project.add", json!({"path": root})).await;
    let paused = client.result("project.pause", json!({"project": "shop"})).await;
    assert_eq!(paused["name"], "shop");
    daemon.stop().await;

    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    wait_for(&mut client, 1, "paused").await;
    let resumed = client.result("project.resume", json!({"project": root})).await;
    assert_eq!(resumed["lifted"], json!(["paused"]));
    client.result("project.disable", json!({"project": root})).await;
    wait_for(&mut client, 1, "disabled").await;
    assert!(!has_lock(&root));
    daemon.stop().await;

    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    wait_for(&mut client, 1, "disabled").await;
    client.result("project.enable", json!({"project": root})).await;
    wait_for(&mut client, 1, "idle").await;
    assert!(has_lock(&root));
}

#[tokio::test]
async fn a_removed_project_lets_go_and_is_forgotten() {
    let world = World::new();
    let (active, disabled) = (world.project("one"), world.project("two"));
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    for root in [&active, &disabled] {
        client.result("project.add", json!({"path": root})).await;
    }
    wait_for(&mut client, 2, "idle").await;
    assert!(owned(&world).contains(active.to_str().unwrap()));
    client.result("project.disable", json!({"project": disabled})).await;
    client.result("project.remove", json!({"project": active})).await;
    wait_for(&mut client, 1, "disabled").await;
    client.result("project.remove", json!({"project": disabled})).await;
    wait_for(&mut client, 0, "").await;
    assert!(registered(&world).projects.is_empty());
    assert!(!has_lock(&active) && !has_lock(&disabled));
    assert!(!owned(&world).contains(active.to_str().unwrap()), "{}", owned(&world));
    assert_eq!(client.refusal("project.pause", json!({"project": active})).await, "unknown_project");
    client.result("project.add", json!({"path": active})).await;
    wait_for(&mut client, 1, "idle").await;
}

#[tokio::test]
async fn a_project_for_one_run_leaves_no_trace() {
    let world = World::new();
    let root = world.project("shop");
    let daemon = world.daemon(&[&root]).await;
    let mut client = daemon.client().await;
    client.result("project.pause", json!({"project": root})).await;
    wait_for(&mut client, 1, "paused").await;
    client.result("project.remove", json!({"project": root})).await;
    wait_for(&mut client, 0, "").await;
    client.result("daemon.reload", json!({})).await;
    assert!(projects(&mut client).await.is_empty());
    assert!(registered(&world).projects.is_empty());
}

#[tokio::test]
async fn what_the_configuration_says_only_it_can_take_back() {
    let world = World::new();
    let (named, disabled) = (world.project("one"), world.project("two"));
    let config = format!(
        "[[project]]\npath = '{}'\n[[project]]\npath = '{}'\nenabled = false\n",
        named.display(),
        disabled.display()
    );
    let daemon = Daemon::start(world.startup(&config)).await;
    let mut client = daemon.client().await;
    let refused = client.ask("project.remove", json!({"project": named})).await;
    assert_eq!(refused["error"]["data"]["code"], "invalid_config");
    assert!(refused["error"]["message"].as_str().unwrap().starts_with("line 1 of the configuration"), "{refused}");
    assert_eq!(client.refusal("project.enable", json!({"project": disabled})).await, "invalid_config");
    client.result("project.disable", json!({"project": named})).await;
    wait_for(&mut client, 2, "disabled").await;
    daemon.stop().await;
    let daemon = Daemon::start(world.startup(&config)).await;
    wait_for(&mut daemon.client().await, 2, "disabled").await;
}

/// D77: `handoff init` and `handoff projects` need no daemon, and one that runs notices.
#[tokio::test]
async fn a_change_of_the_registry_by_another_program_is_noticed() {
    let world = World::new();
    let root = world.project("shop");
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    let registry = Registry::new(&world.places().state_dir);
    registry.add(&root, Some("store")).unwrap();
    wait_for(&mut client, 1, "idle").await;
    assert_eq!(projects(&mut client).await[0]["name"], "store");
    let config = handoffd::config::Config::default();
    let which = Selector::Path(root.clone());
    registry.change(&config, &which, Change::Disable).unwrap();
    wait_for(&mut client, 1, "disabled").await;
    registry.remove(&config, &which).unwrap();
    wait_for(&mut client, 0, "").await;
}

/// D71: what a daemon that was killed still owned is ended by the next one, although nobody names it any more.
#[tokio::test]
async fn an_owned_project_that_is_no_longer_configured_is_let_go() {
    let world = World::new();
    let root = world.project("shop");
    let places = world.places();
    places.prepare().unwrap();
    let mut list = handoffd::registry::Owned::load(places.owned_file()).unwrap();
    list.add([root.as_path()]).unwrap();
    // A lock of this boot whose process is long gone.
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let lock = json!({"version": 1, "pid": i32::MAX, "started": 1, "boot_id": boot.trim(), "session": null});
    world.write("shop/.pi/pi-claude-handoff.lock", &lock.to_string());
    let daemon = world.daemon(&[]).await;
    wait_for(&mut daemon.client().await, 0, "").await;
    assert!(!has_lock(&root));
    assert!(!owned(&world).contains(root.to_str().unwrap()));
}

#[tokio::test]
async fn a_project_whose_folder_is_missing_is_one_all_the_same() {
    let world = World::new();
    let root = world.path("later");
    let daemon = world.daemon(&[&root]).await;
    let mut client = daemon.client().await;
    wait_for(&mut client, 1, "missing").await;
    world.project("later");
    wait_for(&mut client, 1, "idle").await;
    assert_eq!(client.attach(&root).await["result"]["ownership"], "owner");
}

/// A registry that cannot be read must not make registered projects look removed.
#[tokio::test]
async fn a_damaged_registry_changes_nothing_and_is_told() {
    let world = World::new();
    let root = world.project("shop");
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    client.result("project.add", json!({"path": root})).await;
    wait_for(&mut client, 1, "idle").await;
    world.write("state/handoffd/projects.json", "{\"version\":1");
    loop {
        let status = client.result("daemon.status", json!({})).await;
        assert_eq!(status["projects"].as_array().unwrap().len(), 1);
        let warnings = status["daemon"]["warnings"].as_array().cloned().unwrap_or_default();
        if warnings.iter().any(|warning| warning.as_str().unwrap().contains("projects.json")) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert!(has_lock(&root));
}

#[tokio::test]
async fn a_list_that_is_deleted_or_put_aside_while_damaged_is_written_again() {
    let world = World::new();
    let (shop, bakery) = (world.project("shop"), world.project("bakery"));
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    for root in [&shop, &bakery] {
        client.result("project.add", json!({"path": root})).await;
    }
    client.result("project.pause", json!({"project": "bakery"})).await;
    let before = registered(&world);
    let file = world.places().projects_file();
    for damaged in [false, true] {
        if damaged {
            world.write("state/handoffd/projects.json", "{\"version\":1");
        }
        std::fs::remove_file(&file).unwrap();
        crate::world::until("it is there again", || file.exists().then_some(())).await;
        assert_eq!(registered(&world), before);
        assert_eq!(projects(&mut client).await.len(), 2);
    }
    std::fs::remove_file(&file).unwrap();
    client.result("project.resume", json!({"project": "bakery"})).await;
    assert_eq!(registered(&world).projects.len(), 2, "a change at once writes all");
    client.result("project.remove", json!({"project": "shop"})).await;
    client.result("project.remove", json!({"project": "bakery"})).await;
    wait_for(&mut client, 0, "").await;
}

/// As on a full disk: the list cannot be written when it is found gone, and nothing tells that it can be later.
#[tokio::test]
async fn a_list_that_could_not_be_written_again_is_written_later() {
    let world = World::new();
    let shop = world.project("shop");
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    client.result("project.add", json!({"path": shop})).await;
    let (file, before) = (world.places().projects_file(), registered(&world));
    let lock = file.with_extension("lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    std::fs::remove_file(&file).unwrap();
    client.result("daemon.reload", json!({})).await;
    assert!(!file.exists());
    assert_eq!(projects(&mut client).await.len(), 1, "the project stays meanwhile");
    assert!(warnings(&mut client).await.contains("the list of projects is gone and cannot be written again"));
    std::fs::remove_dir(&lock).unwrap();
    crate::world::until("it is there again", || file.exists().then_some(())).await;
    assert_eq!(registered(&world), before);
    client.result("daemon.reload", json!({})).await;
    assert_eq!(warnings(&mut client).await, "null");
}

#[tokio::test]
async fn a_name_that_fits_several_projects_is_refused() {
    let world = World::new();
    let (one, two) = (world.project("a/shop"), world.project("b/shop"));
    let daemon = world.daemon(&[&one, &two]).await;
    let mut client = daemon.client().await;
    assert_eq!(client.refusal("project.pause", json!({"project": "shop"})).await, "unknown_project");
    assert_eq!(client.refusal("project.pause", json!({"project": "shp"})).await, "unknown_project");
    client.result("project.pause", json!({"project": two})).await;
}

#[tokio::test]
async fn a_daemon_does_not_start_with_a_damaged_registry_and_leaves_nothing_behind() {
    let world = World::new();
    world.places().prepare().unwrap();
    let file = world.write("state/handoffd/projects.json", "{\"version\":1");
    let started = run(world.startup(""), Listener::Bind, std::future::pending()).await;
    let error = started.unwrap_err();
    assert!(matches!(error, RunError::Registry(_)), "{error}");
    assert!(error.to_string().contains("handoff projects add"), "{error}");
    assert!(!world.places().socket.path.exists());
    std::fs::remove_file(file).unwrap();
    world.daemon(&[]).await.stop().await;
}
