//! File events of Linux, read by us: one inotify instance and one thread for all folders.
//!
//! Not through the library that other systems are watched with (`native`), for two reasons, both measured by the
//! benches: that one asks for opens and writes, too, so that each of our own reads and temporary files would wake its
//! thread in the middle of a dispatch; and it keeps a thread for reading alone, so that a look would need another one
//! to be woken. Here the thread that has read what happened looks at once, and works at once on what it finds, while
//! another one reads on.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::backend::{About, Backend, Fault, HandOver, Hint, Sink};
use super::baton::Baton;
use super::lock;
use super::sweep::GATHER;

/// A new name, a name gone, a file that was written and closed, attributes, the folder itself. Not opens and not single
/// writes: a writer's file is complete when it is closed, and one that is never closed is the sweep's business.
const WANTED: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::EXCL_UNLINK);

/// Room for some dozens of events.
const BUFFER: usize = 4096;

struct Inotify {
    shared: Arc<Shared>,
}

struct Shared {
    events: OwnedFd,
    /// Readable: the thread ends.
    stop: OwnedFd,
    folders: Mutex<Folders>,
    baton: Baton,
}

#[derive(Default)]
struct Folders {
    by_number: HashMap<i32, PathBuf>,
}

/// Makes the instance and its threads.
pub(super) fn open(sink: Sink) -> Result<Box<dyn Backend>, Fault> {
    let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(instances)?;
    let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(instances)?;
    let shared = Arc::new(Shared { events, stop, folders: Mutex::default(), baton: Baton::default() });
    let inotify = Inotify { shared: shared.clone() };
    // One that reads, one that may be at work.
    for sink in [sink.clone(), sink] {
        let reader = shared.clone();
        let thread = std::thread::Builder::new().name("handoffd-events".to_owned());
        thread.spawn(move || reader.serve(&*sink)).map_err(|error| Fault::Other(error.to_string().into()))?;
    }
    Ok(Box::new(inotify))
}

impl Backend for Inotify {
    fn add(&mut self, folder: &Path) -> Result<(), Fault> {
        // The number is known to the thread before its first event can be read.
        let mut folders = lock(&self.shared.folders);
        let number = inotify::add_watch(&self.shared.events, folder, WANTED).map_err(watches)?;
        folders.by_number.insert(number, folder.to_owned());
        Ok(())
    }

    fn remove(&mut self, folder: &Path) {
        let mut folders = lock(&self.shared.folders);
        let found = folders.by_number.iter().find(|(_, known)| *known == folder).map(|(number, _)| *number);
        if let Some(number) = found {
            folders.by_number.remove(&number);
            // An error says that the kernel has dropped it already.
            inotify::remove_watch(&self.shared.events, number).ok();
        }
    }
}

impl Drop for Inotify {
    fn drop(&mut self) {
        rustix::io::write(&self.shared.stop, &1_u64.to_ne_bytes()).ok();
    }
}

