//! The durable write of `handoff submit` without a daemon (D64): over IDLE, COMPLETE, ERROR or nothing, never over a task
//! that waits or runs.

use std::path::Path;

use queue::{Field, Status, Submission};
use store::sys::Sys;
use store::{Expected, IoFault, PiFolder, ProjectDir, ReplaceError, Settled};
use wire::control::SubmitResult;
use wire::error::ErrorCode;
use wire::status::TaskStatus;

use super::{Written, validate};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::queue_file::{self, QueueFile};

/// Validates the task and writes it as PENDING.
pub(crate) fn write(ctx: &Context, root: &Path, task: &Submission) -> Result<Written, Failure> {
    // Looked at before anything is made.
    let looked_at = queue_file::open_root(root)?;
    let file = QueueFile::read(&looked_at, queue_file::QUEUE)?;
    let (existing, expected) = match &file {
        QueueFile::Missing => (None, Expected::Absent),
        QueueFile::Readable(document, hash) => (Some(document.as_ref()), Expected::Bytes(*hash)),
        QueueFile::Unreadable(problem) => {
            return Err(Failure::new(Exit::Refused, "the queue cannot be read and is left alone")
                .problems([problem.message.clone()]));
        }
    };
    if let Some(holder) = existing.filter(|document| is_busy(document.status())) {
        let id = holder.string(Field::TaskId).map(|id| format!("{id}, ")).unwrap_or_default();
        return Err(busy(&format!("the queue holds a task already ({id}{})", holder.status().as_str())));
    }
    let (document, mut remarks) = validate(ctx, &looked_at, existing, task)?;
    let project =
        ProjectDir::open(root, &Sys::real(), PiFolder::Create).map_err(|error| Failure::not_opened(&error))?;
    let now = ctx.now();
    // A daemon may start at this moment.
    match project.replace_unowned(expected, document.text().as_bytes(), now) {
        Ok(settled) => remarks.extend(about(settled)),
        Err(ReplaceError::Changed { .. }) => return Err(busy("somebody else wrote the queue at the same time")),
        Err(error) => return Err(Failure::new(Exit::Refused, error.to_string())),
    }
    let result = SubmitResult {
        task_id: document.string(Field::TaskId).unwrap_or_default().into_owned(),
        fingerprint: document.fingerprint().to_string(),
        status: TaskStatus::Pending,
        parent_task_id: None,
    };
    Ok(Written { project: root.display().to_string(), result, remarks })
}

const fn is_busy(status: Status) -> bool {
    matches!(status, Status::Pending | Status::Running)
}

fn busy(message: &str) -> Failure {
    Failure::new(Exit::Refused, message).code(ErrorCode::QueueBusy.as_str()).hint("`handoff lint` says what is there")
}

/// What became of the displaced file, if that needs a word. The task stands in any case; a leftover is removed when a daemon
/// starts.
fn about(settled: Result<Settled, IoFault>) -> Option<String> {
    match settled {
        Ok(Settled::Clean) => None,
        Ok(Settled::Lost { kept_as }) => {
            Some(format!("somebody wrote to the old queue meanwhile; that is kept as {}", kept_as.display()))
        }
        Err(fault) => Some(fault.to_string()),
    }
}
