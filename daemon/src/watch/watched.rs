//! The cell of one project between its actor and the watcher: what was read last, and how to look again.
//!
//! The actor's file work fills it in, the watcher's loop compares. It holds no folder open by itself: when the actor
//! lets go of a project's folders, nothing of it stays open and nothing is looked at.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Instant;

use lifecycle::Event;
use store::{ProjectDir, Stamp};
use tokio::sync::mpsc::WeakSender;
use tokio::sync::mpsc::error::TrySendError;

use super::arm::How;
use super::dirty::Weight;
use super::stamps::{By, Look, Stamps};
use super::{Shared, lock};
use crate::actor::cell::Cell;
use crate::actor::mail::Mail;

/// One watched project.
pub struct Watched {
    path: Arc<Path>,
    mail: WeakSender<Box<Mail>>,
    /// The way past the mailbox, for when nobody else is with the actor.
    actor: OnceLock<Weak<Cell>>,
    shared: Weak<Shared>,
    me: Weak<Self>,
    seen: Mutex<Seen>,
    how: Mutex<How>,
    mark: AtomicU8,
    retired: AtomicBool,
    /// Looks go through the pool, since they may never come back (D73).
    can_hang: AtomicBool,
    /// A look is out; there is never a second one.
    looking: AtomicBool,
    /// What was wanted while it could not be done; taken up after the next look.
    missed: AtomicU8,
}

#[derive(Default)]
struct Seen {
    folder: Weak<ProjectDir>,
    stamps: Stamps,
    /// Counts what the actor noted, so that a look that began before it is not compared with it.
    notes: u64,
    /// The actor's file work writes; see [`Watched::begin_write`].
    writing: bool,
    /// Counts sweeps, for the looks that not every sweep needs.
    sweeps: u8,
}

/// Every so manieth sweep looks closely: a glance does not see a folder that was replaced by a link to itself.
const CLOSE_LOOK_EVERY: u8 = 8;
/// Every so manieth sweep looks at the lock and the names of folders that events watch, too; these rarely change, and each
/// write checks them anyway (D18).
const GLANCE_EVERY: u8 = 4;

/// How much a sweep looks at. Of a thousand idle projects these looks are nearly all that the daemon does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// At `tasks.json`: one file.
    Queue,
    /// At the lock by its whole name, too: two files.
    Glance,
    /// At the folders, too: four.
    Close,
}

impl Depth {
    const fn of(sweep: u8, has_events: bool) -> Self {
        match sweep {
            0 => Self::Close,
            sweep if has_events && !sweep.is_multiple_of(GLANCE_EVERY) => Self::Queue,
            _ => Self::Glance,
        }
    }
}

/// A write of ours that has begun; dropped, it is over.
#[derive(Debug)]
#[must_use = "the write is over when this is dropped"]
pub struct Writing(Arc<Watched>);

impl Drop for Writing {
    fn drop(&mut self) {
        lock(&self.0.seen).writing = false;
        self.0.look_at_missed();
    }
}

/// What came of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    /// Nothing differs, or no folder is open.
    Same,
    /// The actor was told.
    Told,
    /// The actor noted something meanwhile: look again.
    Again,
    /// The actor is writing: look again when it has written.
    Writing,
    /// The actor should be told, and its mailbox is full.
    Full,
    /// There is no actor any more.
    NoActor,
}

