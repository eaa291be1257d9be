//! All that is known of one task: the journal's rows, and the queue file for a task that has not ended.

use serde_json::{Map, Value, json};
use team::Home;
use wire::control::HistoryList;
use wire::error::ErrorCode;
use wire::limits::HISTORY_MAX;
use wire::status::ProjectStatus;

use crate::daemon::Daemon;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::packets::{self, OfGoal};
use crate::queue_file::{self, QUEUE, QueueFile};

/// What was found.
pub(crate) struct Found {
    pub(crate) task_id: String,
    pub(crate) status: String,
    /// Project, dispatch, times, parent, children.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// The evidence as it stands in `tasks.json` (D63).
    pub(crate) report: Value,
    planner: Map<String, Value>,
    outcome: Map<String, Value>,
    children: Vec<String>,
    /// Its packets by round and leg, or why they cannot be read.
    pub(crate) packets: Result<OfGoal, Failure>,
}

/// Collects a task, the one in the queue if none is named.
pub(crate) async fn task(
    daemon: &Daemon,
    project: &ProjectStatus,
    id: Option<&str>,
    team_home: &Home,
) -> Result<Found, Failure> {
    let current =
        queue_file::open_task(project.path.as_ref()).map(|(id, _)| id).or_else(|| project.queue.task_id.clone());
    let id = id.or(current.as_deref()).ok_or_else(|| {
        Failure::new(Exit::Refused, format!("no task stands in the queue of {}", project.path))
            .code(ErrorCode::NoTask.as_str())
            .hint("`handoff history` lists those that were: name one")
    })?;
    let rows = rows(daemon, &project.path, None).await?;
    let is_end = |row: &&Map<String, Value>| text(row, "kind") == "ended" && text(row, "task_id") == id;
    // Between the newest rows of an old task there can be more of others than one answer holds.
    let ended = match rows.iter().find(is_end) {
        Some(row) => Some(row.clone()),
        None => self::rows(daemon, &project.path, Some(id)).await?.iter().find(is_end).cloned(),
    };
    let in_queue = in_queue(&project.path).filter(|(whole, _)| text(whole, "task_id") == id);
    let Some(documents) = in_queue.or_else(|| ended.map(|row| (row.clone(), planner_of(&row)))) else {
        return Err(unknown(id, project, team_home));
    };
    Ok(found(&project.path, id, documents, children(&rows, id), team_home))
}

/// The task in the queue file, for when no daemon can tell more: only if it is the one that is meant, or none is named.
pub(crate) fn without_daemon(project: &str, id: Option<&str>, team_home: &Home) -> Option<Found> {
    let documents = in_queue(project)?;
    let there = text(&documents.0, "task_id");
    let is_meant = !there.is_empty() && id.is_none_or(|id| id == there);
    is_meant.then(|| found(project, &there, documents, Vec::new(), team_home))
}

/// What the whole document (or journal row) and the planner's part of it say.
fn found(
    project: &str,
    id: &str,
    (mut whole, planner): (Map<String, Value>, Map<String, Value>),
    children: Vec<String>,
    team_home: &Home,
) -> Found {
    let packets = packets_of(team_home, id);
    let mut facts = vec![("project", project.to_owned())];
    for (name, key) in [("dispatch", "dispatch_id"), ("started", "started_at"), ("completed", "completed_at")] {
        facts.extend(Some((name, text(&whole, key))).filter(|(_, value)| !value.is_empty()));
    }
    facts.extend(Some(("parent", text(&planner, "parent_task_id"))).filter(|(_, parent)| !parent.is_empty()));
    facts.extend((!children.is_empty()).then(|| ("children", children.join(", "))));
    let report = whole.remove("report").unwrap_or_default();
    if whole.get("verdict").is_none_or(Value::is_null)
        && let Some(verdict) = verdict(&report)
    {
        whole.insert("verdict".to_owned(), verdict.into());
    }
    let status = text(&whole, "status");
    Found { task_id: id.to_owned(), status, facts, report, planner, outcome: whole, children, packets }
}

/// The first line of what the gate's agent said: the journal has it in a field, `tasks.json` in its report only.
fn verdict(report: &Value) -> Option<&str> {
    let said = report["gate_evidence"][0]["result"].as_str()?;
    said.lines().map(str::trim).find(|line| !line.is_empty())
}

fn packets_of(team_home: &Home, id: &str) -> Result<OfGoal, Failure> {
    if team::is_path_part(id) { packets::of_goal(team_home, id) } else { Ok(OfGoal::default()) }
}

