//! A session: attached to one project, accepts each dispatch and ends it with an ERROR report.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::client::Client;
use crate::project::Project;

/// An attached session that is idle between tasks.
pub(crate) struct Session {
    client: Client,
}

/// A message that has arrived.
#[derive(Debug)]
pub(crate) struct Arrived {
    /// When its line was read.
    pub(crate) at: Instant,
    /// Its length in bytes, line end included.
    pub(crate) bytes: usize,
    id: Value,
    dispatch: Value,
    /// The task.
    pub(crate) task_id: String,
}

impl Session {
    /// Attaches and becomes the owner.
    ///
    /// # Errors
    /// The daemon refuses.
    pub(crate) fn attach(socket: &Path, project: &Project) -> Result<Self> {
        let mut client = Client::connect(socket)?;
        let params = json!({
            "session_id": "bench", "project": project.root(), "mode": "tui", "reason": "startup", "idle": true,
            "host": {"name": "benches", "version": "1"}, "known_dispatch": null
        });
        let answer = client.call("session.attach", &params).context("cannot attach")?;
        ensure!(answer["ownership"] == "owner", "the session is not the owner: {answer}");
        Ok(Self { client })
    }

    /// Waits for the next message; the time is taken before anything is parsed.
    ///
    /// # Errors
    /// None comes.
    pub(crate) fn wait_dispatch(&mut self) -> Result<Arrived> {
        loop {
            self.client.wait_line()?;
            let at = Instant::now();
            let mut value = self.client.take_line()?;
            if value["method"] == "task.dispatch" {
                let params = &value["params"];
                let task_id = params["task_id"].as_str().unwrap_or_default().to_owned();
                let (dispatch, bytes) = (params["dispatch_id"].clone(), self.client.line_bytes());
                return Ok(Arrived { at, bytes, id: value["id"].take(), dispatch, task_id });
            }
        }
    }

    /// Accepts the message and reports that the task failed; when it returns the session is idle again.
    ///
    /// # Errors
    /// The report is refused.
    pub(crate) fn finish(&mut self, arrived: &Arrived) -> Result<()> {
        let id = &arrived.dispatch;
        self.client.answer(&arrived.id, &json!({"accepted": true}))?;
        let report = json!({
            "status": "ERROR", "worker": null, "gate_evidence": [],
            "async_status": {"checked": true, "pending_run_ids": [], "failed_run_ids": []},
            "files_changed": [], "tests_run": [], "result": null, "error": "measured"
        });
        self.client.call("task.report", &json!({"dispatch_id": id, "report": report}))?;
        self.client.notify("session.settled", &json!({"dispatch_id": id}))?;
        self.client.notify("session.state", &json!({"state": "idle"}))?;
        self.client.call("session.ping", &json!({})).map(drop)
    }
}