impl Watched {
    pub(super) fn new(path: Arc<Path>, mail: WeakSender<Box<Mail>>, shared: Weak<Shared>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            path,
            mail,
            actor: OnceLock::new(),
            shared,
            me: me.clone(),
            seen: Mutex::default(),
            how: Mutex::new(How::NotOpened),
            mark: AtomicU8::new(0),
            retired: AtomicBool::new(false),
            can_hang: AtomicBool::new(false),
            looking: AtomicBool::new(false),
            missed: AtomicU8::new(0),
        })
    }

    /// The actor's file work opened the project's folders: from now on they are watched and swept. Blocking, for the
    /// pool. Called again, it moves the watches (F030).
    pub fn note_folder(&self, folder: &Arc<ProjectDir>) {
        self.can_hang.store(folder.fs_kind().can_hang(), Ordering::Relaxed);
        {
            let mut seen = lock(&self.seen);
            seen.folder = Arc::downgrade(folder);
            seen.stamps = Stamps::default();
            seen.notes += 1;
        }
        if let (Some(shared), Some(me)) = (self.shared.upgrade(), self.me.upgrade()) {
            shared.arm(&me, folder);
        }
    }

    /// `tasks.json` was read with this stamp; `None`: it was missing or could not be read.
    pub fn note_read(&self, stamp: Option<Stamp>) {
        self.note(|stamps, now| stamps.note_read(stamp, now));
    }

    /// `tasks.json` was written by us and has this stamp; `None`: not known.
    pub fn note_write(&self, stamp: Option<Stamp>) {
        self.note(|stamps, now| stamps.note_write(stamp, now));
    }

    /// The lock file was taken, written or judged: as it lies there now, it is no news. Blocking, for the pool.
    pub fn note_lock(&self, folder: &ProjectDir) {
        if let Ok(stamp) = folder.stamp(store::Watched::Lock) {
            self.note(|stamps, _| stamps.note_lock(stamp));
        }
    }

    /// The actor's file work begins to write. Until the answer is dropped nothing is looked at, or the actor would be
    /// told of its own write; what others write meanwhile is looked at afterwards. Note the written stamp before that.
    pub fn begin_write(self: &Arc<Self>) -> Writing {
        lock(&self.seen).writing = true;
        Writing(self.clone())
    }

    /// Wants what was missed to be looked at, unless the actor writes (then the end of its write does this).
    pub(super) fn look_at_missed(self: &Arc<Self>) {
        if lock(&self.seen).writing {
            return;
        }
        if let (Some(missed), Some(shared)) = (self.missed(), self.shared.upgrade()) {
            shared.dirty.mark(self, missed);
        }
    }

    fn note(&self, change: impl FnOnce(&mut Stamps, Instant)) {
        let mut seen = lock(&self.seen);
        change(&mut seen.stamps, Instant::now());
        seen.notes += 1;
    }

    /// Looks, compares, and tells the actor if something differs or `weight` says so. Does not allocate when nothing
    /// differs. Blocks as long as the file system does.
    pub(super) fn look(&self, by: By, weight: Weight, now: Instant) -> Looked {
        let (folder, notes, sweep) = {
            let mut seen = lock(&self.seen);
            if seen.writing {
                return Looked::Writing;
            }
            seen.sweeps = (seen.sweeps + 1) % CLOSE_LOOK_EVERY;
            (seen.folder.upgrade(), seen.notes, seen.sweeps)
        };
        if by == By::Sweep
            && weight == Weight::Compare
            && folder.as_deref().is_some_and(|folder| self.is_same(folder, sweep, now))
        {
            return if self.mail.strong_count() == 0 { Looked::NoActor } else { Looked::Same };
        }
        let look = folder.as_deref().map(look_at);
        drop(folder);
        let mut seen = lock(&self.seen);
        if seen.writing {
            return Looked::Writing;
        }
        if seen.notes != notes {
            return Looked::Again;
        }
        let differs = look.as_ref().is_some_and(|look| seen.stamps.differs(look, by, now));
        if !differs && weight == Weight::Compare {
            return if self.mail.strong_count() == 0 { Looked::NoActor } else { Looked::Same };
        }
        let told = self.tell();
        if let (Looked::Told, Some(look)) = (told, &look) {
            seen.stamps.told(look, now);
        }
        told
    }

    /// Whether less than a close look is enough for this sweep, and finds everything as it was.
    fn is_same(&self, folder: &ProjectDir, sweep: u8, now: Instant) -> bool {
        match Depth::of(sweep, self.has_events()) {
            Depth::Queue => folder
                .stamp(store::Watched::Queue)
                .is_ok_and(|queue| !lock(&self.seen).stamps.queue_differs(queue, By::Sweep, now)),
            Depth::Glance => folder.glance().is_some_and(|(queue, lock_file)| {
                let look = Look::Named { queue, lock: Some(lock_file) };
                !lock(&self.seen).stamps.differs(&look, By::Sweep, now)
            }),
            Depth::Close => false,
        }
    }

    /// Lets changes go to the actor directly.
    pub(crate) fn set_actor(&self, actor: &Arc<Cell>) {
        self.actor.set(Arc::downgrade(actor)).ok();
    }

    /// Some time after the actor was told.
    pub(super) fn nudge(&self) {
        if let Some(actor) = self.actor.get().and_then(Weak::upgrade) {
            actor.nudge();
        }
    }

    fn tell(&self) -> Looked {
        let Some(mail) = self.mail.upgrade() else { return Looked::NoActor };
        if self.actor.get().and_then(Weak::upgrade).is_some_and(|actor| actor.touch()) {
            return Looked::Told;
        }
        match mail.try_send(Box::new(Mail::Event(Event::Touched))) {
            Ok(()) => Looked::Told,
            Err(TrySendError::Full(_)) => Looked::Full,
            Err(TrySendError::Closed(_)) => Looked::NoActor,
        }
    }

    /// The folders as they were opened, while the actor keeps them open.
    pub(super) fn folder(&self) -> Option<Arc<ProjectDir>> {
        lock(&self.seen).folder.upgrade()
    }

    /// Notes a mark; `true` if there was none.
    pub(super) fn mark(&self, weight: Weight) -> bool {
        self.mark.fetch_max(weight as u8, Ordering::AcqRel) == 0
    }

    /// Takes the mark.
    pub(super) fn unmark(&self) -> Option<Weight> {
        Weight::from_bits(self.mark.swap(0, Ordering::AcqRel))
    }

    /// Remembers what could not be done now.
    pub(super) fn miss(&self, weight: Weight) {
        self.missed.fetch_max(weight as u8, Ordering::AcqRel);
    }

    /// Takes what could not be done before.
    pub(super) fn missed(&self) -> Option<Weight> {
        Weight::from_bits(self.missed.swap(0, Ordering::AcqRel))
    }

    /// Whether its actor takes no more letters.
    pub(super) fn is_abandoned(&self) -> bool {
        self.mail.upgrade().is_none_or(|mail| mail.is_closed())
    }

    pub(super) fn retire(&self) {
        self.retired.store(true, Ordering::Release);
    }

    pub(super) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    pub(super) fn can_hang(&self) -> bool {
        self.can_hang.load(Ordering::Relaxed)
    }

    /// A look did not come back: from now on they go through the pool, until one comes back in time.
    pub(super) fn is_found_hanging(&self) {
        self.can_hang.store(true, Ordering::Relaxed);
    }

    /// A look through the pool came back.
    pub(super) fn answers(&self) {
        if let Some(folder) = self.folder() {
            self.can_hang.store(folder.fs_kind().can_hang(), Ordering::Relaxed);
        }
    }

    /// The device that the project lies on.
    pub(super) fn device(&self) -> Option<u64> {
        self.folder().map(|folder| folder.identity().device)
    }

    /// Begins a look; `false` if one is out.
    pub(super) fn begin_look(&self) -> bool {
        !self.looking.swap(true, Ordering::AcqRel)
    }

    pub(super) fn end_look(&self) {
        self.looking.store(false, Ordering::Release);
    }

    #[cfg(test)]
    pub(super) fn is_looking(&self) -> bool {
        self.looking.load(Ordering::Acquire)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn how(&self) -> How {
        lock(&self.how).clone()
    }

    /// Replaces how it is watched and returns how it was.
    pub(super) fn set_how(&self, how: How) -> How {
        std::mem::replace(&mut *lock(&self.how), how)
    }

    /// `path`, without a second copy when it is how the project was registered.
    pub(super) fn shared_path(&self, path: &Path) -> Arc<Path> {
        if path.as_os_str() == self.path.as_os_str() { self.path.clone() } else { path.into() }
    }

    /// Nothing is to be read again for certainty.
    #[cfg(test)]
    pub(super) fn is_settled(&self) -> bool {
        lock(&self.seen).stamps.is_confirmed()
    }

    /// Nobody has it on a list of what to look at.
    #[cfg(test)]
    pub(super) fn is_unmarked(&self) -> bool {
        self.mark.load(Ordering::Acquire) == 0
    }

    fn has_events(&self) -> bool {
        matches!(&*lock(&self.how), How::Events { .. })
    }

    /// The folder whose route leads here.
    pub(super) fn armed(&self) -> Option<Arc<Path>> {
        match &*lock(&self.how) {
            How::Events { root } => Some(root.clone()),
            _ => None,
        }
    }
}

fn look_at(folder: &ProjectDir) -> Look {
    if folder.still_named().is_err() {
        return Look::Moved;
    }
    let stamp = |file| folder.stamp(file).ok().flatten();
    Look::Named { queue: stamp(store::Watched::Queue), lock: stamp(store::Watched::Lock) }
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watched").field("path", &self.path).finish_non_exhaustive()
    }
}
