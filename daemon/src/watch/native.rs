//! File events of systems other than Linux through the crate `notify`: the only file that names it, so that another
//! version or library is a change here and nowhere else.
//!
//! What is ours: hints come out of it, nothing else. Reading a file makes events too (opens, closes); those are dropped
//! here, or the daemon would feed itself (F050).

use std::io;
use std::path::Path;

use ::notify::event::{AccessKind, AccessMode, ModifyKind};
use ::notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::backend::{About, Backend, Fault, Hint, Sink};

struct Native(RecommendedWatcher);

/// One event stream and one thread for all folders.
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "compiled for its tests"))]
pub(super) fn open(sink: Sink) -> Result<Box<dyn Backend>, Fault> {
    let handler = move |event: ::notify::Result<Event>| deliver(&*sink, &event);
    let watcher = ::notify::recommended_watcher(handler).map_err(|error| fault(&error, Opening::Instance))?;
    Ok(Box::new(Native(watcher)))
}

impl Backend for Native {
    fn add(&mut self, folder: &Path) -> Result<(), Fault> {
        self.0.watch(folder, RecursiveMode::NonRecursive).map_err(|error| fault(&error, Opening::Watch))
    }

    fn remove(&mut self, folder: &Path) {
        // An error says that it is not watched any more, which is what is wanted.
        self.0.unwatch(folder).ok();
    }
}

fn deliver(sink: &(dyn Fn(&Hint<'_>) + Send + Sync), event: &::notify::Result<Event>) {
    let Ok(event) = event else { return sink(&Hint::Lost) };
    if event.need_rescan() {
        return sink(&Hint::Lost);
    }
    let about = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => About::Content,
        EventKind::Access(_) => return,
        EventKind::Modify(ModifyKind::Metadata(_)) => About::Metadata,
        _ => About::Content,
    };
    for path in &event.paths {
        sink(&Hint::Path { path, about });
    }
    sink(&Hint::Wake);
}

/// What was being made when the system refused: the same error number means different limits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    Instance,
    Watch,
}

fn fault(error: &::notify::Error, opening: Opening) -> Fault {
    match &error.kind {
        ErrorKind::MaxFilesWatch => watches(),
        ErrorKind::Io(error) => io_fault(error, opening),
        ErrorKind::PathNotFound => Fault::Other("it is gone".into()),
        _ => Fault::Other(error.to_string().into()),
    }
}

fn io_fault(error: &io::Error, opening: Opening) -> Fault {
    use rustix::io::Errno;
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOSPC) => watches(),
        Some(Errno::MFILE) if opening == Opening::Instance => {
            Fault::Instances { limit: limit("/proc/sys/fs/inotify/max_user_instances") }
        }
        _ => Fault::Other(error.to_string().into()),
    }
}

fn watches() -> Fault {
    Fault::Watches { limit: limit("/proc/sys/fs/inotify/max_user_watches") }
}

/// A kernel setting; `None` where there is no such file (macOS).
fn limit(path: &str) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Mutex;

    use ::notify::event::{CreateKind, DataChange, Flag, MetadataKind, RemoveKind};

    use super::*;

    #[track_caller]
    fn check(event: ::notify::Result<Event>, expected: &[&str]) {
        let seen = Mutex::new(Vec::new());
        let sink = |hint: &Hint<'_>| match hint {
            Hint::Wake => {}
            hint => seen.lock().unwrap().push(format!("{hint:?}")),
        };
        let event = event.map(|event| event.add_path(PathBuf::from("/p")));
        deliver(&sink, &event);
        assert_eq!(seen.into_inner().unwrap(), expected, "{event:?}");
    }

    #[test]
    fn our_own_reading_gives_no_hint() {
        for kind in
            [AccessKind::Any, AccessKind::Read, AccessKind::Open(AccessMode::Any), AccessKind::Close(AccessMode::Read)]
        {
            check(Ok(Event::new(EventKind::Access(kind))), &[]);
        }
    }

    #[test]
    fn f045_every_other_kind_is_the_same_hint() {
        let content = [r#"Path { path: "/p", about: Content }"#];
        for kind in [
            EventKind::Any,
            EventKind::Other,
            EventKind::Access(AccessKind::Close(AccessMode::Write)),
            EventKind::Create(CreateKind::Any),
            EventKind::Modify(ModifyKind::Data(DataChange::Any)),
            EventKind::Remove(RemoveKind::File),
        ] {
            check(Ok(Event::new(kind)), &content);
        }
        let metadata = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
        check(Ok(Event::new(metadata)), &[r#"Path { path: "/p", about: Metadata }"#]);
    }

    #[test]
    fn f023_an_overflow_needs_no_path() {
        let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        check(Ok(overflow), &["Lost"]);
        check(Err(::notify::Error::generic("torn")), &["Lost"]);
    }

    #[test]
    fn f020_a_full_table_is_not_a_full_disk() {
        let nospc = || ::notify::Error::io(io::Error::from_raw_os_error(28));
        assert!(matches!(fault(&nospc(), Opening::Watch), Fault::Watches { .. }));
        let mfile = || ::notify::Error::io(io::Error::from_raw_os_error(24));
        assert!(matches!(fault(&mfile(), Opening::Instance), Fault::Instances { .. }));
        assert!(matches!(fault(&mfile(), Opening::Watch), Fault::Other(_)));
        assert!(matches!(
            fault(&::notify::Error::new(ErrorKind::MaxFilesWatch), Opening::Watch),
            Fault::Watches { .. }
        ));
    }
}
