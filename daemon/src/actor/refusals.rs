//! The state machine's refusals as errors on the wire: a stable code, and a sentence that names the remedy.

use lifecycle::Refusal as Why;
use wire::error::{ErrorCode, Refusal};
use wire::status::ProjectStatus;

/// The dispatch is not known here.
pub(super) fn no_such_dispatch() -> Refusal {
    Refusal::new(ErrorCode::NoSuchDispatch, "no task with this dispatch id is known here; nothing was recorded")
}

/// The project is blocked, and by what.
pub(super) fn blocked(project: &ProjectStatus) -> Refusal {
    let why = project.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let next = project.next.as_ref().map(|next| format!("; `{next}` is next")).unwrap_or_default();
    Refusal::new(ErrorCode::ProjectBlocked, format!("the project is {}{why}{next}", project.state))
}

/// One refusal on the wire. `NotRunning` is looked up in the journal before it comes here.
pub(super) fn refusal(why: &Why) -> Refusal {
    let (code, message) = match why {
        Why::Disabled => {
            (ErrorCode::ProjectDisabled, "the project is disabled; `handoff enable` takes it up again".into())
        }
        Why::Blocked => (ErrorCode::ProjectBlocked, "the project is blocked; `handoff status` says by what".into()),
        Why::Held => (ErrorCode::ProjectHeld, "the project is held; `handoff resume` lets it go on".into()),
        Why::NotOwner => (ErrorCode::NotOwner, "the task belongs to another session".into()),
        Why::NotRunning(_) => return no_such_dispatch(),
        Why::Cancelled => {
            (ErrorCode::Cancelled, "the task is being cancelled; its report is not taken any more".into())
        }
        Why::QueueChanged => {
            (ErrorCode::QueueChanged, "tasks.json no longer holds this task; `handoff resume` gives the task up".into())
        }
        Why::QueueBusy => (ErrorCode::QueueBusy, "tasks.json holds a task that has not ended".into()),
        Why::QueueUnreadable => {
            (ErrorCode::QueueUnreadable, "tasks.json cannot be read; `handoff lint` says why".into())
        }
        Why::QueueFull => (ErrorCode::QueueFull, "tasks.json has no room for RUNNING or ERROR, that of a cancel included: make the instruction, or members of your own, shorter".into()),
        Why::CannotWrite(words) => (ErrorCode::CannotWrite, format!("nothing was written: {words}")),
        Why::ReportTooLarge { limit, size } => {
            let message =
                format!("with this report tasks.json would have {size} bytes; {limit} are allowed: send a shorter one");
            return Refusal::report_too_large(message, *limit as u64, *size as u64);
        }
        Why::TaskMismatch(Some(id)) => (ErrorCode::TaskMismatch, format!("the task there is {}", shown(id))),
        Why::TaskMismatch(None) => (ErrorCode::TaskMismatch, "another task is there".into()),
        Why::TaskRunning => (ErrorCode::TaskRunning, "a task is RUNNING; wait for its end or cancel it".into()),
        Why::NoTask => (ErrorCode::NoTask, "no such task is known".into()),
        Why::NoSuchSession => (ErrorCode::NoSuchSession, "no such session stands by here".into()),
        Why::LockLive(verdict) => {
            let end = verdict.holder.pid.map(|pid| format!("; end process {pid} instead")).unwrap_or_default();
            (ErrorCode::LockLive, format!("{}{end}", verdict.text))
        }
        Why::ShuttingDown => (ErrorCode::ShuttingDown, "the daemon is stopping".into()),
    };
    Refusal::new(code, message)
}

/// Foreign text in a message: quoted as JSON, so that it is one line and its end can be seen.
fn shown(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
