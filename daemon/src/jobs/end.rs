//! Writing the end of a task, with its line in journal and work log (D63, D67).

use std::sync::Arc;
use std::time::Duration;

use lifecycle::{Cause, EndWrite, Outcome, WriteResult};
use queue::{DispatchId, Document, Field, LogEntry};
use store::{ProjectDir, RawHash, WorkLog};
use wire::journal::{Ended, Entry, OfDispatch, Row};
use wire::session::EndStatus;

use super::claim::too_large;
use super::warnings::Matter;
use super::{Context, Files, failure};
use crate::actor::bodies;
use crate::convert;

/// The journal gets this long to take the line before COMPLETE is written all the same: it never holds a project up.
const JOURNAL_WAIT: Duration = Duration::from_secs(2);

/// The new document and what the journal says of it.
struct End {
    text: String,
    /// For the work log; a RUNNING that was never ours has a line without an id.
    line: String,
    row: Ended,
}

impl Files {
    /// A task that could never be logged is not started (D30). Looked at again only when the file changed.
    pub(super) fn check_log(&mut self, dir: &Arc<ProjectDir>, context: &Context) -> Result<(), Cause> {
        let log = work_log(dir, context)?;
        let stamp = log.stamp().map_err(|error| failure::work_log(&log, &error))?;
        if stamp.is_some() && stamp.as_ref() == self.log_checked.as_deref() {
            return Ok(());
        }
        let check = log.check().map_err(|error| failure::work_log(&log, &error))?;
        if let Some(warning) = &check.warning {
            tracing::warn!(project = %self.path.display(), warning, "work log");
        }
        self.warnings.set(Matter::WorkLog, check.warning);
        self.log_checked = Some(Box::new(check.stamp));
        Ok(())
    }

    pub(super) fn open_log(&mut self, context: &Context) -> Result<(), String> {
        let dir = self.dir.clone().ok_or("the folder is gone")?;
        let open = work_log(&dir, context)?.open().map_err(|error| failure::chain(&error))?;
        self.log = Some(Box::new(open));
        Ok(())
    }

    /// Writes the end; what cannot be written lets go of the log, which others wait for.
    pub(super) fn write_end(&mut self, write: &EndWrite, context: &Context) -> WriteResult {
        let written = self.try_write_end(write, context);
        match written {
            Ok(_) => self.warnings.set(Matter::Room, None),
            Err(_) => self.log = None,
        }
        written
    }

    fn try_write_end(&mut self, write: &EndWrite, context: &Context) -> WriteResult {
        let dir = self.ours()?;
        let hash = RawHash::from(write.hash);
        let document = self.document(&dir, hash)?;
        let end = make(&document, write, context)?;
        self.line = Some(end.line);
        let complete = end.row.status == EndStatus::Complete;
        self.ended = Some(Box::new(end.row.clone()));
        self.journal_end(end.row, context);
        let written = match self.replace(&dir, hash, &end.text, context) {
            Ok(written) => written,
            Err(failure) => {
                self.journal_not_ended(write.dispatch, context);
                return Err(failure);
            }
        };
        self.queue.status =
            Some(if complete { wire::status::TaskStatus::Complete } else { wire::status::TaskStatus::Error });
        Ok(written)
    }

    /// The row that `show`, `wait`, `retry` and a recovery need, before the file says so (D65, D67).
    fn journal_end(&self, row: Ended, context: &Context) {
        let row = Row {
            at: queue::format_time(context.now),
            project: Some(self.path.to_string_lossy().into_owned()),
            entry: Entry::Ended(row),
        };
        let Ok(line) = row.to_line() else { return };
        if let Err(error) = context.hub.journal.append_and_confirm(line, JOURNAL_WAIT) {
            tracing::warn!(project = %self.path.display(), %error, "the journal did not take the end of a task in time");
        }
    }

    /// The end that the journal has was not written: nobody may believe it (D70).
    fn journal_not_ended(&mut self, dispatch: Option<DispatchId>, context: &Context) {
        let Some(row) = self.ended.take() else { return };
        let dispatch_id = dispatch.map(|id| id.to_string()).unwrap_or_default();
        let entry = Entry::NotEnded(OfDispatch { task_id: row.task_id, dispatch_id });
        let project = Some(self.path.to_string_lossy().into_owned());
        let Ok(line) = (Row { at: queue::format_time(context.now), project, entry }).to_line() else { return };
        if let Err(error) = context.hub.journal.append_and_confirm(line, JOURNAL_WAIT) {
            tracing::error!(project = %self.path.display(), %error, "the journal tells of an end that was not written");
        }
    }

    /// A task that ended before it ran: `wait`, `show` and `retry` find it like any other (D65). It has no line in the
    /// work log (D67).
    pub(super) fn journal_rejected(&self, pending: &Document, error: &str, context: &Context) {
        let string = |field| pending.string(field).map(std::borrow::Cow::into_owned);
        let row = Ended {
            task_id: string(Field::TaskId).unwrap_or_default(),
            dispatch_id: None,
            status: EndStatus::Error,
            error: Some(error.to_owned()),
            started_at: None,
            completed_at: Some(queue::format_time(context.now)),
            fingerprint: Some(pending.fingerprint().to_string()),
            created_at: string(Field::CreatedAt),
            planner: wire::Raw::parse(pending.planner_json()).ok(),
            result: None,
            report: None,
            verdict: None,
            log_line: None,
        };
        self.journal_end(row, context);
    }

