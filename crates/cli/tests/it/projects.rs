//! `handoff projects` without a daemon.

use insta::assert_snapshot;

use crate::env::TestEnv;

#[test]
fn folders_are_added_listed_and_removed() {
    let env = TestEnv::new();
    assert_snapshot!(env.run(&["projects", "list"]), @r"
    --- stderr
    no project is registered: `handoff init` in its folder, or `handoff projects add DIR`
    --- exit 0
    ");
    assert_snapshot!(env.run(&["projects", "add", ".", "--name", "shop"]), @r"
    registered {PROJECT}
    --- stderr
    it has no `.pi` yet: `handoff init {PROJECT}` makes what a project needs
    --- exit 0
    ");
    assert_snapshot!(env.run(&["projects", "list"]).stdout, @"shop  {PROJECT}");
    let listed = env.run(&["projects", "list", "--json"]).json();
    assert_eq!(listed["projects"][0]["name"], "shop");
    assert_eq!(listed["projects"][0]["enabled"], true);
    for everything in [["projects", "add", "/"], ["init", "/", "--yes"]] {
        let said = env.run(&everything);
        assert!(said.code == 2 && said.stderr.contains("/ cannot be a project: every folder lies in it"), "{said}");
    }
    assert_snapshot!(env.run(&["projects", "remove", "shp"]), @r"
    --- stderr
    Error: shp is no registered project; did you mean shop?
    --- exit 2
    ");
    assert_snapshot!(env.run(&["projects", "remove", "shop"]), @r"
    removed {PROJECT} from the registry
    --- exit 0
    ");
    assert_eq!(env.run(&["projects", "list", "--json"]).json()["projects"], serde_json::json!([]));
}
