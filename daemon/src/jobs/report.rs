//! Checking a report against the file as it is now, the profiles as they are now, and what was observed (D26–D29).

use lifecycle::{Checked, View};
use queue::{Document, ReportContext, ReportStatus, Run};
use store::{RawHash, ReadError};

use super::{Context, Files};
use crate::actor::bodies;
use crate::agents;
use crate::convert;

impl Files {
    pub(super) fn check_report(&mut self, hash: RawHash, seen: &[Run], context: &Context) -> Checked {
        let document = match self.current(hash, context) {
            Ok(document) => document,
            Err(view) => return Checked::Changed(*view),
        };
        let (Some(dir), Some(body)) = (self.dir.clone(), context.body.clone()) else {
            return Checked::Refused { problems: 0 };
        };
        let agents = agents::load(&self.path, &context.hub.env);
        let mut data = bodies::open(&body);
        let observed = convert::observed(data.observed.clone(), seen);
        let checked = queue::check_report(
            &data.json,
            &ReportContext {
                queue: &document,
                expected: None,
                paths: &*dir,
                agents: &agents,
                observed: observed.as_ref(),
            },
        );
        match checked {
            Ok(accepted) => {
                let complete = accepted.status == ReportStatus::Complete;
                data.accepted = Some(Box::new(accepted));
                Checked::Accepted { complete }
            }
            Err(problems) => {
                data.problems = problems;
                Checked::Refused { problems: data.problems.len() }
            }
        }
    }

    /// The document, if the file still has these bytes; else what it has now.
    fn current(&mut self, hash: RawHash, context: &Context) -> Result<Document, Box<View>> {
        let gone = || Box::new(View { hash: None, content: lifecycle::Content::Missing });
        let dir = self.dir.clone().ok_or_else(gone)?;
        match dir.read_queue() {
            Ok(file) if file.hash == hash => match Document::parse(&file.bytes) {
                Ok(document) => Ok(document),
                Err(_) => Err(Box::new(self.view(&dir, &file, context))),
            },
            Ok(file) => Err(Box::new(self.view(&dir, &file, context))),
            Err(ReadError::Missing) => Err(gone()),
            Err(error) => {
                let content = lifecycle::Content::Unreadable { code: "unreadable", message: error.to_string().into() };
                Err(Box::new(View { hash: None, content }))
            }
        }
    }
}
