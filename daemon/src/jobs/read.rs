//! Reading `tasks.json` and saying what it means, in the state machine's terms (D1, D4, D10, D22, D65).

use std::sync::Arc;

use lifecycle::{ClaimResult, Content, Facts, Failure, Pending, Seen, TaskMeta, View};
use queue::{Assessment, Document, Field, Problem};
use store::{FileBytes, OpenQueue, ProjectDir, RawHash, ReadError, Staged, Unsynced};
use wire::status::{QueueStatus, TaskStatus};

use super::begun::{self, About, Ready};
use super::{Begun, Context, Files, failure};
use crate::git::Tracking;
use crate::history::{self, Past};
use crate::pool::give_way;

impl Files {
    pub(super) fn read(mut self: Box<Self>, context: &Context) -> (Box<Self>, Seen) {
        let dir = match self.ours() {
            Ok(dir) => dir,
            Err(failure) => return (self, Seen::Failed(failure)),
        };
        let seen = match dir.open_queue() {
            Ok(queue) => {
                let (files, view) = self.view_of_open(&dir, queue, context);
                return (files, Seen::View(view));
            }
            Err(ReadError::Missing) => {
                self.watched.note_read(None);
                self.queue = queue_status(None, None, &[]);
                Seen::View(View { hash: None, content: Content::Missing })
            }
            Err(ReadError::Io(fault)) => Seen::Failed(failure::io(&fault)),
            Err(error) => {
                let code = match error {
                    ReadError::TooLarge { .. } => queue::Code::TooLarge,
                    _ => queue::Code::NotRegularFile,
                };
                self.watched.note_read(None);
                Seen::View(self.unreadable(None, &Problem::whole(code, error.to_string())))
            }
        };
        (self, seen)
    }

    /// What these bytes mean.
    pub(super) fn view(&mut self, dir: &ProjectDir, file: &FileBytes, context: &Context) -> View {
        match self.parsed(file) {
            Ok(document) => self.view_of(dir, file.hash, document, context),
            Err(view) => *view,
        }
    }

    /// As [`Files::view`]; the first half of a claim that is likely to follow is done meanwhile.
    fn view_of_open(
        mut self: Box<Self>,
        dir: &Arc<ProjectDir>,
        queue: OpenQueue,
        context: &Context,
    ) -> (Box<Self>, View) {
        let document = match self.parsed(&queue.read) {
            Ok(document) => document,
            Err(view) => return (self, *view),
        };
        let hash = queue.read.hash;
        let likely = context.likely.filter(|_| document.status() == queue::Status::Pending);
        let about = likely.map(|likely| About::likely(likely, hash));
        let Some((about, text)) = about.and_then(|about| Some((about, about.running(&document).ok()?))) else {
            let view = self.view_of(dir, hash, document, context);
            return (self, view);
        };
        // The other thread is asked when the bytes are on their way, and not before: it may have this processor first.
        let unsynced = Staged::begin_over(dir.clone(), queue, text.as_bytes());
        let sync = || unsynced.and_then(Unsynced::sync);
        let (project, context, hub) = (dir.clone(), context.clone(), &context.hub);
        let judge = move || {
            let view = self.view_of(&project, hash, document, &context);
            give_way();
            let ready = self.ready_for(&view, about, &context);
            (self, view, ready)
        };
        let (writing, (mut files, view, ready)) = begun::both(&hub.aside, sync, judge);
        files.begun = ready.map(|ready| Box::new(Begun { about, text, writing, ready }));
        (files, view)
    }

    /// What a claim of the document that was just read needs; `None` if it is none to claim.
    fn ready_for(&mut self, view: &View, about: About, context: &Context) -> Option<Result<Box<Ready>, ClaimResult>> {
        let Content::Pending(pending) = &view.content else { return None };
        if pending.rejection.is_some() || pending.full || pending.tracked {
            return None;
        }
        let fresh = self.fresh.take()?;
        let ready = self.ready(&fresh.1, about, context);
        self.fresh = Some(fresh);
        Some(ready)
    }

    fn parsed(&mut self, file: &FileBytes) -> Result<Document, Box<View>> {
        self.watched.note_read(Some(file.stamp));
        self.fresh = None;
        Document::parse(&file.bytes).map_err(|problem| Box::new(self.unreadable(Some(*file.hash.as_bytes()), &problem)))
    }

    fn view_of(&mut self, dir: &ProjectDir, hash: RawHash, document: Document, context: &Context) -> View {
        let content = self.content(dir, &document, context);
        if matches!(content, Content::Pending(_)) {
            self.fresh = Some(Box::new((hash, document)));
        }
        View { hash: Some(*hash.as_bytes()), content }
    }

    fn unreadable(&mut self, hash: Option<[u8; 32]>, problem: &Problem) -> View {
        self.queue = queue_status(None, None, std::slice::from_ref(problem));
        let content = Content::Unreadable { code: problem.code.as_str(), message: problem.message.clone().into() };
        View { hash, content }
    }

