//! The planner's write, done for it (D64): a new PENDING over IDLE, COMPLETE, ERROR or nothing.

use lifecycle::{Failure, SubmitResult};
use queue::{Document, Submission, SubmitError};
use store::{Expected, RawHash};

use super::{Context, Files};
use crate::actor::bodies;

impl Files {
    pub(super) fn submit(&mut self, hash: Option<RawHash>, context: &Context) -> SubmitResult {
        let Some(body) = context.body.clone() else { return SubmitResult::Failed(Failure::Changed) };
        let dir = match self.ours() {
            Ok(dir) => dir,
            Err(failure) => return SubmitResult::Failed(failure),
        };
        let existing = match hash.map(|hash| self.document(&dir, hash)).transpose() {
            Ok(existing) => existing,
            Err(failure) => return SubmitResult::Failed(failure),
        };
        let mut data = bodies::open(&body);
        let text = match write(existing.as_ref(), &data.json) {
            Ok(text) => text,
            Err(SubmitError::Unreadable(problem)) => {
                data.problems = vec![problem];
                return SubmitResult::Invalid;
            }
            Err(SubmitError::Full(_)) => return SubmitResult::Full,
        };
        let document = match Document::parse(text.as_bytes()) {
            Ok(document) => document,
            Err(problem) => {
                data.problems = vec![problem];
                return SubmitResult::Invalid;
            }
        };
        data.problems = queue::validate(&document, &*dir);
        if !data.problems.is_empty() {
            return SubmitResult::Invalid;
        }
        if queue::Room::of(&document).is_err() {
            return SubmitResult::Full;
        }
        let expected = hash.map_or(Expected::Absent, Expected::Bytes);
        match dir.replace_queue(expected, text.as_bytes(), context.now) {
            Err(error) => SubmitResult::Failed(self.not_replaced(&dir, &error)),
            Ok(replaced) => {
                if let Some(swap) = &replaced.displaced {
                    self.settle_now(swap, &dir, context);
                }
                let meta = super::read::meta(&document);
                data.submitted = Some((meta.task_id, document.fingerprint().to_string()));
                SubmitResult::Written(*RawHash::of(text.as_bytes()).as_bytes())
            }
        }
    }
}

fn write(existing: Option<&Document>, json: &str) -> Result<String, SubmitError> {
    let task = Submission::parse(json)?;
    Ok(queue::submit(existing, &task)?)
}
