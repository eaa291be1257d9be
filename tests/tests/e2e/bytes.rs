//! Every value that is not ours comes back byte for byte, after each kind of write (D3).

use handoffd_tests::{Task, report, world};
use serde_json::json;

use crate::support::{Stage, parse, stage};

/// The members that handoffd may write.
const OURS: [&str; 13] = [
    "status",
    "started_at",
    "completed_at",
    "updated_by",
    "assigned_agent",
    "assigned_model",
    "thinking",
    "result",
    "files_changed",
    "tests_run",
    "error",
    "report",
    "zz",
];

/// One member a line, everything that JSON allows and people write; ours are all there, so no line is added.
fn odd_document(end: &str) -> String {
    let lines = [
        r#"{"#,
        r#"	"schema_version" : 3 , "#,
        r#"  "status":"PENDING","#,
        r#"  "price": 1.10,  "huge": 1e400, "tiny": -0.0e-999, "long": 123456789012345678901234567890,"#,
        r#"  "task_id": "t-1","#,
        r#"  "task_type": "IMPLEMENT", "required_role": "writer", "gate": null,"#,
        r#"  "esc\u0061pes": "\u00e9 \/ \ud83d\ude00 é \t","#,
        r#"  "started_at": null,"#,
        r#"  "completed_at": "old","#,
        r#"  "updated_by": null,"#,
        r#"  "assigned_agent": null,"#,
        r#"  "assigned_model": null,"#,
        r#"  "thinking": null,"#,
        r#"  "result": null,"#,
        r#"  "files_changed": null,"#,
        r#"  "tests_run": null,"#,
        r#"  "error": "an old one","#,
        r#"  "report": null,"#,
        r#"  "nested": { "b":[1 ,2,  {"b":1,"b":2}] , "a" :{ } },"#,
        r#"  "instruction": "append \u006fne line","#,
        r#"  "working_dir": ".", "scope": [ "notes.txt" ,"src/" ],"#,
        r#"  "acceptance_criteria": ["it is there"],"#,
        r#"  "created_at": "2026-09-01T10:00:00Z", "created_by": "claude-code""#,
        r#"}"#,
    ];
    lines.join(end)
}

/// The lines without those that begin with a member of ours.
fn foreign_lines(text: &str) -> Vec<&str> {
    let ours = |line: &&str| {
        let member = line.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
        !member.is_some_and(|(key, _)| OURS.contains(&key))
    };
    text.split('\n').filter(ours).collect()
}

fn check_lines(stage: &Stage, before: &str, status: &str) {
    let after = String::from_utf8(stage.project.bytes()).unwrap();
    assert_eq!(stage.project.bytes().starts_with(b"\xef\xbb\xbf"), before.starts_with('\u{feff}'));
    assert!(after.contains(&format!("\"{status}\"")), "{after}");
    assert_eq!(foreign_lines(&after), foreign_lines(before), "after {status}");
}

/// RUNNING and COMPLETE.
fn check_round(document: &str) {
    let stage = stage();
    stage.project.replace(document.as_bytes());
    let dispatch = stage.session.wait_dispatch("t-1");
    assert_eq!(foreign_lines(&String::from_utf8(dispatch.queue.clone()).unwrap()), foreign_lines(document));
    check_lines(&stage, document, "RUNNING");
    stage.session.finish(&dispatch, report::complete());
    check_lines(&stage, document, "COMPLETE");
}

#[test]
fn f177_line_ends_indents_and_the_missing_final_newline_stay() {
    check_round(&odd_document("\r\n"));
}

#[test]
fn numbers_escapes_and_tabs_stay() {
    check_round(&format!("{}\n", odd_document("\n")));
}

#[test]
fn f175_a_byte_order_mark_stays() {
    check_round(&format!("\u{feff}{}\n", odd_document("\n")));
}

