//! `handoff doctor`: what is looked at in each project and in the home of packets, each with a good and a bad case.

use std::path::Path;

use crate::doctor::{check, doctor, world, worst};
use crate::env::{VALID, write};

const LOCK: &str = ".pi/pi-claude-handoff.lock";
const DIGITS: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn every_lock_is_explained_with_its_owner() {
    let world = world();
    check(&world, "locks", "good", &["nobody holds the lock"]);
    world.file(LOCK, "{\"pid\":2147483647}");
    check(&world, "locks", "note", &["there is no process 2147483647 (rule 8)", "takes it over"]);
    world.file(LOCK, format!("{{\"pid\":{}}}", std::process::id()));
    let pid = format!("end process {}", std::process::id());
    check(&world, "locks", "fault", &["somebody else holds the lock", &pid]);
    world.file(LOCK, "{\"pid\":1,\"host\":\"another-host\"}");
    check(&world, "locks", "fault", &["another host", "handoff unlock --yes"]);
    world.file(LOCK, "");
    check(&world, "locks", "fault", &["malformed", "handoff unlock --yes"]);
}

#[test]
fn a_queue_that_cannot_be_read_is_told_with_the_reason() {
    let world = world();
    for (text, code) in [("{", "invalid_json"), ("{\"status\":\"X\"}", "unknown_value"), ("[]", "not_an_object")] {
        world.file("tasks.json", text);
        check(&world, "queues", "fault", &[code, "handoff lint"]);
    }
    world.file("tasks.json", VALID);
    check(&world, "queues", "good", &["PENDING"]);
    world.file("tasks.json", VALID.replace("\"writer\"", "\"cook\""));
    check(&world, "queues", "warning", &["would be refused", "required_role"]);
    world.file("tasks.json", VALID.replace("PENDING", "RUNNING"));
    check(&world, "queues", "warning", &["no daemon owns it", "if its session lives"]);
    let long = VALID.replacen('{', &format!("{{\"mine\":\"{}\",", "x".repeat(240 << 10)), 1);
    world.file("tasks.json", &long);
    check(&world, "queues", "warning", &["bytes are left in tasks.json for the report", "shorter"]);
    world.file("tasks.json", long.replace("PENDING", "IDLE"));
    check(&world, "queues", "good", &["IDLE"]);
    std::fs::remove_file(world.project().join("tasks.json")).unwrap();
    check(&world, "queues", "good", &["the queue is empty"]);
    std::os::unix::fs::symlink("/etc/hostname", world.project().join("tasks.json")).unwrap();
    check(&world, "queues", "fault", &["not_regular_file"]);
}

#[test]
fn a_queue_that_git_tracks_is_a_fault_unless_the_user_allows_it() {
    let world = world();
    let git = |arguments: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "a real repository is made with git")]
        let mut command = std::process::Command::new("git");
        command.args(arguments).current_dir(world.project()).env("HOME", world.home());
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    check(&world, "tracked", "good", &[]);
    git(&["add", "-f", "tasks.json"]);
    check(&world, "tracked", "fault", &["every task is held", "rm --cached --force"]);
    write(&world.home().join(".config/handoffd/config.toml"), b"[queue]\nallow_tracked = true\n");
    check(&world, "tracked", "note", &["allow_tracked"]);
    world.file(".git/index", "garbage");
    check(&world, "tracked", "warning", &["cannot be told"]);
}

#[test]
fn a_work_log_that_takes_no_line() {
    let world = world();
    let log = ".pi/handoff-log.md";
    for (text, part) in [
        ("# Other\n", "printf '\\n%s\\n' '## Work log' >> {PROJECT}/.pi/handoff-log.md"),
        ("## Work log\n## Work log\n", "keep one of them"),
        ("## Work log\n# Later\n", "with its lines to the end"),
    ] {
        world.file(log, text);
        check(&world, "work-logs", "fault", &["no task is started", part]);
    }
    world.file(log, format!("## Work log\n{}", "- x\n".repeat(800_000)));
    check(&world, "work-logs", "warning", &["handoff log rotate {PROJECT}"]);
    world.file(log, format!("{}\n## Work log\n- x\n", "x\n".repeat(2 << 20)));
    let aside = "mv {PROJECT}/.pi/handoff-log.md {PROJECT}/.pi/handoff-log.md.old && handoff init {PROJECT}";
    check(&world, "work-logs", "fault", &["not with lines that a rotation moves", aside]);
    let rotated = world.run(&["log", "rotate"]);
    assert!(rotated.code == 1 && rotated.stderr.contains(&format!("Hint: run `{aside}`")), "{rotated}");
    world.file(".pi/handoff.toml", "[work_log]\npath = 7\n");
    check(&world, "work-logs", "fault", &["handoff.toml"]);
    std::fs::remove_file(world.project().join(".pi/handoff.toml")).unwrap();
    std::fs::remove_file(world.project().join(log)).unwrap();
    check(&world, "work-logs", "fault", &["there is no work log", "handoff init"]);
    let said = world.run(&["doctor", "--fix", "--json"]);
    assert_eq!(said.json()["repairs"][0]["done"], true, "{said}");
    assert!(worst(&said, "work-logs").starts_with("good"), "{said}");
    assert_eq!(world.read(log), "## Work log\n");
    write(&world.home().join(".config/handoffd/config.toml"), b"[work_log]\npath = \"LOG.md\"\nheading = \"# Done\"\n");
    check(&world, "work-logs", "fault", &["LOG.md"]);
    assert!(world.run(&["doctor", "--fix"]).stderr.contains("Done: make LOG.md"));
    assert_eq!(world.read("LOG.md"), "# Done\n");
}