    fn content(&mut self, dir: &ProjectDir, document: &Document, context: &Context) -> Content {
        let task_id = document.string(Field::TaskId).map(std::borrow::Cow::into_owned);
        let assessment = queue::assess(document, dir);
        let problems: &[Problem] = match &assessment {
            Assessment::Reject(problems) | Assessment::Leave(problems) => problems,
            _ => &[],
        };
        self.queue = queue_status(Some(document.status()), task_id.clone(), problems);
        match assessment {
            Assessment::Nothing => Content::Settled {
                by: document.dispatch_id(),
                complete: document.status() == queue::Status::Complete,
                task_id,
            },
            Assessment::Running => self.running(document, context),
            Assessment::Leave(problems) => self.left_alone(document, &problems),
            Assessment::Reject(problems) => self.pending(document, Some(queue::rejection_text(&problems)), context),
            Assessment::Dispatch(..) => self.pending(document, None, context),
        }
    }

    fn left_alone(&mut self, document: &Document, problems: &[Problem]) -> Content {
        let first = problems.first();
        if document.status() == queue::Status::Pending {
            let pending = Pending {
                task: meta(document),
                rejection: None,
                full: true,
                tracked: false,
                dispatched_before: Vec::new(),
            };
            return Content::Pending(Box::new(pending));
        }
        Content::Unreadable {
            code: first.map_or("unsupported_schema_version", |problem| problem.code.as_str()),
            message: first.map_or_else(String::new, |problem| problem.message.clone()).into(),
        }
    }

    fn running(&mut self, document: &Document, context: &Context) -> Content {
        let by = document.dispatch_id();
        let foreign = by.filter(|id| context.running != Some(*id));
        let facts = foreign.and_then(|id| {
            let known = self.past(context).facts(id);
            known
                .or_else(|| history::facts(&context.hub.journal, &self.path, id))
                .or_else(|| self.facts_of_lock(document))
        });
        let facts = facts.map(Box::new);
        Content::Running { task: Box::new(meta(document)), by, facts }
    }

    /// A daemon that was killed between RUNNING and its row in the journal: RUNNING that was written while that daemon
    /// had the lock is its work, and not a file that came from elsewhere (D22).
    fn facts_of_lock(&self, document: &Document) -> Option<Facts> {
        let started = document.string(Field::StartedAt)?.parse::<jiff::Timestamp>().ok()?;
        let started_ms = started.as_millisecond();
        let taken = self.dead_owner_since.filter(|since| since.as_millisecond() <= started_ms)?;
        tracing::debug!(project = %self.path.display(), %taken, "RUNNING without a row in the journal");
        let at = lifecycle::Wall(started_ms);
        Some(Facts { started: Some(at), last_seen: Some(at), sent: true, ..Facts::default() })
    }

    fn pending(&mut self, document: &Document, rejection: Option<String>, context: &Context) -> Content {
        let task = meta(document);
        let tracked = rejection.is_none() && !context.settings.allow_tracked && self.is_tracked();
        let dispatched_before = self.past(context).dispatches.before(&task.task_id, &task.created_at);
        Content::Pending(Box::new(Pending { task, rejection, full: false, tracked, dispatched_before }))
    }

    fn is_tracked(&mut self) -> bool {
        match self.tracked.look_up(&self.path, "tasks.json") {
            Tracking::Tracked => true,
            Tracking::NotTracked => false,
            Tracking::Unknown(why) => {
                tracing::debug!(project = %self.path.display(), %why, "cannot tell whether git tracks tasks.json");
                false
            }
        }
    }

    /// What the journal said when this daemon started.
    pub(super) fn past(&mut self, context: &Context) -> &mut Past {
        let path = &self.path;
        self.past.get_or_insert_with(|| Box::new(context.hub.take_past(&path.to_string_lossy())))
    }

    /// The document as it is now, if it still is what was read before.
    ///
    /// What was read just before is taken for it without another look: whoever writes checks the bytes once more.
    pub(super) fn document(&mut self, dir: &ProjectDir, expected: RawHash) -> Result<Document, Failure> {
        if let Some(fresh) = self.fresh.take().filter(|fresh| fresh.0 == expected) {
            return Ok(fresh.1);
        }
        let file = dir.read_queue().map_err(|error| failure::read(&error))?;
        if file.hash != expected {
            return Err(Failure::Changed);
        }
        Document::parse(&file.bytes).map_err(|_| Failure::Changed)
    }
}

/// The planner's task as far as the state machine needs it.
pub(super) fn meta(document: &Document) -> TaskMeta {
    let text = |field| document.string(field).map(std::borrow::Cow::into_owned).unwrap_or_default();
    TaskMeta {
        task_id: text(Field::TaskId),
        created_at: text(Field::CreatedAt),
        fingerprint: *document.fingerprint().as_bytes(),
    }
}

/// What `daemon.status` shows.
pub(super) fn queue_status(
    status: Option<queue::Status>,
    task_id: Option<String>,
    problems: &[Problem],
) -> QueueStatus {
    QueueStatus {
        status: status.map(|status| match status {
            queue::Status::Idle => TaskStatus::Idle,
            queue::Status::Pending => TaskStatus::Pending,
            queue::Status::Running => TaskStatus::Running,
            queue::Status::Complete => TaskStatus::Complete,
            queue::Status::Error => TaskStatus::Error,
        }),
        task_id,
        problems: problems.iter().map(crate::convert::problem).collect(),
    }
}