    pub(super) fn append_log(&mut self, context: &Context) -> Result<(), String> {
        let line = self.line.take().ok_or("the line of the task is not known")?;
        if self.log.is_none() {
            // The write of the end failed at first, and the log was let go until it could be tried again (D70).
            self.open_log(context)?;
        }
        let mut log = self.log.take().ok_or("the work log was not open")?;
        let check = log.append(&line).map_err(|error| failure::chain(&error))?;
        self.log_checked = Some(Box::new(check.stamp));
        Ok(())
    }

    /// Appends the journal's lines that the log lacks (D67).
    pub(super) fn replay_log(
        &mut self,
        running: Option<DispatchId>,
        context: &Context,
    ) -> Result<(), (Vec<DispatchId>, String)> {
        let lines: Vec<_> =
            std::mem::take(&mut self.past(context).lines).into_iter().filter(|(id, _)| Some(*id) != running).collect();
        let Some(dir) = self.dir.clone().filter(|_| !lines.is_empty()) else { return Ok(()) };
        let ids = || lines.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        append_missing(&dir, &lines, context).map_err(|words| (ids(), words))
    }
}

fn work_log(dir: &Arc<ProjectDir>, context: &Context) -> Result<WorkLog, String> {
    let settings = &context.settings.work_log;
    WorkLog::new(dir, &settings.path, &settings.heading).map_err(|error| failure::chain(&error))
}

fn append_missing(dir: &Arc<ProjectDir>, lines: &[(DispatchId, String)], context: &Context) -> Result<(), String> {
    let log = work_log(dir, context)?;
    let chain = |error: &store::LogError| failure::chain(error);
    let missing = log.missing_lines(lines).map_err(|error| chain(&error))?;
    for (_, line) in missing {
        log.open().and_then(|mut open| open.append(line)).map_err(|error| chain(&error))?;
    }
    Ok(())
}

fn make(document: &Document, write: &EndWrite, context: &Context) -> Result<End, lifecycle::Failure> {
    let at = convert::timestamp(write.completed);
    match &write.outcome {
        Outcome::Ours(reason) => {
            let text = queue::finish_by_us(document, reason, at).map_err(|full| too_large(full.size))?;
            let line =
                queue::log_line(&LogEntry { dispatch_id: write.dispatch, ..LogEntry::of_error(document, reason, at) });
            Ok(End { row: row(document, &text, write, EndStatus::Error, Some(reason), None, &line), text, line })
        }
        Outcome::Demote(reason) => {
            let text = queue::demote(document, reason).map_err(|full| too_large(full.size))?;
            let line =
                queue::log_line(&LogEntry { dispatch_id: write.dispatch, ..LogEntry::of_error(document, reason, at) });
            Ok(End { row: row(document, &text, write, EndStatus::Error, Some(reason), None, &line), text, line })
        }
        Outcome::Report { complete, demoted, .. } => {
            let body = context.body.as_ref().ok_or(lifecycle::Failure::Changed)?;
            let mut accepted = {
                let data = bodies::open(body);
                data.accepted.clone().ok_or(lifecycle::Failure::Changed)?
            };
            if let Some(reason) = demoted {
                accepted.demote(reason);
            }
            let finished = queue::finish_from_report(document, &accepted, at).map_err(|full| too_large(full.size))?;
            let line = queue::log_line(&LogEntry {
                dispatch_id: write.dispatch,
                ..LogEntry::of_report(document, &accepted, at)
            });
            let status = if *complete && demoted.is_none() { EndStatus::Complete } else { EndStatus::Error };
            let verdict = accepted.verdict().and_then(|text| text.lines().next()).map(str::to_owned);
            let error = accepted.error.clone();
            let row = row(document, &finished.text, write, status, error.as_deref(), verdict, &line);
            Ok(End { row, text: finished.text, line })
        }
    }
}

/// The journal's row, with the evidence exactly as it stands in the new document.
fn row(
    before: &Document,
    text: &str,
    write: &EndWrite,
    status: EndStatus,
    error: Option<&str>,
    verdict: Option<String>,
    line: &str,
) -> Ended {
    let after = Document::parse(text.as_bytes()).ok();
    let string = |field| before.string(field).map(std::borrow::Cow::into_owned);
    let result = after.as_ref().and_then(|document| document.string(Field::Result)).map(std::borrow::Cow::into_owned);
    let report = after.as_ref().and_then(|document| document.raw(Field::Report)).filter(|raw| *raw != "null");
    Ended {
        task_id: string(Field::TaskId).unwrap_or_default(),
        dispatch_id: write.dispatch.map(|id| id.to_string()),
        status,
        error: error.map(str::to_owned),
        started_at: string(Field::StartedAt),
        completed_at: Some(convert::time(write.completed)),
        fingerprint: Some(before.fingerprint().to_string()),
        created_at: string(Field::CreatedAt),
        planner: wire::Raw::parse(before.planner_json()).ok(),
        result,
        report: report.and_then(|raw| wire::Raw::parse(raw).ok()),
        verdict,
        log_line: write.dispatch.map(|_| line.to_owned()),
    }
}
