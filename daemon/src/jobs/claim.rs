//! Writing RUNNING (D13), rejecting a PENDING (D4), settling the displaced file (D64).

use std::sync::Arc;

use lifecycle::{Claim, ClaimResult, Failure, SettleResult, WriteResult};
use queue::Document;
use store::{Expected, ProjectDir, RawHash, ReplaceError, Settled};
use wire::journal::{Entry, Row, Running};

use super::ahead::Ahead;
use super::begun::FirstHalf;
use super::render::Unready;
use super::{Begun, Context, Files, failure};
use crate::config::{PROJECT_FILE, ProjectFile, Settings};
use crate::convert;

impl Files {
    /// Everything that must hold before RUNNING is written, then the one durable write of a dispatch.
    pub(super) fn claim(&mut self, claim: &Claim, context: &Context) -> ClaimResult {
        self.try_claim(claim, context).unwrap_or_else(|refusal| refusal)
    }

    fn try_claim(&mut self, claim: &Claim, context: &Context) -> Result<ClaimResult, ClaimResult> {
        let dir = self.opened().map_err(ClaimResult::Failed)?;
        let settings = self.settings_now(&dir, context).map_err(ClaimResult::ContextFile)?;
        let context = &Context { settings: settings.clone(), ..context.clone() };
        self.check_log(&dir, context).map_err(ClaimResult::WorkLog)?;
        let hash = RawHash::from(claim.hash);
        let document = self.document(&dir, hash).map_err(ClaimResult::Failed)?;
        let draft = self.draft(&document, claim.dispatch, context)?;
        self.settle_leftover(&dir, context);
        let begun = match self.begun.take().filter(|begun| begun.is_for(claim)) {
            Some(begun) => begun,
            None => {
                let ahead = Ahead::start(&self.path, claim.process, context, &self.errands);
                let begun = Begun::decided(&dir, &document, claim, ahead).map(Box::new);
                begun.map_err(|full| ClaimResult::Failed(too_large(full.size)))?
            }
        };
        let (found, rest) = begun.found();
        if found.is_stopped {
            return Err(ClaimResult::Stopped);
        }
        let prepared = draft.render(&found.agents)?;
        let FirstHalf { text, writing } = rest.wait();
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
        self.journal_running(&document, claim, context);
        self.warn_tight(&document);
        self.claimed_with = Some(settings);
        self.queue.status = Some(wire::status::TaskStatus::Running);
        self.prepared = Some(Box::new(prepared));
        Ok(ClaimResult::Claimed { hash: *RawHash::of(text.as_bytes()).as_bytes(), displaced })
    }

    fn warn_tight(&mut self, document: &Document) {
        if let Ok(room) = queue::Room::of(document)
            && room.is_tight()
        {
            let left = room.left_for_report();
            tracing::warn!(project = %self.path.display(), left, "little room is left in tasks.json for the report");
            self.warn_once(format!("only {left} bytes are left in tasks.json for the report"));
        }
    }

    /// The row that a restarted daemon needs, right behind the durable write: the window without it is as short as it
    /// can be, and a claim that failed leaves no trace (D22, D65).
    fn journal_running(&mut self, document: &Document, claim: &Claim, context: &Context) {
        let meta = super::read::meta(document);
        self.past(context).dispatches.note(&meta.task_id, &meta.created_at, claim.started);
        let row = Row {
            at: convert::time(claim.started),
            project: Some(self.path.to_string_lossy().into_owned()),
            entry: Entry::Running(Running {
                task_id: meta.task_id,
                dispatch_id: claim.dispatch.to_string(),
                fingerprint: document.fingerprint().to_string(),
                created_at: Some(meta.created_at),
                started_at: convert::time(claim.started),
                session_id: context.session_id.clone(),
            }),
        };
        if let Ok(line) = row.to_line() {
            // The thread that writes it is woken when the message is on its way, a moment later.
            context.hub.journal.append_quietly(line);
        }
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
        if method == store::Method::PlainRename {
            let text =
                "this file system cannot exchange files: a write to tasks.json in the last moment of ours can be lost";
            self.warn_once(text.to_owned());
        }
    }

    /// Shown by `status` until the project is opened again.
    pub(super) fn warn_once(&mut self, text: String) {
        if !self.warnings.contains(&text) {
            self.warnings.push(text);
        }
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