#[test]
fn a_context_file_that_keeps_tasks_away() {
    let world = world();
    check(&world, "context", "good", &["no context file is named"]);
    world.file(".pi/handoff.toml", "[context]\nfiles = [\"notes.md\"]\n");
    check(&world, "context", "good", &["can be handed over"]);
    world.file("notes.md", b"\xff");
    check(&world, "context", "fault", &["no task is started", "notes.md", "is not UTF-8", "`context.files`"]);
    world.file(".pi/handoff.toml", "[context]\nfiles = [\"src\"]\n");
    check(&world, "context", "fault", &["is not a regular file"]);
}

#[test]
fn profiles_without_the_roles_and_profiles_that_do_not_count() {
    let world = world();
    check(&world, "profiles", "good", &["1 may write and 1 only read"]);
    world.file(".pi/agents/broken.md", "---\nname: x\n---\n");
    check(&world, "profiles", "warning", &["has no `description`"]);
    std::fs::remove_file(world.project().join(".pi/agents/broken.md")).unwrap();
    std::fs::remove_file(world.project().join(".pi/agents/handoff-writer.md")).unwrap();
    check(&world, "profiles", "warning", &["`acceptanceRole: writer`", "handoff init"]);
    // A file of a person under the example's name stays, so the example is no remedy.
    let kept = world.file(".pi/agents/handoff-writer.md", "---\nname: x\ndescription: y\n---\n\nz\n");
    check(
        &world,
        "profiles",
        "warning",
        &["`acceptanceRole: writer`", "set `acceptanceRole` in a profile that counts"],
    );
    assert!(world.run(&["doctor", "--fix"]).stderr.contains("nothing that could be repaired"));
    std::fs::remove_file(kept).unwrap();
    std::fs::remove_file(world.project().join(".pi/agents/handoff-reviewer.md")).unwrap();
    check(&world, "profiles", "fault", &["no task can end COMPLETE"]);
    assert_eq!(world.run(&["doctor", "--fix"]).code, 1, "a daemon is still missing");
    check(&world, "profiles", "good", &[]);
    // No example can be made below what is no folder, so none is offered.
    std::fs::remove_dir_all(world.project().join(".pi/agents")).unwrap();
    let file = world.file(".pi/agents", "");
    check(&world, "profiles", "fault", &["no task can end COMPLETE", "in a profile that counts"]);
    assert!(doctor(&world).stdout.contains("mv {PROJECT}/.pi/agents {PROJECT}/.pi/agents.old"));
    std::fs::remove_file(file).unwrap();
    world.file(".pi/settings.json", "{");
    check(&world, "profiles", "fault", &["no agent can be launched"]);
}

fn age(path: &Path) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    let long_ago = std::fs::File::metadata(&file).unwrap().modified().unwrap() - std::time::Duration::from_secs(3_600);
    file.set_modified(long_ago).unwrap();
}

#[test]
fn what_a_crash_left_is_told_and_only_what_nobody_misses_is_put_away() {
    let world = world();
    check(&world, "leftovers", "good", &[]);
    let new = world.file(&format!(".tasks.json.{DIGITS}.new"), "half");
    check(&world, "leftovers", "good", &[]);
    age(&new);
    check(&world, "leftovers", "warning", &["was killed"]);
    let swap = world.file(&format!(".tasks.json.{DIGITS}.swap"), VALID);
    age(&swap);
    let lost = world.file("tasks.json.lost-20261130T080000Z", VALID);
    check(&world, "leftovers", "warning", &[]);

    // An owner that lives may be at work with it.
    world.file(LOCK, format!("{{\"pid\":{}}}", std::process::id()));
    assert!(world.run(&["doctor", "--fix"]).code == 1 && new.exists());
    std::fs::remove_file(world.project().join(LOCK)).unwrap();

    let said = world.run(&["doctor", "--fix"]);
    assert!(said.stderr.contains("Done: move"), "{said}");
    assert!(!new.exists() && swap.exists() && lost.exists(), "{said}");
    let backup = world.home().join(".local/state/handoffd/doctor-backup");
    let kept = backup.read_dir().unwrap().next().unwrap().unwrap().path().join(new.file_name().unwrap());
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "half");
}