impl Shared {
    /// What each thread does: reads when it is its turn, until the other one reads on while it works.
    fn serve(&self, sink: &(dyn Fn(&Hint<'_>) + Send + Sync)) {
        while self.baton.take() {
            // What follows closely on what the other one is at work on comes together.
            std::thread::sleep(GATHER);
            if !self.read_until_handed_over(sink) {
                self.baton.end();
            }
        }
    }

    /// `false`: it is time to end.
    fn read_until_handed_over(&self, sink: &(dyn Fn(&Hint<'_>) + Send + Sync)) -> bool {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let handed_over = Cell::new(false);
        let hand_over = || {
            handed_over.set(self.baton.hand_over());
            handed_over.get()
        };
        while !handed_over.get() {
            if !self.wait() {
                return false;
            }
            // The event comes in the middle of the planner's rename. That one holds the folder until its old file is freed,
            // and may have been sent off this processor for us.
            std::thread::yield_now();
            let mut reader = inotify::Reader::new(&self.events, &mut buffer);
            loop {
                match reader.next() {
                    Ok(event) => self.deliver(&event, sink),
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => break,
                    Err(_) => {
                        sink(&Hint::Lost);
                        break;
                    }
                }
                if reader.is_buffer_empty() {
                    // Look before more is read: what came meanwhile is one wake-up later.
                    break;
                }
            }
            sink(&Hint::Look(HandOver(&hand_over)));
        }
        true
    }

    /// Waits for events; `false` when it is time to end.
    fn wait(&self) -> bool {
        loop {
            let mut both = [PollFd::new(&self.events, PollFlags::IN), PollFd::new(&self.stop, PollFlags::IN)];
            match poll(&mut both, None) {
                Ok(_) if !both[1].revents().is_empty() => return false,
                Ok(_) => return true,
                Err(Errno::INTR) => {}
                Err(error) => {
                    tracing::error!(%error, "file events cannot be waited for; the sweep goes on alone");
                    return false;
                }
            }
        }
    }

    fn deliver(&self, event: &inotify::Event<'_>, sink: &(dyn Fn(&Hint<'_>) + Send + Sync)) {
        let flags = event.events();
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            return sink(&Hint::Lost);
        }
        let mut folders = lock(&self.folders);
        if flags.contains(ReadFlags::IGNORED) {
            // The folder is gone; the kernel may give its number to another one.
            folders.by_number.remove(&event.wd());
            return;
        }
        let Some(folder) = folders.by_number.get(&event.wd()).cloned() else { return };
        drop(folders);
        let about = if flags.contains(ReadFlags::ATTRIB) { About::Metadata } else { About::Content };
        let path = match event.file_name() {
            Some(name) => folder.join(std::ffi::OsStr::from_bytes(name.to_bytes())),
            None => folder,
        };
        sink(&Hint::Path { path: &path, about });
    }
}

/// The same error number means different limits, so what was being made decides.
fn instances(errno: Errno) -> Fault {
    match errno {
        Errno::MFILE => Fault::Instances { limit: limit("/proc/sys/fs/inotify/max_user_instances") },
        _ => other(errno),
    }
}

fn watches(errno: Errno) -> Fault {
    match errno {
        Errno::NOSPC => Fault::Watches { limit: limit("/proc/sys/fs/inotify/max_user_watches") },
        Errno::NOENT => Fault::Other("it is gone".into()),
        _ => other(errno),
    }
}

fn other(errno: Errno) -> Fault {
    Fault::Other(io::Error::from(errno).to_string().into())
}

/// A kernel setting.
fn limit(path: &str) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests play the planner and its editors, which know no `store`")]

    use std::fs::{self, File};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(60);

    struct World {
        folder: tempfile::TempDir,
        backend: Box<dyn Backend>,
        hints: Receiver<String>,
    }

