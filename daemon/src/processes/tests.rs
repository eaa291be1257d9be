//! Real processes where the kernel must play its part, a process table by hand where it cannot be made to.

#![expect(clippy::disallowed_methods, reason = "tests start processes to watch")]

use std::collections::HashMap;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lifecycle::{Event, Process, Stopped};
use rustix::process::{Pid, Signal, kill_process};
use store::{Claimant, Description, Presence, SystemProcesses};
use tokio::sync::mpsc;

use super::{Processes, is_alive, lock, sample};
use crate::actor::mail::Mail;

const DEADLINE: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_millis(10);

struct Mailbox {
    mail: mpsc::Sender<Box<Mail>>,
    letters: mpsc::Receiver<Box<Mail>>,
}

impl Mailbox {
    fn new() -> Self {
        let (mail, letters) = mpsc::channel(1);
        Self { mail, letters }
    }

    fn address(&self) -> mpsc::WeakSender<Box<Mail>> {
        self.mail.downgrade()
    }

    async fn next(&mut self) -> Event {
        let letter = tokio::time::timeout(DEADLINE, self.letters.recv()).await.expect("a letter in time").unwrap();
        match *letter {
            Mail::Event(event) => event,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn is_gone(event: &Event, process: Process) {
        assert!(matches!(event, Event::ProcessGone(gone) if *gone == process), "{event:?}");
    }
}

/// A process that does nothing; killed and reaped at the end of the test.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn process(&self) -> Process {
        let pid = self.0.id();
        let Presence::Alive { started, .. } = store::Processes::look(&SystemProcesses, pid.cast_signed()) else {
            panic!("it runs");
        };
        Process { pid, started: started.unwrap() }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.0.id().cast_signed()).unwrap(), signal).unwrap();
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A process table by hand.
#[derive(Debug, Default)]
struct Table(Mutex<HashMap<i32, Presence>>);

impl Table {
    fn set(&self, pid: i32, presence: Presence) {
        self.0.lock().unwrap().insert(pid, presence);
    }
}

impl store::Processes for Table {
    fn look(&self, pid: i32) -> Presence {
        self.0.lock().unwrap().get(&pid).copied().unwrap_or(Presence::Gone)
    }

    fn describe(&self, _: i32) -> Description {
        Description::default()
    }
}

/// No process has these numbers, so the kernel gives no pidfd for them.
const NO_PIDFD: i32 = i32::MAX - 100;

fn system() -> Processes {
    Processes::with_interval(Arc::new(SystemProcesses), INTERVAL)
}

#[tokio::test]
async fn the_end_is_told_while_it_still_waits_to_be_reaped() {
    let (processes, mut mailbox, sleeper) = (system(), Mailbox::new(), Sleeper::start());
    let process = sleeper.process();
    let watch = processes.watch(process, mailbox.address());
    assert_eq!(watch.process(), process);
    sleeper.signal(Signal::KILL);
    Mailbox::is_gone(&mailbox.next().await, process);
}

#[tokio::test]
async fn a_process_that_is_gone_is_told_of_at_once() {
    let (processes, mut mailbox, sleeper) = (system(), Mailbox::new(), Sleeper::start());
    let process = sleeper.process();
    drop(sleeper);
    let _watch = processes.watch(process, mailbox.address());
    Mailbox::is_gone(&mailbox.next().await, process);
    for pid in [0, u32::MAX] {
        let process = Process { pid, started: 0 };
        let _watch = processes.watch(process, mailbox.address());
        Mailbox::is_gone(&mailbox.next().await, process);
    }
}

#[tokio::test]
async fn another_process_under_the_number_means_gone() {
    let (processes, mut mailbox, sleeper) = (system(), Mailbox::new(), Sleeper::start());
    let process = Process { started: sleeper.process().started + 1, ..sleeper.process() };
    let _watch = processes.watch(process, mailbox.address());
    Mailbox::is_gone(&mailbox.next().await, process);
}