/// A goal can have packets before its task is in a queue.
fn unknown(id: &str, project: &ProjectStatus, team_home: &Home) -> Failure {
    let message = format!("no task {id} is known in {}", project.path);
    let failure = Failure::new(Exit::Refused, message).code(ErrorCode::NoTask.as_str());
    let failure = failure.hint("`handoff history` lists those that are");
    match packets_of(team_home, id) {
        Ok(found) if !found.legs.is_empty() => {
            failure.hint(format!("`handoff packet list {id}` lists the packets of that goal"))
        }
        _ => failure,
    }
}

impl Found {
    /// What the gate's reviewer began with, if there was one.
    pub(crate) fn verdict(&self) -> Option<&str> {
        self.outcome.get("verdict").and_then(Value::as_str)
    }

    /// The planner's fields that say something, as text.
    pub(crate) fn planner(&self) -> impl Iterator<Item = (String, String)> {
        let shown = |key: &String| !matches!(key.as_str(), "task_id" | "parent_task_id" | "schema_version" | "status");
        self.planner.iter().filter(move |(key, _)| shown(key)).filter_map(as_text)
    }

    /// How it ended.
    pub(crate) fn outcome(&self) -> impl Iterator<Item = (String, String)> {
        ["result", "error", "verdict", "files_changed", "tests_run"]
            .into_iter()
            .filter_map(|key| self.outcome.get_key_value(key).and_then(as_text))
    }

    /// All of it as one document.
    pub(crate) fn json(&self) -> Value {
        let outcome = |key: &str| self.outcome.get(key).cloned().unwrap_or_default();
        let fact = |name: &str| self.facts.iter().find(|(fact, _)| *fact == name).map(|(_, value)| value.as_str());
        json!({
            "task_id": self.task_id, "status": self.status, "project": fact("project"), "planner": self.planner,
            "dispatch_id": fact("dispatch"), "started_at": outcome("started_at"), "completed_at": outcome("completed_at"),
            "result": outcome("result"), "error": outcome("error"), "verdict": outcome("verdict"),
            "files_changed": outcome("files_changed"), "tests_run": outcome("tests_run"),
            "report": self.report, "evidence": super::evidence::json(&self.report),
            "parent_task_id": fact("parent"), "children": self.children, "packets": self.packets_json(),
        })
    }

    /// The legs, with `{round, error}` for a round, or `{error}` for all, that cannot be read: a home that cannot be read is no reason to show nothing.
    fn packets_json(&self) -> Value {
        match &self.packets {
            Ok(found) => found.json().into(),
            Err(failure) => json!({"error": failure.message}),
        }
    }
}

async fn rows(daemon: &Daemon, project: &str, task: Option<&str>) -> Result<Vec<Map<String, Value>>, Failure> {
    let limit = u64::try_from(HISTORY_MAX).ok();
    let call = HistoryList { project: Some(project.to_owned()), task_id: task.map(str::to_owned), limit };
    let rows = daemon.call(&call).await?.rows;
    Ok(rows.iter().filter_map(|row| serde_json::from_str(row.get()).ok()).collect())
}

/// The document in the project's folder: all its members, and the planner's among them.
fn in_queue(project: &str) -> Option<(Map<String, Value>, Map<String, Value>)> {
    let root = queue_file::open_root(project.as_ref()).ok()?;
    let file = QueueFile::read(&root, QUEUE).ok()?;
    let document = file.document()?;
    let mut whole: Map<String, Value> = serde_json::from_str(document.text().trim_start_matches('\u{feff}')).ok()?;
    if let Some(dispatch) = document.dispatch_id() {
        whole.insert("dispatch_id".to_owned(), dispatch.to_string().into());
    }
    Some((whole, serde_json::from_str(&document.planner_json()).ok()?))
}

fn planner_of(row: &Map<String, Value>) -> Map<String, Value> {
    row.get("planner").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Tasks that name this one as their parent, oldest first.
fn children(rows: &[Map<String, Value>], id: &str) -> Vec<String> {
    let mut children: Vec<String> = Vec::new();
    for row in rows.iter().rev() {
        let parent = match text(row, "parent_task_id") {
            parent if parent.is_empty() => text(&planner_of(row), "parent_task_id"),
            parent => parent,
        };
        let child = text(row, "task_id");
        if parent == id && !children.contains(&child) {
            children.push(child);
        }
    }
    children
}

fn text(row: &Map<String, Value>, key: &str) -> String {
    row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn as_text((key, value): (&String, &Value)) -> Option<(String, String)> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => return None,
        Value::Array(items) => {
            let items: Vec<String> =
                items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect();
            if items.len() == 1 { items.concat() } else { format!("- {}", items.join("\n- ")) }
        }
        other => other.to_string(),
    };
    Some((key.clone(), text))
}
