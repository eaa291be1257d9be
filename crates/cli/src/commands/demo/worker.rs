//! The scripted worker of the demo: a session that really attaches, accepts, does its work and reports.

use std::path::Path;

use serde_json::{Value, json};
use wire::Raw;
use wire::calls::DaemonRequest;
use wire::client::{Client, ClientError, FromDaemon, Inbox};
use wire::daemon_calls::{DispatchResult, Duplicate, TaskDispatch};
use wire::session::{Attach, AttachReason, Host, KnownDispatch, Mode, Settled, TaskReport};

use crate::exit::Exit;
use crate::failure::Failure;

/// What the worker saw and said.
pub(super) struct Worked {
    pub(super) message: String,
    pub(super) report: String,
}

/// Does one task.
pub(super) async fn work(client: &Client, mut inbox: Inbox, root: &Path) -> Result<Worked, Failure> {
    client.call(&attach(root)).await.map_err(|error| failure(&error))?;
    let dispatch = loop {
        match inbox.next().await {
            Some(FromDaemon::Request { id, call: DaemonRequest::TaskDispatch(dispatch) }) => {
                let accepted = DispatchResult::Accepted { duplicate: Duplicate::No };
                client.answer::<TaskDispatch>(&id, &accepted).await.map_err(|error| failure(&error))?;
                break dispatch;
            }
            Some(_) => {}
            None => return Err(Failure::new(Exit::NotGood, "the demo's daemon went away")),
        }
    };
    greet(root)?;
    let report = report();
    let call = TaskReport {
        dispatch_id: dispatch.dispatch_id.clone(),
        report: Raw::from_value(&report).map_err(Failure::usage)?,
        observed: None,
    };
    client.call(&call).await.map_err(|error| failure(&error))?;
    let settled = Settled { dispatch_id: Some(dispatch.dispatch_id), aborted: false, error: None };
    client.notify(&settled).await.map_err(|error| failure(&error))?;
    Ok(Worked { message: dispatch.message, report: serde_json::to_string_pretty(&report).unwrap_or_default() })
}

fn attach(root: &Path) -> Attach {
    Attach {
        session_id: "demo".to_owned(),
        session_file: None,
        project: root.display().to_string(),
        mode: Mode::Exec,
        reason: AttachReason::Startup,
        idle: true,
        host: Host { name: "demo".to_owned(), version: crate::VERSION.to_owned() },
        known_dispatch: KnownDispatch::None,
        member: None,
    }
}

fn greet(root: &Path) -> Result<(), Failure> {
    use std::io::Write as _;
    let path = root.join("src/greeting.txt");
    std::fs::File::create(&path)
        .and_then(|mut file| file.write_all(b"Hello.\n"))
        .map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())))
}

fn report() -> Value {
    let run = |agent: &str, run_id: &str, result: &str| {
        json!({
            "agent": agent, "run_id": run_id, "status": "COMPLETE", "result": result, "model": "demo/scripted",
            "thinking": "off",
        })
    };
    let mut review = run("handoff-reviewer", "r-2", "APPROVED: the file says hello");
    review["gate"] = "review-after".into();
    review["independent"] = true.into();
    json!({
        "status": "COMPLETE",
        "worker": run("handoff-writer", "r-1", "wrote src/greeting.txt"),
        "gate_evidence": [review],
        "async_status": {"checked": true, "pending_run_ids": [], "failed_run_ids": []},
        "files_changed": ["src/greeting.txt"],
        "tests_run": [],
        "result": "The greeting is there.",
        "error": null,
    })
}

fn failure(error: &ClientError) -> Failure {
    let problems: Vec<String> = error.problems().into_iter().map(|problem| problem.message).collect();
    Failure::new(Exit::NotGood, error.to_string()).problems(problems)
}
