//! A throw-away project, a meddler that acts as another process at a chosen system call, and the fault loop.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use store::sys::{Call, FaultPlan, Gate, Pass, Sys};
use store::{PiFolder, ProjectDir, RawHash};

pub(crate) const EINTR: i32 = 4;
pub(crate) const EIO: i32 = 5;
pub(crate) const EXDEV: i32 = 18;
pub(crate) const EINVAL: i32 = 22;
pub(crate) const ENOSPC: i32 = 28;
pub(crate) const EROFS: i32 = 30;
pub(crate) const EOPNOTSUPP: i32 = 95;

/// A project in a temporary folder; `.pi` exists.
pub(crate) struct Project {
    _temp: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Project {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("app");
        fs::create_dir_all(root.join(".pi")).unwrap();
        Self { _temp: temp, root }
    }

    pub(crate) fn with_queue(bytes: &[u8]) -> Self {
        let project = Self::new();
        fs::write(project.queue(), bytes).unwrap();
        project
    }

    pub(crate) fn queue(&self) -> PathBuf {
        self.root.join("tasks.json")
    }

    pub(crate) fn queue_bytes(&self) -> Vec<u8> {
        fs::read(self.queue()).unwrap()
    }

    pub(crate) fn open(&self) -> ProjectDir {
        self.open_with(&Sys::real())
    }

    pub(crate) fn open_with(&self, sys: &Sys) -> ProjectDir {
        ProjectDir::open(&self.root, sys, PiFolder::Create).unwrap()
    }

    /// The names in the root that are neither the queue nor `.pi`.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        names(&self.root).into_iter().filter(|name| name != "tasks.json" && name != ".pi").collect()
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn now() -> Timestamp {
    "2026-11-30T08:12:03.120Z".parse().unwrap()
}

pub(crate) fn hash(bytes: &[u8]) -> store::Expected {
    store::Expected::Bytes(RawHash::of(bytes))
}

/// Replaces a file as careful writers do: a temporary and a rename.
pub(crate) fn write_by_rename(target: &Path, bytes: &[u8]) {
    let temporary = target.with_extension("planner");
    fs::write(&temporary, bytes).unwrap();
    fs::rename(&temporary, target).unwrap();
}

type Act = Box<dyn Fn(usize) + Send + Sync>;

/// Acts as another process right before calls of one kind; the closure gets the call's number among its kind.
pub(crate) struct Meddler {
    at: Call,
    seen: AtomicUsize,
    act: Act,
}

impl Meddler {
    pub(crate) fn sys(at: Call, act: impl Fn(usize) + Send + Sync + 'static) -> Sys {
        Sys::gated(Arc::new(Self { at, seen: AtomicUsize::new(0), act: Box::new(act) }))
    }
}

impl Gate for Meddler {
    fn pass(&self, call: Call, _name: &Path) -> Pass {
        if call == self.at {
            (self.act)(self.seen.fetch_add(1, Ordering::SeqCst));
        }
        Pass::Go
    }
}

/// Runs `act` on a fresh world for every system call it makes and every error number, that call failing once.
///
/// `world` builds the state, `act` gets it with a gated `Sys` and says whether it succeeded, `check` sees what is left
/// (with the error number and whether `act` succeeded) and asserts the promises.
pub(crate) fn each_fault<W>(
    errnos: &[i32],
    world: impl Fn() -> W,
    act: impl Fn(&W, &Sys) -> bool,
    check: impl Fn(&W, i32, bool, &str),
) {
    let recorder = Arc::new(FaultPlan::recorder());
    assert!(act(&world(), &Sys::gated(recorder.clone())), "the act must succeed without a fault");
    let calls = recorder.made();
    assert!(calls.len() > 3, "the act makes system calls");
    for (number, made) in calls.iter().enumerate() {
        for errno in errnos {
            let here = world();
            let plan = Arc::new(FaultPlan::nth(number, Pass::Fail(*errno)));
            let succeeded = act(&here, &Sys::gated(plan));
            let label = format!("call {number} ({:?} {}) failing with {errno}", made.call, made.name.display());
            if *errno == EINTR {
                assert!(succeeded, "an interrupted call is repeated: {label}");
            }
            check(&here, *errno, succeeded, &label);
        }
    }
}
