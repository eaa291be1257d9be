//! Whatever decides which agents there are may change between two dispatches, in whatever way: it is seen.
#![expect(clippy::disallowed_methods, reason = "tests play the people who edit their profiles")]

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use super::*;

const DEADLINE: Duration = Duration::from_secs(60);

struct World {
    folder: tempfile::TempDir,
    root: Arc<Path>,
    env: Env,
    agents: Agents,
}

fn profile(name: &str, role: &str) -> String {
    format!("---\nname: {name}\ndescription: d\nacceptanceRole: {role}\n---\n\nYou do the task.\n")
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir_all(root.join(".pi/agents")).unwrap();
        fs::create_dir_all(folder.path().join("home/.pi/agent")).unwrap();
        let env = Env { home: Some(folder.path().join("home")), ..Env::default() };
        let world = Self { root: root.into(), env, agents: Agents::default(), folder };
        world.write("project/.pi/agents/a.md", &profile("own", "writer"));
        world
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn load(&self) -> Vec<Agent> {
        self.agents.load(&self.root, &self.env).to_vec()
    }

    /// Whether the next loading reads nothing.
    fn is_known(&self, root: &Path) -> bool {
        let all = self.agents.lock();
        all.iter().any(|known| *known.root == *root && known.is_reliable && known.looks.still_hold())
    }

    /// Asks until the answer is known.
    #[track_caller]
    fn settle(&self) -> Vec<Agent> {
        let began = Instant::now();
        loop {
            let agents = self.load();
            if self.is_known(&self.root) {
                return agents;
            }
            assert!(began.elapsed() < DEADLINE, "what does not change becomes known");
            std::thread::yield_now();
        }
    }

    /// After `change` the answer is another one, and that of somebody who never asked before.
    #[track_caller]
    fn check(&self, change: impl FnOnce(&Self)) {
        let before = self.settle();
        assert_eq!(self.load(), before);
        change(self);
        let after = self.load();
        assert_eq!(after, load(&self.root, &self.env));
        assert_ne!(after, before, "the change matters");
        assert_eq!(self.settle(), after);
    }
}

#[test]
fn a_profile_that_was_edited_is_read_again() {
    let world = World::new();
    world.check(|world| world.write("project/.pi/agents/a.md", &profile("one", "writer")));
    world.check(|world| world.write("project/.pi/agents/a.md", &profile("eno", "writer")));
    world.check(|world| world.write("project/.pi/agents/a.md", "a document"));
}

#[test]
fn an_edit_within_the_same_tick_is_seen() {
    let world = World::new();
    for round in 0..200 {
        // Each is as long as the one before, in the same file, as soon after the loading as can be.
        let name = format!("a{round:03}");
        world.write("project/.pi/agents/a.md", &profile(&name, "writer"));
        assert!(world.load().iter().any(|agent| agent.name == name), "round {round}");
    }
}

#[test]
fn a_loading_is_relied_on_only_a_tick_after_its_stamps_were_seen() {
    let world = World::new();
    let began = Instant::now();
    let load_after = |passed| {
        world.agents.load_at(&world.root, &world.env, || began + passed).to_vec();
        world.is_known(&world.root)
    };
    let tick = watch::tick(false);
    assert!(!load_after(Duration::ZERO), "just seen");
    assert!(!load_after(tick - Duration::from_nanos(1)), "not yet");
    assert!(load_after(tick), "what is read now is what these stamps stand for");
    world.write("project/.pi/agents/b.md", &profile("new", "writer"));
    assert!(!load_after(tick * 2), "other stamps");
    assert!(!load_after(tick * 3 - Duration::from_nanos(1)) && load_after(tick * 3));
}

#[test]
fn a_profile_that_was_replaced_moved_or_removed_is_seen() {
    let world = World::new();
    world.write("project/next", &profile("other", "writer"));
    world.check(|world| fs::rename(world.at("project/next"), world.at("project/.pi/agents/a.md")).unwrap());
    world.write("project/.pi/agents/sub/b.md", &profile("below", "writer"));
    world.check(|world| fs::rename(world.at("project/.pi/agents/sub"), world.at("project/.pi/agents/.git")).unwrap());
    world.check(|world| fs::remove_file(world.at("project/.pi/agents/a.md")).unwrap());
}

#[test]
fn a_folder_that_was_made_anew_is_seen() {
    let world = World::new();
    world.write("project/next/b.md", &profile("other", "writer"));
    world.check(|world| {
        fs::remove_dir_all(world.at("project/.pi/agents")).unwrap();
        fs::rename(world.at("project/next"), world.at("project/.pi/agents")).unwrap();
    });
    world.write("next/agents/c.md", &profile("third", "writer"));
    world.check(|world| {
        fs::rename(world.at("project/.pi"), world.at("old")).unwrap();
        fs::rename(world.at("next"), world.at("project/.pi")).unwrap();
    });
    world.check(|world| fs::remove_dir_all(world.at("project/.pi")).unwrap());
    world.check(|world| world.write("project/.agents/d.md", &profile("fourth", "writer")));
}