    fn world() -> World {
        let folder = tempfile::tempdir().unwrap();
        let (told, hints) = channel();
        let told = Mutex::new(told);
        let sink = move |hint: &Hint<'_>| {
            let text = match hint {
                Hint::Path { path, about } => {
                    format!("{} {about:?}", path.file_name().unwrap_or_default().to_string_lossy())
                }
                Hint::Look(_) => "Look".to_owned(),
                hint => format!("{hint:?}"),
            };
            told.lock().unwrap().send(text).ok();
        };
        let mut backend = open(Arc::new(sink)).unwrap();
        backend.add(folder.path()).unwrap();
        World { folder, backend, hints }
    }

    impl World {
        /// The hints up to that of a file which is made now and moved away.
        fn hints(&self) -> Vec<String> {
            fs::create_dir(self.folder.path().join("end")).unwrap();
            fs::remove_dir(self.folder.path().join("end")).unwrap();
            let mut seen: Vec<String> = Vec::new();
            while seen.iter().filter(|hint| *hint == "end Content").count() < 2 {
                seen.push(self.hints.recv_timeout(DEADLINE).expect("the end is told of"));
            }
            seen.retain(|hint| hint != "Look" && hint != "end Content");
            seen
        }
    }

    #[test]
    fn f050_our_own_reading_wakes_nobody() {
        let world = world();
        let file = world.folder.path().join("tasks.json");
        fs::write(&file, "a").unwrap();
        world.hints();
        for _ in 0..3 {
            assert_eq!(fs::read(&file).unwrap(), b"a");
            File::open(&file).unwrap();
            fs::read_dir(world.folder.path()).unwrap().for_each(drop);
        }
        assert_eq!(world.hints(), Vec::<String>::new());
    }

    #[test]
    fn f045_every_kind_of_write_is_the_same_hint() {
        let world = world();
        let at = |name: &str| world.folder.path().join(name);
        fs::write(at("a"), "1").unwrap();
        assert_eq!(world.hints(), ["a Content", "a Content"], "made, closed");
        fs::write(at("a"), "22").unwrap();
        assert_eq!(world.hints(), ["a Content"], "closed");
        fs::rename(at("a"), at("b")).unwrap();
        assert_eq!(world.hints(), ["a Content", "b Content"], "moved");
        fs::hard_link(at("b"), at("c")).unwrap();
        fs::remove_file(at("b")).unwrap();
        let seen = world.hints();
        assert!(seen.contains(&"c Content".to_owned()) && seen.contains(&"b Content".to_owned()), "{seen:?}");
    }

    #[test]
    fn attributes_are_told_apart_and_a_look_follows() {
        use std::os::unix::fs::PermissionsExt as _;
        let world = world();
        fs::set_permissions(world.folder.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let name = world.folder.path().file_name().unwrap().to_string_lossy().into_owned();
        let mut seen = Vec::new();
        while seen.last().is_none_or(|hint| hint != "Look") {
            seen.push(world.hints.recv_timeout(DEADLINE).expect("a look is asked for"));
        }
        assert!(seen.contains(&format!("{name} Metadata")), "{seen:?}");
    }

    #[test]
    fn a_folder_that_is_taken_off_or_gone_is_silent_and_can_be_put_on_again() {
        let mut world = world();
        let inner = world.folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        world.backend.add(&inner).unwrap();
        world.backend.remove(&inner);
        world.backend.remove(&inner);
        world.hints();
        fs::write(inner.join("x"), "").unwrap();
        assert_eq!(world.hints(), Vec::<String>::new());
        world.backend.add(&inner).unwrap();
        fs::write(inner.join("x"), "y").unwrap();
        assert_eq!(world.hints(), ["x Content"]);
        fs::remove_dir_all(&inner).unwrap();
        world.hints();
        assert_eq!(world.backend.add(&inner), Err(Fault::Other("it is gone".into())));
        assert!(matches!(world.backend.add(&world.folder.path().join("none")), Err(Fault::Other(_))));
    }

    #[test]
    fn while_one_thread_is_at_work_another_reads_on() {
        let folder = tempfile::tempdir().unwrap();
        let (told, hints) = channel();
        let (gate, opened) = channel::<()>();
        let (told, opened) = (Mutex::new(told), Mutex::new(Some(opened)));
        let sink = move |hint: &Hint<'_>| match hint {
            Hint::Look(hand_over) if (hand_over.0)() => {
                // The first to work does so for long; whoever works after it is at once done.
                let Some(opened) = lock(&opened).take() else { return };
                lock(&told).send("at work".to_owned()).ok();
                assert!(opened.recv().is_err(), "the gate is dropped");
            }
            Hint::Path { path, .. } => {
                lock(&told).send(path.file_name().unwrap_or_default().to_string_lossy().into_owned()).ok();
            }
            _ => {}
        };
        let mut backend = open(Arc::new(sink)).unwrap();
        backend.add(folder.path()).unwrap();
        let mut number = 0;
        let mut wait_for = |wanted: &dyn Fn(&str, &str) -> bool| loop {
            number += 1;
            let name = number.to_string();
            fs::write(folder.path().join(&name), "").unwrap();
            while let Ok(hint) = hints.recv_timeout(Duration::from_millis(100)) {
                if wanted(&hint, &name) {
                    return;
                }
            }
        };
        wait_for(&|hint, _| hint == "at work");
        wait_for(&|hint, name| hint == name);
        drop(gate);
        wait_for(&|hint, name| hint == name);
    }

    #[test]
    fn f020_a_full_table_is_not_a_full_disk() {
        assert!(matches!(watches(Errno::NOSPC), Fault::Watches { .. }));
        assert!(matches!(instances(Errno::MFILE), Fault::Instances { .. }));
        assert!(matches!(watches(Errno::MFILE), Fault::Other(_)));
    }

    #[test]
    fn the_thread_ends_with_its_owner() {
        let World { backend, hints, .. } = world();
        drop(backend);
        while hints.recv_timeout(DEADLINE).is_ok() {}
        assert!(hints.recv_timeout(DEADLINE) == Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
    }
}