#[tokio::test]
async fn a_stopped_process_is_told_of_and_its_going_on_too() {
    let (processes, mut mailbox, sleeper) = (system(), Mailbox::new(), Sleeper::start());
    let watched = sleeper.process();
    let _watch = processes.watch(watched, mailbox.address());
    for (signal, expected) in [(Signal::STOP, Stopped::Yes), (Signal::CONT, Stopped::No)] {
        sleeper.signal(signal);
        let event = mailbox.next().await;
        let fits =
            matches!(event, Event::ProcessStopped { process, stopped } if process == watched && stopped == expected);
        assert!(fits, "{event:?}");
    }
}

#[tokio::test]
async fn all_who_depend_on_it_are_told_and_nobody_else() {
    let (processes, sleeper) = (system(), Sleeper::start());
    let process = sleeper.process();
    let (mut one, mut two, mut three) = (Mailbox::new(), Mailbox::new(), Mailbox::new());
    let _one = processes.watch(process, one.address());
    let two_watch = processes.watch(process, two.address());
    let _three = processes.watch_run("r-1".to_owned(), process.pid, three.address());
    assert_eq!(lock(&processes.shared.table).processes(), 2, "one entry for a process, and one without its start");
    drop(two_watch);
    sleeper.signal(Signal::KILL);
    Mailbox::is_gone(&one.next().await, process);
    let event = three.next().await;
    assert!(matches!(&event, Event::RunsGone(runs) if runs == &["r-1"]), "{event:?}");
    assert!(two.letters.try_recv().is_err());
    assert_eq!(lock(&processes.shared.table).processes(), 0);
}

#[tokio::test]
async fn without_a_pidfd_the_end_is_found_by_sampling() {
    let (table, mut mailbox) = (Arc::new(Table::default()), Mailbox::new());
    let processes = Processes::with_interval(table.clone(), INTERVAL);
    let process = Process { pid: NO_PIDFD.unsigned_abs(), started: 7 };
    table.set(NO_PIDFD, Presence::Alive { started: Some(7), stopped: true });
    let _watch = processes.watch(process, mailbox.address());
    assert!(matches!(mailbox.next().await, Event::ProcessStopped { stopped: Stopped::Yes, .. }));
    table.set(NO_PIDFD, Presence::Alive { started: Some(8), stopped: false });
    Mailbox::is_gone(&mailbox.next().await, process);
}

#[tokio::test]
async fn many_processes_are_sampled_in_turn_and_none_is_left_out() {
    let (table, mut mailbox) = (Arc::new(Table::default()), Mailbox::new());
    let processes = Processes::with_interval(table.clone(), INTERVAL);
    let mut watches = Vec::new();
    for number in 0..50 {
        let pid = NO_PIDFD + number;
        table.set(pid, Presence::Alive { started: None, stopped: true });
        watches.push(processes.watch(Process { pid: pid.unsigned_abs(), started: 1 }, mailbox.address()));
    }
    let mut told = Vec::new();
    for _ in 0..50 {
        let Event::ProcessStopped { process, .. } = mailbox.next().await else { panic!("only stops were made") };
        told.push(process.pid);
    }
    told.sort_unstable();
    told.dedup();
    assert_eq!(told.len(), 50);
}

#[tokio::test(start_paused = true)]
async fn sampling_ends_with_the_last_watch_and_begins_again() {
    let (table, mailbox) = (Arc::new(Table::default()), Mailbox::new());
    let processes = Processes::with_interval(table.clone(), INTERVAL);
    table.set(NO_PIDFD, Presence::Alive { started: None, stopped: false });
    let watch = || processes.watch(Process { pid: NO_PIDFD.unsigned_abs(), started: 1 }, mailbox.address());
    let first = watch();
    assert!(lock(&processes.shared.table).is_sampling());
    drop(first);
    sample::run(processes.shared.clone()).await;
    assert!(!lock(&processes.shared.table).is_sampling());
    let _second = watch();
    assert!(lock(&processes.shared.table).is_sampling());
}

#[test]
fn alive_is_this_very_process() {
    let (me, sleeper) = (Claimant::current(None), Sleeper::start());
    let process = sleeper.process();
    assert!(is_alive(&me, process));
    assert!(is_alive(&me, Process { started: 0, ..process }));
    assert!(!is_alive(&me, Process { started: process.started + 1, ..process }));
    assert!(!is_alive(&me, Process { pid: u32::MAX, ..process }));
    drop(sleeper);
    assert!(!is_alive(&me, process));
}
