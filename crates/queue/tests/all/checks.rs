//! Fine points of reading and validating that no row of the vectors shows (D1, D4–D9, D40–D48).

use queue::{Action, Code, Document, Ownership, Reading, limits, lint, planner, validate};
use serde_json::{Value, json};

use crate::fixture::{ROOT, Tree, VALID, document, found_problems, task};

#[track_caller]
fn check_read(bytes: &[u8], field: Option<&str>, code: Code) {
    let problem = Document::parse(bytes).unwrap_err();
    assert_eq!((problem.field.as_deref(), problem.code), (field, code), "{}", problem.message);
}

#[test]
fn the_first_problem_of_reading_wins() {
    let large = vec![0xff; limits::QUEUE_BYTES + 1];
    check_read(&large, None, Code::TooLarge);
    check_read(&large[1..], None, Code::NotUtf8);
    check_read(b"[\"\xff\"", None, Code::NotUtf8);
    check_read(b"[1", None, Code::InvalidJson);
    check_read(b"{\"a\":1,\"a\":2", None, Code::InvalidJson);
    check_read(b"\"\\ud800\"", None, Code::InvalidJson);
    check_read("\u{feff}\u{feff}{}".as_bytes(), None, Code::InvalidJson);
    check_read("\u{feff}".as_bytes(), None, Code::InvalidJson);
    for text in ["[]", "\"{}\"", "3", "null", "true", " \u{0} "] {
        let code = if text.contains('\0') { Code::InvalidJson } else { Code::NotAnObject };
        check_read(text.as_bytes(), None, code);
    }
    check_read(b"{\"b\":1,\"a\":1,\"\\u0061\":2,\"b\":3}", Some("a"), Code::DuplicateKey);
    check_read(br#"{"\ud83e\udd80":1,"status":7,"\uD83E\uDD80":2}"#, Some("🦀"), Code::DuplicateKey);
    check_read(br#"{"":1,"":2}"#, Some(""), Code::DuplicateKey);
    check_read(br#"{"Status":"IDLE"}"#, Some("status"), Code::MissingField);
    check_read(br#"{"status":null}"#, Some("status"), Code::WrongType);
    check_read(br#"{"status":""}"#, Some("status"), Code::UnknownValue);
}

#[test]
fn spelling_does_not_matter() {
    let document = Document::parse(b"\xef\xbb\xbf \r\n{\"s\\u0074atus\":\"\\u0049DLE\",\"n\":-1.0E+999}\t").unwrap();
    assert_eq!(document.status().as_str(), "IDLE");
    let deep = |levels: usize| format!("{{\"status\":\"IDLE\",\"x\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    Document::parse(deep(126).as_bytes()).unwrap();
    check_read(deep(127).as_bytes(), None, Code::InvalidJson);
}

/// `changes` on the valid task give these `field code` pairs.
#[track_caller]
fn check(changes: &Value, expected: &[&str]) {
    let tree = Tree::of(&json!([
        {"path": "src", "type": "dir"},
        {"path": "notes.txt", "type": "file"},
        {"path": "crates/a", "type": "dir"},
        {"path": "in", "type": "symlink", "target": "crates/a"},
        {"path": "out", "type": "symlink", "target": "/tmp"},
        {"path": "loop", "type": "symlink", "target": "loop"},
        {"path": "back", "type": "symlink", "target": "../{NAME}/src"},
        {"path": "lit*", "type": "symlink", "target": "/tmp"},
        {"path": "C:", "type": "dir"},
        {"path": "a\\b", "type": "file"},
    ]));
    let problems = validate(&document(&task(changes)), &tree);
    let found: Vec<_> = found_problems(&problems).into_iter().map(|(f, c)| format!("{} {c}", f.unwrap())).collect();
    assert_eq!(found, expected, "{changes}");
}

#[test]
fn paths_of_scope() {
    #[track_caller]
    fn scope(path: &str, code: &str) {
        let expected = format!("scope[0] {code}");
        let expected = if code.is_empty() { vec![] } else { vec![expected.as_str()] };
        check(&json!({"scope": [path]}), &expected);
    }
    for path in [
        "back/x",
        "in/../a",
        "./src/.",
        "..config",
        "...",
        "a?b",
        "~name",
        "{a}",
        "c:x",
        "lit",
        "C:",
        "C:/new",
        "a\\b",
        "notes.txt/x",
    ] {
        let is_pattern = path == "C:/new";
        scope(path, if is_pattern { "path_pattern" } else { "" });
    }
    for path in [
        "*",
        "src/*",
        "a\\c",
        "..\\x",
        "~",
        "~/x",
        "Z:",
        "z:\\x",
        "out/*.rs",
        "loop/*",
        "lit*/x",
        "lit*/../*",
        "a\\b/../out/x",
    ] {
        scope(path, "path_pattern");
    }
    for path in [
        "out",
        "out/../src",
        "in/../../../x",
        "loop",
        "lit*",
        "lit*/..",
        "new/../out",
        "../project/src",
        "src/../..",
        "../*",
    ] {
        scope(path, "path_outside_project");
    }
    for (path, code) in
        [("/", "path_absolute"), ("/*", "path_absolute"), ("/\0", "invalid_path"), ("\u{3000}", "blank_field")]
    {
        scope(path, code);
    }
    // F201
    scope(&"a/".repeat(2_047), "");
    scope(&"a/".repeat(2_500), "invalid_path");
    for path in ["src/..", "new/../", "./src/.././", "src/a/../.."] {
        scope(path, "path_outside_project");
    }
    scope("src/../in", "");
}

#[test]
fn working_directories() {
    #[track_caller]
    fn dir(path: &str, code: &str) {
        let expected = format!("working_dir {code}");
        let expected = if code.is_empty() { vec![] } else { vec![expected.as_str()] };
        check(&json!({"working_dir": path}), &expected);
    }
    let under = |rest: &str| format!("{ROOT}{rest}");
    for path in [".", "in", "back", "in/..", "./crates//a/", "C:", &under(""), &under("/"), &under("/in/../a")] {
        dir(path, "");
    }
    for path in [
        "out",
        "in/../../..",
        "../project",
        &under("/.."),
        &under("/../project"),
        &under("2"),
        "/",
        "/tmp",
        "/home//u/../u/project",
    ] {
        dir(path, "path_outside_project");
    }
    for path in ["nowhere", "nowhere/../src", "src/*", "loop", "loop/x", "notes.txt/x", "notes.txt/..", "a\\c"] {
        dir(path, "path_not_found");
    }
    for path in ["notes.txt", &under("/notes.txt"), "a\\b"] {
        dir(path, "path_not_directory");
    }
}

#[test]
fn rules_are_independent() {
    check(
        &json!({"task_type": "BUILD", "required_role": "writer", "gate": "review-after"}),
        &["task_type unknown_value", "gate_reason gate_reason_required"],
    );
    check(
        &json!({"task_type": "REVIEW", "required_role": "x", "gate": "review-after"}),
        &["required_role unknown_value", "gate gate_not_allowed", "gate_reason gate_reason_required"],
    );
    check(&json!({"task_type": "REVIEW", "required_role": "any", "gate": "x"}), &["gate unknown_value"]);
    check(&json!({"gate": "", "task_type": " "}), &["task_type unknown_value", "gate unknown_value"]);
    check(&json!({"gate_reason": " "}), &[]);
    check(&json!({"gate_reason": 7}), &["gate_reason wrong_type"]);
    check(&json!({"created_by": ""}), &["created_by wrong_creator"]);
    check(&json!({"parent_task_id": "\u{a0}"}), &["parent_task_id blank_field"]);
    check(&json!({"preferred_agent": "", "plan_ref": "a\nb"}), &[]);
    check(&json!({"created_at": "\n"}), &["created_at blank_field"]);
    check(&json!({"instruction": "🦀".repeat(8_192)}), &[]);
    check(&json!({"instruction": "🦀".repeat(8_192) + "x"}), &["instruction field_too_long"]);
    let mut many = vec![json!("src"); 33];
    many[32] = json!("/x");
    check(
        &json!({"scope": many, "acceptance_criteria": [null]}),
        &["scope too_many_items", "scope[32] path_absolute", "acceptance_criteria[0] wrong_type"],
    );
}

#[test]
fn every_field_can_be_missing_at_once() {
    let document = Document::parse(br#"{"status":"PENDING"}"#).unwrap();
    let found: Vec<_> = validate(&document, &Tree::with_src()).into_iter().map(|p| p.field.unwrap()).collect();
    let required = [
        "schema_version",
        "task_id",
        "task_type",
        "required_role",
        "instruction",
        "working_dir",
        "scope",
        "acceptance_criteria",
        "created_at",
        "created_by",
    ];
    assert_eq!(found, required);
}

#[test]
fn schema_versions() {
    for (version, code) in [
        ("3", None),
        ("3.0", Some(Code::WrongType)),
        ("3e0", Some(Code::WrongType)),
        ("\"3\"", Some(Code::WrongType)),
        ("null", Some(Code::WrongType)),
        ("-0", Some(Code::UnsupportedSchemaVersion)),
        ("-3", Some(Code::UnsupportedSchemaVersion)),
        ("33", Some(Code::UnsupportedSchemaVersion)),
        ("99999999999999999999999", Some(Code::UnsupportedSchemaVersion)),
    ] {
        for (status, action) in [("PENDING", Action::Reject), ("RUNNING", Action::Leave), ("IDLE", Action::None)] {
            let text = VALID.replace(": 3,", &format!(": {version},")).replace("PENDING", status);
            let document = Document::parse(text.as_bytes()).unwrap();
            let found = lint(Reading::Readable(&document), &Tree::with_src(), Ownership::Owned);
            let codes: Vec<_> = found.problems.iter().map(|problem| problem.code).collect();
            match code.filter(|_| action != Action::None) {
                None => assert_eq!(codes, [], "{text}"),
                Some(code) => assert_eq!((found.action, codes), (action, vec![code]), "{text}"),
            }
        }
    }
}

#[test]
fn running_is_an_orphan_only_without_an_owner_and_nothing_is_none() {
    let running = document(&task(&json!({"status": "RUNNING"})));
    let tree = Tree::with_src();
    let action = |reading, ownership| lint(reading, &tree, ownership).action;
    assert_eq!(action(Reading::Readable(&running), Ownership::Unowned), Action::Orphan);
    assert_eq!(action(Reading::Readable(&running), Ownership::Owned), Action::None);
    assert_eq!(action(Reading::Missing, Ownership::Unowned), Action::None);
    let problem = Document::parse(b"").unwrap_err();
    let found = lint(Reading::Unreadable(&problem), &tree, Ownership::Unowned);
    assert_eq!((found.action, found.status, found.problems), (Action::Leave, None, vec![problem]));
}

#[test]
fn messages_name_the_item_and_the_remedy() {
    #[track_caller]
    fn message(changes: &Value, expected: &str) {
        let problems = validate(&document(&task(changes)), &Tree::with_src());
        assert_eq!(problems[0].message, expected);
    }
    message(
        &json!({"task_type": "implement"}),
        "`task_type` is \"implement\"; it must be one of `IMPLEMENT`, `TEST`, `DOCUMENT`, `CONSULT`, `REVIEW` (did you mean `IMPLEMENT`?)",
    );
    message(
        &json!({"scope": ["src/*"]}),
        "`scope[0]` is \"src/*\", and nothing has that name; patterns are not expanded: name the folder, it covers all beneath it",
    );
    message(
        &json!({"created_at": "yester\u{1b}day"}),
        "`created_at` is \"yester\\u{1b}day\", which is no date or time; write it like `2026-11-30T08:00:00Z`",
    );
}

#[test]
fn a_valid_task_is_read_whole() {
    let changes =
        json!({"gate": "review-after", "gate_reason": "auth", "plan_ref": "p", "preferred_agent": "\u{1F980}"});
    let document = document(&task(&changes));
    let planner = planner(&document, &Tree::with_src()).unwrap();
    assert_eq!((planner.task_id.as_str(), planner.gate.as_str(), planner.scope.len()), ("T-1", "review-after", 1));
    assert_eq!(planner.preferred_agent.as_deref(), Some("🦀"));
    let json: Value = serde_json::from_str(&document.planner_json()).unwrap();
    assert_eq!((json["plan_ref"].as_str(), json.get("status")), (Some("p"), None));
    assert!(!document.planner_json().contains('\n'));
}

#[test]
fn a_hostile_list_makes_no_endless_answer() {
    let document = document(&task(&json!({"scope": vec![0; 60_000]})));
    assert_eq!(validate(&document, &Tree::with_src()).len(), 1 + limits::PROBLEMS_OF_A_LIST);
}
