//! A project's folder as a table, and documents to begin with. No assertions here.

use std::collections::{HashMap, VecDeque};

use queue::{Kind, ProjectPaths, Resolution};
use serde_json::Value;

pub(crate) const ROOT: &str = "/home/u/project";
const NAME: &str = "project";

/// A valid PENDING task in the usual layout.
pub(crate) const VALID: &str = r#"{
  "schema_version": 3,
  "status": "PENDING",
  "task_id": "T-1",
  "task_type": "IMPLEMENT",
  "required_role": "writer",
  "instruction": "Add a flag.",
  "working_dir": ".",
  "scope": ["src"],
  "acceptance_criteria": ["it works"],
  "created_at": "2026-11-30T08:00:00Z",
  "created_by": "claude-code"
}
"#;

#[derive(Clone)]
enum Node {
    Directory,
    File,
    Link(String),
}

/// A file tree that answers as the kernel would.
pub(crate) struct Tree(HashMap<String, Node>);

impl Tree {
    /// The tree of a vector: a list of `{path, type, content?, target?}`.
    pub(crate) fn of(entries: &Value) -> Self {
        let mut tree = Self(HashMap::new());
        tree.add("/tmp", Node::Directory);
        tree.add(ROOT, Node::Directory);
        for entry in entries.as_array().unwrap() {
            let node = match entry["type"].as_str().unwrap() {
                "dir" => Node::Directory,
                "file" => Node::File,
                "symlink" => Node::Link(placed(entry["target"].as_str().unwrap())),
                other => panic!("unknown type {other}"),
            };
            tree.add(&format!("{ROOT}/{}", entry["path"].as_str().unwrap()), node);
        }
        tree
    }

    /// A tree with the folder `src` only.
    pub(crate) fn with_src() -> Self {
        Self::of(&serde_json::json!([{"path": "src", "type": "dir"}]))
    }

    /// What stands at a path without links; `/` is the empty one.
    fn kind(&self, path: &str) -> Kind {
        match self.0.get(path) {
            None if path.is_empty() => Kind::Directory,
            Some(Node::Directory) => Kind::Directory,
            Some(_) => Kind::Other,
            None => Kind::Missing,
        }
    }

    fn add(&mut self, path: &str, node: Node) {
        for (at, _) in path.match_indices('/').skip(1) {
            self.0.entry(path[..at].to_owned()).or_insert(Node::Directory);
        }
        self.0.insert(path.to_owned(), node);
    }
}

/// Replaces the placeholders of the vectors.
pub(crate) fn placed(text: &str) -> String {
    text.replace("{PROJECT}", ROOT).replace("{NAME}", NAME)
}

impl ProjectPaths for Tree {
    fn root(&self) -> &str {
        ROOT
    }

    fn resolve(&self, path: &str) -> Resolution {
        let mut at = if path.starts_with('/') { String::new() } else { ROOT.to_owned() };
        let mut ahead: VecDeque<String> = path.split('/').map(ToOwned::to_owned).collect();
        let (mut is_missing, mut links) = (false, 0);
        while let Some(part) = ahead.pop_front() {
            if part.is_empty() {
                continue;
            }
            is_missing |= self.kind(&at) != Kind::Directory;
            match part.as_str() {
                "." => continue,
                ".." => {
                    at.truncate(at.rfind('/').unwrap_or(0));
                    continue;
                }
                _ => {}
            }
            let next = format!("{at}/{part}");
            match self.0.get(&next) {
                Some(Node::Link(target)) => {
                    links += 1;
                    if links > 40 {
                        return Resolution::Loop;
                    }
                    if target.starts_with('/') {
                        at.clear();
                    }
                    for part in target.split('/').rev() {
                        ahead.push_front(part.to_owned());
                    }
                    continue;
                }
                Some(_) => {}
                None => is_missing = true,
            }
            at = next;
        }
        let kind = if is_missing { Kind::Missing } else { self.kind(&at) };
        match at.strip_prefix(ROOT) {
            Some("") => Resolution::Inside { relative: ".".into(), kind },
            Some(rest) if rest.starts_with('/') => Resolution::Inside { relative: rest[1..].into(), kind },
            _ => Resolution::Outside { exists: kind != Kind::Missing },
        }
    }
}

/// The valid task with members set; null removes one. Compact, keys in order.
pub(crate) fn task(changes: &Value) -> Value {
    let mut task: Value = serde_json::from_str(VALID).unwrap();
    let members = task.as_object_mut().unwrap();
    for (key, value) in changes.as_object().unwrap() {
        if value.is_null() {
            members.shift_remove(key);
        } else {
            members.insert(key.clone(), value.clone());
        }
    }
    task
}

/// A document of a JSON value.
pub(crate) fn document(value: &Value) -> queue::Document {
    queue::Document::parse(value.to_string().as_bytes()).unwrap()
}

/// The rows of a vector file.
pub(crate) fn vectors(name: &str) -> Vec<Value> {
    let path = format!("{}/../../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The problems that a row expects, as (field, code).
pub(crate) fn expected_problems(expect: &Value) -> Vec<(Option<String>, String)> {
    let problems = expect["problems"].as_array().cloned().unwrap_or_default();
    problems
        .iter()
        .map(|problem| (problem["field"].as_str().map(Into::into), problem["code"].as_str().unwrap().into()))
        .collect()
}

/// Problems in the same form, after a look at their messages.
#[track_caller]
pub(crate) fn found_problems(problems: &[queue::Problem]) -> Vec<(Option<String>, String)> {
    for problem in problems {
        let message = &problem.message;
        match &problem.field {
            Some(field) => assert!(message.starts_with(&format!("`{field}` ")), "{message}"),
            None => assert!(!message.is_empty()),
        }
        assert!(!message.ends_with('.'), "{message}");
        assert!(!message.contains(char::is_control), "{message:?}");
    }
    problems.iter().map(|problem| (problem.field.clone(), problem.code.to_string())).collect()
}
