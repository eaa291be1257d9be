//! Writing RUNNING (D13), rejecting a PENDING (D4), settling the displaced file (D64).

use std::sync::Arc;

use lifecycle::{Claim, ClaimResult, Failure, Process, SettleResult, TaskMeta, WriteResult};
use queue::Document;
use store::{Expected, ProjectDir, RawHash, ReplaceError, Settled, Staged};
use wire::journal::{Entry, Row, Running};

use super::begun::{About, Ready};
use super::render::Unready;
use super::warnings::Matter;
use super::{Begun, Context, Files, failure};
use crate::config::{PROJECT_FILE, ProjectFile, Settings};
use crate::convert;
use crate::pool::give_way;

impl Files {
    /// The one durable write of a dispatch, if everything holds that must hold before it.
    pub(super) fn claim(&mut self, claim: &Claim, context: &Context) -> ClaimResult {
        self.try_claim(claim, context).unwrap_or_else(|refusal| refusal)
    }

    fn try_claim(&mut self, claim: &Claim, context: &Context) -> Result<ClaimResult, ClaimResult> {
        let dir = self.opened().map_err(ClaimResult::Failed)?;
        let about = About::decided(claim);
        let document = self.document(&dir, about.hash).map_err(ClaimResult::Failed)?;
        let begun = match self.begun.take().filter(|begun| begun.about == about) {
            Some(begun) => *begun,
            None => self.begin(&dir, &document, about, context)?,
        };
        let Begun { text, writing, ready, .. } = begun;
        let Ready { settings, prepared, task, row } = *ready?;
        self.settle_leftover(&dir, context);
        let staged = writing.map_err(|error| ClaimResult::Failed(self.not_replaced(&dir, &error)))?;
        self.ours().map_err(ClaimResult::Failed)?;
        let writing = self.watched.begin_write();
        let replaced = match staged.put_in_place(context.now) {
            Ok(replaced) => replaced,
            Err(error) => return Err(ClaimResult::Failed(self.not_replaced(&dir, &error))),
        };
        self.watched.note_write(replaced.stamp);
        drop(writing);
        self.note_method(replaced.method);
        let displaced = replaced.displaced.is_some();
        self.swap = replaced.displaced.map(Box::new);
        self.past(context).dispatches.note(&task.task_id, &task.created_at, claim.started);
        // Right behind the durable write: the window without it is as short as it can be, and a claim that failed leaves
        // no trace (D22, D65). The thread that writes it is woken when the message is on its way, a moment later.
        row.map(|row| context.hub.journal.append_quietly(row));
        self.warn_tight(&document);
        self.claimed_with = Some(settings);
        self.queue.status = Some(wire::status::TaskStatus::Running);
        self.prepared = Some(Box::new(prepared));
        Ok(ClaimResult::Claimed { hash: *RawHash::of(text.as_bytes()).as_bytes(), displaced })
    }

    /// The first half of a claim that nothing was begun for.
    fn begin(
        &mut self,
        dir: &Arc<ProjectDir>,
        document: &Document,
        about: About,
        context: &Context,
    ) -> Result<Begun, ClaimResult> {
        let ready = Ok(self.ready(document, about, context)?);
        let text = about.running(document).map_err(|full| ClaimResult::Failed(too_large(full.size)))?;
        let writing = Staged::write(dir.clone(), about.hash, text.as_bytes());
        Ok(Begun { about, text, writing, ready })
    }

    /// All that must hold for a dispatch and does not depend on the very moment, and its message.
    pub(super) fn ready(
        &mut self,
        document: &Document,
        about: About,
        context: &Context,
    ) -> Result<Box<Ready>, ClaimResult> {
        let dir = self.opened().map_err(ClaimResult::Failed)?;
        let settings = self.settings_now(&dir, context).map_err(ClaimResult::ContextFile)?;
        let context = &Context { settings: settings.clone(), ..context.clone() };
        self.check_log(&dir, context).map_err(ClaimResult::WorkLog)?;
        if is_stopped(about.session, context) {
            return Err(ClaimResult::Stopped);
        }
        give_way();
        let prepared = self.prepare(document, about.dispatch, context)?;
        let task = super::read::meta(document);
        let row = self.running_row(document, &task, about, context);
        Ok(Box::new(Ready { settings, prepared, task, row }))
    }

    fn warn_tight(&mut self, document: &Document) {
        let tight = queue::Room::of(document).ok().filter(|room| room.is_tight());
        let left = tight.map(queue::Room::left_for_report);
        if let Some(left) = left {
            tracing::warn!(project = %self.path.display(), left, "little room is left in tasks.json for the report");
        }
        let text = left.map(|left| format!("only {left} bytes are left in tasks.json for the report"));
        self.warnings.set(Matter::Room, text);
    }

    /// The row that a restarted daemon needs.
    fn running_row(&self, document: &Document, task: &TaskMeta, about: About, context: &Context) -> Option<String> {
        let row = Row {
            at: convert::time(about.started),
            project: Some(self.path.to_string_lossy().into_owned()),
            entry: Entry::Running(Running {
                task_id: task.task_id.clone(),
                dispatch_id: about.dispatch.to_string(),
                fingerprint: document.fingerprint().to_string(),
                created_at: Some(task.created_at.clone()),
                started_at: convert::time(about.started),
                session_id: context.session_id.clone(),
            }),
        };
        row.to_line().ok()
    }