#[test]
fn a_rejection_changes_our_members_only() {
    let stage = stage();
    let document = odd_document("\r\n").replace("\"claude-code\"", "\"me\"");
    stage.project.replace(document.as_bytes());
    handoffd_tests::wait::until("a rejection", || {
        String::from_utf8(stage.project.bytes()).ok().filter(|text| text.contains("\"ERROR\""))
    });
    check_lines(&stage, &document, "ERROR");
}

#[test]
fn a_cancel_changes_our_members_only() {
    let stage = stage();
    let document = odd_document("\n");
    stage.project.replace(document.as_bytes());
    stage.session.wait_dispatch("t-1");
    stage.control.ask("task.cancel", &stage.project, json!({"task_id": "t-1", "reason": "enough"})).unwrap();
    check_lines(&stage, &document, "ERROR");
}

#[test]
fn f181_order_stays_and_new_members_come_last() {
    let stage = stage();
    let task = Task::new("t-1").with("my_own", json!({"z": 1, "a": [1, 2]}));
    let planned = parse(task.text().as_bytes());
    stage.project.plan(&task);
    let dispatch = stage.session.wait_dispatch("t-1");
    let text = String::from_utf8(dispatch.queue.clone()).unwrap();
    let seen = parse(text.as_bytes());
    let keys: Vec<_> = seen.as_object().unwrap().keys().collect();
    let expected: Vec<_> = planned.as_object().unwrap().keys().collect();
    assert_eq!(keys[..expected.len()], expected[..]);
    assert_eq!(seen.get("completed_at"), None, "an absent member stays absent");
    assert!(text.ends_with("}\n"));
}

#[test]
fn f155_the_mode_stays_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    for umask in ["022", "077", "000"] {
        let world = world!();
        let projects: Vec<_> =
            [0o600, 0o640, 0o664].into_iter().map(|mode| (mode, world.project(&format!("m{mode:o}")))).collect();
        let daemon = world.spawn_in_shell(&format!("umask {umask}; exec \"$@\""));
        drop(daemon.control());
        for (mode, project) in &projects {
            let session = daemon.idle_session(&world, project, "s-1");
            let file = project.root().join("mine");
            std::fs::write(&file, Task::new("t-1").text()).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(*mode)).unwrap();
            std::fs::rename(&file, project.queue()).unwrap();
            let mode_of = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
            let dispatch = session.wait_dispatch("t-1");
            assert_eq!(mode_of(&project.queue()), *mode, "RUNNING under {umask}");
            session.finish(&dispatch, report::complete());
            assert_eq!(mode_of(&project.queue()), *mode, "COMPLETE under {umask}");
            assert_eq!(mode_of(&project.lock()), 0o600, "the lock under {umask}");
        }
        let mode_of = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode_of(&world.socket()), 0o600);
        assert_eq!(mode_of(&world.state_dir()), 0o700);
    }
}

#[test]
fn f183_two_hundred_kib_of_foreign_members_stay() {
    let stage = stage();
    let task = Task::new("t-1").with("mine", "\u{e9}".repeat(100 * 1024));
    stage.project.plan(&task);
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.member("mine"), parse(task.text().as_bytes())["mine"]);
}

#[test]
fn f183_a_document_without_room_for_running_is_not_dispatched_blind() {
    let stage = stage();
    let task = Task::new("t-1");
    let room = 256 * 1024 - task.text().len() - "  \"pad\": \"\",\n".len();
    let full = task.with("pad", "p".repeat(room - 8));
    stage.project.plan(&full);
    let row = stage.control.wait_state(&stage.project, "blocked", "queue_full");
    // F257: no ERROR fits, so a cancel is no way out, and says what is.
    assert!(row["next"].as_str().unwrap().starts_with("handoff lint"), "{row}");
    let refused = stage.control.ask("task.cancel", &stage.project, json!({"task_id": "t-1"})).unwrap_err();
    assert!(refused.message.contains("members of your own, shorter"), "{}", refused.message);
    assert_eq!(stage.project.bytes(), full.text().as_bytes());
    assert_eq!(stage.session.count("t-1"), 0);
}
