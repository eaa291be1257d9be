//! `history.list`: the journal, newest first.

use std::path::Path;

use wire::Raw;
use wire::control::{HistoryList, HistoryResult};
use wire::journal::Head;
use wire::limits::DAEMON_LINE;

use crate::journal::{self, Journal, JournalError};
use crate::peer::Responder;
use crate::server::incoming::internal;
use crate::server::{Service, find};

/// Bytes of rows in one answer; the envelope has room beside them.
const MOST_BYTES: usize = DAEMON_LINE - 64 * 1024;

/// Reads on the pool: the journal may be large.
pub(super) async fn handle(service: &Service, ask: HistoryList, answer: Responder) {
    let project = match &ask.project {
        None => None,
        Some(wanted) => match find::named(&service.hub, wanted).await {
            Ok(entry) => Some(entry.project.path.to_string_lossy().into_owned()),
            // A project that was removed still has its history, under its path.
            Err(_) if wanted.starts_with('/') => Some(wanted.clone()),
            Err(error) => return answer.error(error),
        },
    };
    let journal = service.hub.journal.clone();
    match service.hub.pool.run(move || list(&journal, project.as_deref(), &ask)).await {
        Ok(Ok(result)) => answer.result(&result),
        Ok(Err(error)) => answer.error(internal(&error)),
        Err(error) => answer.error(internal(&error)),
    }
}

fn list(journal: &Journal, project: Option<&str>, ask: &HistoryList) -> Result<HistoryResult, JournalError> {
    let mut result = HistoryResult { rows: Vec::new(), more: false };
    let mut bytes = 0;
    for line in journal::newest_first(journal.path())? {
        let line = line?;
        if !fits(&line, project, ask.task_id.as_deref()) {
            continue;
        }
        bytes += line.len() + 1;
        if result.rows.len() == ask.rows() || bytes > MOST_BYTES {
            result.more = true;
            break;
        }
        if let Ok(row) = Raw::parse(line) {
            result.rows.push(row);
        }
    }
    Ok(result)
}

fn fits(line: &str, project: Option<&str>, task_id: Option<&str>) -> bool {
    let Ok(head) = Head::parse(line) else { return false };
    let of_project = match (project, &head.project) {
        (Some(wanted), Some(path)) => Path::new(wanted) == Path::new(path),
        (Some(_), None) => false,
        (None, _) => true,
    };
    of_project && task_id.is_none_or(|wanted| head.task_id.as_deref() == Some(wanted))
}
