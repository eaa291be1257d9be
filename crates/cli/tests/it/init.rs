//! `handoff init` and what it leaves alone.

use insta::assert_snapshot;
use profiles::Places;
use queue::AcceptanceRole;

use crate::env::TestEnv;

#[test]
fn a_new_folder_becomes_a_project_once() {
    let env = TestEnv::new();
    assert_snapshot!(env.run(&["init"]), @r"
    made tasks.json
    made .pi/handoff-log.md
    made .gitignore
    made .pi/agents/handoff-writer.md
    made .pi/agents/handoff-reviewer.md
    registered {PROJECT}
    --- stderr
    Next: run the daemon: `handoff service install` once, or `handoffd` in a terminal of its own
          open the worker's session: `pi` or `handoff attach` in {PROJECT}
          give it a task: `handoff submit`, or from the planner
    --- exit 0
    ");
    assert_eq!(env.read(".pi/handoff-log.md"), "## Work log\n");
    assert_eq!(env.run(&["lint", "--json"]).json()["status"], "IDLE");
    assert_snapshot!(env.read(".gitignore"), @r"
    # The queue of handoffd belongs to this machine
    /tasks.json
    /tasks.json.lost-*
    /.tasks.json.*
    /.pi/pi-claude-handoff.lock*
    /.pi/.handoff-log.md.*
    ");
    assert_snapshot!(env.run(&["init"]).stdout, @r"
    kept tasks.json as it is
    kept .pi/handoff-log.md as it is
    kept .gitignore as it is
    kept .pi/agents/handoff-writer.md as it is
    kept .pi/agents/handoff-reviewer.md as it is
    registered before: {PROJECT}
    ");
    assert!(env.run(&["projects", "list"]).stdout.contains("{PROJECT}"));
}

#[test]
fn what_is_there_stays_byte_for_byte() {
    let env = TestEnv::new();
    let there = [
        ("tasks.json", "{ \"status\" : \"COMPLETE\" }"),
        (".pi/handoff-log.md", "# Mine\n\n## Work log\n- a line\n"),
        (".pi/agents/handoff-writer.md", "mine"),
    ];
    for (path, content) in there {
        env.file(path, content);
    }
    env.file(".gitignore", "target\n/tasks.json\nlast line without an end");
    assert_eq!(env.run(&["init", "."]).code, 0);
    for (path, content) in there {
        assert_eq!(env.read(path), content, "{path}");
    }
    let ignored = env.read(".gitignore");
    assert!(ignored.starts_with("target\n/tasks.json\nlast line without an end\n#"), "{ignored}");
    assert_eq!(ignored.matches("/tasks.json\n").count(), 1, "{ignored}");
}

#[test]
fn a_daemon_that_runs_knows_the_project_when_init_ends() {
    let (world, _daemon) = crate::daemon::world();
    let other = world.root().join("other");
    std::fs::create_dir_all(other.join("src")).unwrap();
    let run = |folder: &std::path::Path, args: &[&str]| {
        let mut command = world.command();
        command.current_dir(folder).args(args);
        world.said(&mut command)
    };
    let made = run(&other, &["init"]);
    assert!(made.code == 0 && made.stderr.starts_with("Next: open the worker's session"), "{made}");
    let submit = ["submit", "--instruction", "x", "--scope", "src", "--accept", "y"];
    let submitted = run(&other, &submit);
    assert_eq!(submitted.code, 0, "{submitted}");
    let again = run(&other, &submit);
    assert!(again.code == 4 && again.stderr.contains("`handoff wait` for its end"), "{again}");
    let waited = run(&other, &["wait", "--timeout", "1ms"]);
    assert!(waited.code == 5 && waited.stderr.contains("no worker's session is attached yet"), "{waited}");
}

#[test]
fn a_folder_below_a_project_and_a_home_are_not_taken_for_one_in_silence() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["init"]).code, 0);
    std::fs::create_dir(env.project().join("below")).unwrap();
    let below = env.run(&["init", "below"]).stderr;
    assert!(
        below.contains("lies in the project {PROJECT}") && below.contains("projects remove {PROJECT}/below"),
        "{below}"
    );
    assert!(!env.run(&["init", "below"]).stderr.contains("lies in"));
    let mut command = env.command();
    command.current_dir(env.home()).arg("init");
    let home = env.said(&mut command);
    assert!(home.code == 2 && home.stderr.contains("this is your home"), "{home}");
    assert!(!env.home().join("tasks.json").exists());
}