#[test]
fn a_link_that_leads_elsewhere_now_is_seen() {
    let world = World::new();
    world.write("home/one.md", &profile("first", "writer"));
    world.write("home/two.md", &profile("second", "writer"));
    world.write("home/kit/k.md", &profile("kit", "writer"));
    world.write("elsewhere/k.md", &profile("kit", "writer"));
    let link = |world: &World, target: &str, name: &str| {
        let (target, name) = (world.at(target), world.at(name));
        fs::remove_file(&name).ok();
        symlink(target, name).unwrap();
    };
    world.check(|world| link(world, "home/one.md", "project/.pi/agents/l.md"));
    world.check(|world| link(world, "home/two.md", "project/.pi/agents/l.md"));
    world.check(|world| world.write("home/two.md", &profile("2nd", "writer")));
    world.check(|world| link(world, "home/kit", "project/.pi/agents/kit"));
    world.check(|world| world.write("home/kit/l.md", &profile("kit-too", "writer")));
    // The same folder, which now lies where no link may lead.
    world.check(|world| {
        fs::rename(world.at("home/kit"), world.at("elsewhere/kit")).unwrap();
        link(world, "elsewhere/kit", "home/kit");
    });
}

#[test]
fn settings_and_packages_that_were_changed_are_seen() {
    let world = World::new();
    let off = |name: &str| format!(r#"{{"subagents": {{"agentOverrides": {{"{name}": {{"disabled": true}}}}}}}}"#);
    world.check(|world| world.write("project/.pi/settings.json", &off("own")));
    world.check(|world| world.write("project/.pi/settings.json", &off("xyz")));
    world.check(|world| world.write("home/.pi/agent/settings.json", &off("scout")));
    world.check(|world| world.write("home/.pi/agent/settings.json", "no JSON"));
    world.check(|world| world.write("home/.pi/agent/settings.json", r#"{"packages": ["npm:kit"]}"#));
    world.write("home/.pi/agent/npm/node_modules/kit/agents/k.md", &profile("packed", "writer"));
    let manifest = "home/.pi/agent/npm/node_modules/kit/package.json";
    world.check(|world| world.write(manifest, r#"{"pi-subagents": {"agents": ["agents"]}}"#));
    world.check(|world| world.write(manifest, r#"{"pi-subagents": {"agents": ["nowhere"]}}"#));
    let scan = |dir: &str| format!(r#"{{"subagents": {{"agentScanDirs": ["{dir}"]}}}}"#);
    world.write("project/kits/one/agents/s.md", &profile("scanned", "writer"));
    world.check(|world| world.write("project/.pi/settings.json", &scan("kits/*/agents")));
    world.check(|world| world.write("project/kits/two/agents/t.md", &profile("scanned-too", "writer")));
}

#[test]
fn a_profile_of_the_home_that_was_changed_is_seen() {
    let world = World::new();
    world.check(|world| world.write("home/.agents/h.md", &profile("home", "writer")));
    world.check(|world| world.write("home/.agents/h.md", &profile("emoh", "writer")));
    world.check(|world| world.write("home/.pi/agent/agents/u.md", &profile("user", "writer")));
    world.check(|world| fs::remove_dir_all(world.at("home/.agents")).unwrap());
    world.check(|world| fs::rename(world.at("home"), world.at("gone")).unwrap());
}

#[test]
fn only_the_projects_asked_about_last_are_remembered() {
    let world = World::new();
    world.settle();
    let others: Vec<Arc<Path>> = (0..MOST).map(|number| world.at(&number.to_string()).into()).collect();
    for other in &others {
        assert!(world.is_known(&world.root), "before {}", other.display());
        fs::create_dir_all(other.join(".pi")).unwrap();
        let _agents = world.agents.load(other, &world.env);
    }
    assert!(!world.is_known(&world.root));
    assert_eq!(world.agents.lock().len(), MOST);
    assert!(world.load().iter().any(|agent| agent.name == "own"));
}

#[test]
fn what_cannot_be_read_is_asked_for_each_time() {
    let world = World::new();
    world.settle();
    let pipe = world.at("project/.pi/agents/p.md");
    symlink(&pipe, &pipe).unwrap();
    let _agents = world.load();
    assert!(!world.is_known(&world.root), "a link to itself is no absence");
}