#[test]
fn many_leftovers_are_one_finding_and_go_to_one_backup() {
    let world = world();
    for number in 0..300 {
        age(&world.file(&format!(".tasks.json.{number:032x}.new"), "half"));
        world.file(&format!("tasks.json.lost-20261130T{number:06}Z"), "x");
    }
    let long = world.file(&format!(".tasks.json.{DIGITS}.new"), vec![b'x'; 3 << 20]);
    age(&long);
    let of_leftovers = |said: &crate::env::Said| {
        let document = said.json();
        let all = document["findings"].as_array().unwrap().clone();
        all.into_iter().filter(|finding| finding["check"] == "leftovers").collect::<Vec<_>>()
    };
    let found = of_leftovers(&doctor(&world));
    assert_eq!(found.len(), 2, "{found:?}");
    let told = format!("{found:?}");
    assert!(told.contains("300 writes of the planner") && told.contains("lost-20261130T000299Z"), "{told}");
    let said = world.run(&["doctor", "--fix", "--json"]);
    assert!(said.stderr.contains("Will move 301 temporaries of {PROJECT} to the backup"), "{said}");
    assert_eq!(of_leftovers(&said).len(), 1, "{said}");
    let backup = world.home().join(".local/state/handoffd/doctor-backup");
    let folders: Vec<_> = backup.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!((folders.len(), folders[0].read_dir().unwrap().count()), (1, 301));
    assert_eq!(folders[0].join(long.file_name().unwrap()).metadata().unwrap().len(), 3 << 20);
    // A run at the same second has a folder of its own.
    world.file(&format!(".tasks.json.{DIGITS}.new"), "again");
    age(&long);
    assert_eq!(world.run(&["doctor", "--fix"]).code, 1);
    assert_eq!(backup.read_dir().unwrap().count(), 2);
}

#[test]
fn packets_behind_a_gap_broken_records_and_ledgers_that_take_no_row() {
    let world = world();
    let home = world.home().join(".local/share/handoffd");
    check(&world, "team", "good", &["no packets yet"]);
    let added = world.run(&["team", "add", "planner", "--goal", "T-1", "--round", "1"]);
    check(&world, "team", "good", &["ledgers and packets"]);
    let leg = home.join("team_packets/T-1/r1");
    write(&leg.join("planner-to-executor.json"), b"{}");
    check(&world, "team", "warning", &["is passed over", "handoff packet list T-1"]);
    std::fs::remove_file(leg.join("planner-to-executor.json")).unwrap();
    write(&leg.join("planner-to-executor.01.json"), b"{}");
    check(&world, "team", "warning", &["slot 00 is missing"]);
    std::fs::remove_dir_all(home.join("team_packets")).unwrap();
    let id = added.stdout.trim();
    write(&home.join("agents/.ephemeral").join(id).join("agent.toml"), b"nonsense");
    check(&world, "team", "warning", &["is broken", "handoff team remove"]);
    std::fs::create_dir(home.join("artifacts.jsonl")).unwrap();
    check(&world, "team", "fault", &["rows about packets are lost", "artifacts.jsonl.old"]);
}

#[test]
fn a_folder_that_is_gone_and_a_project_that_is_off() {
    let world = world();
    assert_eq!(world.run(&["disable"]).code, 3, "only a daemon switches off");
    let path = world.home().join(".local/state/handoffd/projects.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let off = text.replace("\"enabled\": true", "\"enabled\": false").replace("\"enabled\":true", "\"enabled\":false");
    write(&path, off.as_bytes());
    check(&world, "projects", "note", &["switched it off", "handoff enable"]);
    write(&path, text.as_bytes());
    let there = world.project();
    std::fs::remove_dir_all(&there).unwrap();
    let said = world.said(world.command().current_dir("/").args(["doctor", "--json"]));
    let found = worst(&said, "projects");
    assert!(found.starts_with("fault") && found.contains("handoff projects remove"), "{found}");
}

#[test]
fn events_and_limits_are_told() {
    let world = world();
    check(&world, "events", "good", &["announces every change"]);
    let found = worst(&doctor(&world), "inotify");
    assert!(found.contains("the projects need 2"), "{found}");
}