#[test]
fn the_example_agents_have_their_roles() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["init"]).code, 0);
    let agents = profiles::load(&Places::new(env.project(), env.home())).agents;
    let role = |name: &str| agents.iter().find(|agent| agent.name == name).unwrap().role;
    assert_eq!(role("handoff-writer"), Some(AcceptanceRole::Writer));
    assert_eq!(role("handoff-reviewer"), Some(AcceptanceRole::ReadOnly));
}

#[test]
fn a_link_in_place_of_a_file_is_not_followed() {
    let env = TestEnv::new();
    let outside = crate::env::write(&env.root().join("outside"), b"theirs");
    std::os::unix::fs::symlink(&outside, env.project().join(".gitignore")).unwrap();
    let said = env.run(&["init"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(said.stderr.contains("cannot add to {PROJECT}/.gitignore"), "{said}");
    assert_eq!(std::fs::read(outside).unwrap(), b"theirs");
}

#[test]
fn nothing_is_made_through_a_link_that_leads_out_of_the_project() {
    let env = TestEnv::new();
    let outside = env.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let names = || std::fs::read_dir(&outside).unwrap().count();
    env.file(".pi/x", "");
    let link = env.project().join(".pi/agents");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let said = env.run(&["init"]);
    assert_eq!((said.code, names()), (1, 0), "{said}");
    assert!(said.stderr.contains("{PROJECT}/.pi/agents leads out of the project"), "{said}");
    // Whose own profiles lie there is not told each time that nothing is made.
    for name in ["handoff-writer.md", "handoff-reviewer.md"] {
        crate::env::write(&outside.join(name), b"mine");
    }
    let said = env.run(&["init"]);
    assert!(said.code == 0 && said.stdout.contains("kept .pi/agents/handoff-writer.md"), "{said}");
    assert_eq!((names(), std::fs::read(outside.join("handoff-writer.md")).unwrap()), (2, b"mine".to_vec()));
    // A link that stays inside is a place like another.
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("../prompts", &link).unwrap();
    std::fs::create_dir(env.project().join("prompts")).unwrap();
    assert_eq!(env.run(&["init"]).code, 0);
    assert!(env.project().join("prompts/handoff-writer.md").is_file());
}

#[test]
fn a_link_in_place_of_the_folder_of_pi_is_refused() {
    let env = TestEnv::new();
    let outside = env.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, env.project().join(".pi")).unwrap();
    let said = env.run(&["init"]);
    assert!(said.code == 2 && said.stderr.contains("must be a real folder"), "{said}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    assert!(!env.project().join("tasks.json").exists());
}

#[test]
fn a_work_log_in_a_folder_of_its_own_is_made_with_it() {
    let env = TestEnv::new();
    env.file(".pi/handoff.toml", "[work_log]\npath = \"docs/log/work.md\"\n");
    let said = env.run(&["init"]);
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(env.read("docs/log/work.md"), "## Work log\n");
}

#[test]
fn an_invalid_configuration_is_refused_before_anything_is_made() {
    let env = TestEnv::new();
    crate::env::write(&env.home().join(".config/handoffd/config.toml"), b"[daemon]\nstate_dir = 3\n");
    let said = env.run(&["init"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.stderr.contains("config.toml:2") && said.stderr.contains("state_dir"), "{said}");
    assert!(!env.project().join("tasks.json").exists());
}

#[test]
fn a_queue_that_was_added_to_git_and_has_changed_since_is_untracked() {
    let env = TestEnv::new();
    assert_eq!(env.run(&["init"]).code, 0);
    let git = |arguments: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "a real repository is made with git")]
        let mut command = std::process::Command::new("git");
        command.args(arguments).current_dir(env.project()).env("HOME", env.home());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["add", "-f", "tasks.json"]);
    env.file("tasks.json", "{ \"status\" : \"COMPLETE\" }");
    let said = env.run(&["init", "--yes"]);
    assert!(said.stdout.contains("untracked tasks.json"), "{said}");
    assert_eq!((git(&["ls-files"]).as_str(), env.read("tasks.json").as_str()), ("", "{ \"status\" : \"COMPLETE\" }"));
}
