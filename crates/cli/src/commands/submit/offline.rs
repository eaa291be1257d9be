//! The durable write of `handoff submit` without a daemon (D64): over IDLE, COMPLETE, ERROR or nothing, never over a task
//! that waits or runs.

use std::path::Path;

use jiff::Timestamp;
use queue::{Document, Field, Status, Submission};
use store::sys::Sys;
use store::{Expected, PiFolder, ProjectDir, ReplaceError, Replaced, Settled};
use wire::control::SubmitResult;
use wire::status::TaskStatus;

use super::validate;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::queue_file::{self, QueueFile};

/// Validates the task and writes it as PENDING.
pub(crate) fn write(ctx: &Context, root: &Path, task: &Submission) -> Result<SubmitResult, Failure> {
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
    if let Some(status) = existing.map(Document::status).filter(|status| is_busy(*status)) {
        return Err(busy(&format!("the queue holds a task already ({})", status.as_str())));
    }
    let document = validate(ctx, &looked_at, existing, task)?;
    let project = ProjectDir::open(root, &Sys::real(), PiFolder::Create).map_err(Failure::usage)?;
    let now = ctx.now();
    match project.replace_queue(expected, document.text().as_bytes(), now) {
        Ok(replaced) => settle(ctx, &project, &replaced, now)?,
        Err(ReplaceError::Changed { .. }) => return Err(busy("somebody else wrote the queue at the same time")),
        Err(error) => return Err(Failure::new(Exit::Refused, error.to_string())),
    }
    Ok(SubmitResult {
        task_id: document.string(Field::TaskId).unwrap_or_default().into_owned(),
        fingerprint: document.fingerprint().to_string(),
        status: TaskStatus::Pending,
        parent_task_id: None,
    })
}

const fn is_busy(status: Status) -> bool {
    matches!(status, Status::Pending | Status::Running)
}

fn busy(message: &str) -> Failure {
    Failure::new(Exit::Refused, message).hint("`handoff lint` says what is there")
}

/// Nothing waits for a session here: the displaced file is looked at once more and goes.
fn settle(ctx: &Context, project: &ProjectDir, replaced: &Replaced, now: Timestamp) -> Result<(), Failure> {
    let Some(displaced) = &replaced.displaced else { return Ok(()) };
    match displaced.settle(project, now) {
        Ok(Settled::Clean) => Ok(()),
        Ok(Settled::Lost { kept_as }) => {
            ctx.out.warn(&format!("somebody wrote to the old queue meanwhile; that is kept as {}", kept_as.display()));
            Ok(())
        }
        // The task stands; the leftover is removed when a daemon starts.
        Err(fault) => {
            ctx.out.warn(&fault.to_string());
            Ok(())
        }
    }
}