    /// The settings of the moment of dispatch, with the project's own file as it is now (D68, D71). A file that is
    /// refused stops the dispatch: a task must not go out without the context that somebody wanted it to have.
    fn settings_now(&self, dir: &ProjectDir, context: &Context) -> Result<Arc<Settings>, String> {
        let own = match dir.read_pi_file("handoff.toml", store::Limit::Config) {
            Ok(file) => ProjectFile::parse(&file.bytes, &self.path.join(PROJECT_FILE))
                .map(|(own, _)| own)
                .map_err(|invalid| invalid.to_string().lines().collect::<Vec<_>>().join("; "))?,
            Err(store::ReadError::Missing) => ProjectFile::default(),
            Err(error) => return Err(format!("{PROJECT_FILE}: {}", failure::chain(&error))),
        };
        Ok(context.hub.settings_of(&self.path, &own))
    }

    /// Without an exchange of names the last window of a replace is open (D64).
    fn note_method(&mut self, method: store::Method) {
        let text =
            "this file system cannot exchange files: a write to tasks.json in the last moment of ours can be lost";
        self.warnings.set(Matter::Exchange, (method == store::Method::PlainRename).then(|| text.to_owned()));
    }

    /// A displaced file that nobody settled (a task that ended without acceptance).
    fn settle_leftover(&mut self, dir: &ProjectDir, context: &Context) {
        if let Some(swap) = self.swap.take() {
            self.settle_now(&swap, dir, context);
        }
    }

    pub(super) fn settle(&mut self, context: &Context) -> SettleResult {
        let (Some(swap), Some(dir)) = (self.swap.take(), self.dir.clone()) else { return SettleResult::Clean };
        match swap.settle(&dir, context.now) {
            Ok(Settled::Clean) => SettleResult::Clean,
            Ok(Settled::Lost { kept_as }) => SettleResult::Lost(kept_as.display().to_string()),
            Err(error) => {
                // It stays on disk under its own name; the sweep at the next start judges it again.
                tracing::warn!(project = %self.path.display(), %error, "a displaced file could not be looked at");
                SettleResult::Clean
            }
        }
    }

    pub(super) fn reject(&mut self, hash: RawHash, text: &str, context: &Context) -> WriteResult {
        let dir = self.ours()?;
        let document = self.document(&dir, hash)?;
        let new = queue::reject_with(&document, text, context.now).map_err(|full| too_large(full.size))?;
        let written = self.replace(&dir, hash, &new, context)?;
        self.queue.status = Some(wire::status::TaskStatus::Error);
        self.journal_rejected(&document, text, context);
        Ok(written)
    }

    /// One durable replace whose displaced file is settled at once.
    pub(super) fn replace(&mut self, dir: &ProjectDir, hash: RawHash, text: &str, context: &Context) -> WriteResult {
        let _writing = self.watched.begin_write();
        let replaced = dir
            .replace_queue(Expected::Bytes(hash), text.as_bytes(), context.now)
            .map_err(|error| self.not_replaced(dir, &error))?;
        self.watched.note_write(replaced.stamp);
        if let Some(swap) = replaced.displaced {
            self.settle_now(&swap, dir, context);
        }
        Ok(*RawHash::of(text.as_bytes()).as_bytes())
    }

    /// Why nothing was replaced; a write that nobody saw and that had to be kept aside is told (D64).
    pub(super) fn not_replaced(&mut self, dir: &ProjectDir, error: &ReplaceError) -> Failure {
        if let ReplaceError::Changed { kept_as: Some(kept) } = error {
            self.kept.push(kept.display().to_string());
        }
        failure::replace(dir, error)
    }

    pub(super) fn settle_now(&mut self, swap: &store::SwapFile, dir: &ProjectDir, context: &Context) {
        match swap.settle(dir, context.now) {
            Ok(Settled::Clean) => {}
            Ok(Settled::Lost { kept_as }) => {
                self.kept.push(kept_as.display().to_string());
            }
            Err(error) => {
                tracing::warn!(project = %self.path.display(), %error, "a displaced file could not be removed");
            }
        }
    }
}

/// Whether a session's process is stopped: such a session is not idle, whatever it said before (state `T`, D24).
fn is_stopped(session: Process, context: &Context) -> bool {
    let presence = i32::try_from(session.pid).map(|pid| context.hub.claimant.processes.look(pid));
    matches!(presence, Ok(store::Presence::Alive { stopped: true, .. }))
}

impl From<Unready> for ClaimResult {
    fn from(unready: Unready) -> Self {
        match unready {
            Unready::ContextFile(words) => Self::ContextFile(words),
            Unready::Changed => Self::Failed(Failure::Changed),
        }
    }
}

pub(super) const fn too_large(size: usize) -> Failure {
    Failure::TooLarge { limit: queue::limits::QUEUE_BYTES, size }
}
