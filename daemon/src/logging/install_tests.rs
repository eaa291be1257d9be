//! The whole way from a macro of `tracing` to the line that comes out, inside one process.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tracing::subscriber::with_default;
use tracing::{debug, error, info, info_span, warn};

use super::super::form::project_of_line;
use super::*;

/// Keeps every line.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<String>>);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(std::str::from_utf8(line).unwrap());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whatever must happen has happened by then, however slow the machine.
const LONG: Duration = Duration::from_secs(60);
/// A window that no test outlives: how long it takes decides nothing.
const ENDLESS_MS: u64 = 3_600_000;
/// A window that ends within a test, and in which three lines are surely written.
const WINDOW_MS: u64 = 2_000;

/// What is written when `work` logs in `form`, in [`timeless`] lines.
fn lines(form: Form, work: impl FnOnce(&LogGuard)) -> Vec<String> {
    let lines = Lines::default();
    let sink = Sink::Other(Box::new(lines.clone()));
    let (subscriber, guard) =
        assemble(sink, Progress::default(), form, parse_level("info").unwrap(), Folds::new(ENDLESS_MS)).unwrap();
    with_default(subscriber, || work(&guard));
    let pipe = Arc::clone(&guard.pipe);
    drop(guard);
    // The guard waits for the writing thread no longer than a second.
    pipe.flush(LONG);
    let text = lines.0.lock().unwrap().clone();
    text.lines().map(timeless).collect()
}

/// A line without the seconds in which something was counted: they are the machine's, not the test's.
fn timeless(line: &str) -> String {
    let counted = line.split_once(" more in ").filter(|(_, span)| !span.starts_with('0'));
    counted.map_or_else(|| line.to_owned(), |(before, _)| format!("{before} more)"))
}

/// The lines of `work`, without their times.
#[track_caller]
fn check(work: impl FnOnce(), expected: &[&str]) {
    let lines = lines(Form::Plain, |_| work());
    let without_time: Vec<_> = lines
        .iter()
        .map(|line| {
            let (time, rest) = line.split_once(' ').unwrap();
            assert!(Wall::parse(time).is_some() && time.len() == 24, "{line}");
            rest
        })
        .collect();
    assert_eq!(without_time, expected);
}

#[test]
fn project_and_task_come_first() {
    check(
        || {
            info!(project = "alpha", task = "T-1", bytes = 12, ok = true, "task sent");
            warn!(project = "two words", "odd");
            info!("no project");
        },
        &[
            "INFO  project=alpha task=T-1 task sent bytes=12 ok=true",
            "WARN  project=\"two words\" odd",
            "INFO  no project",
        ],
    );
}

#[test]
fn spans_lend_their_fields() {
    check(
        || {
            let project = info_span!("project", project = "alpha", task = tracing::field::Empty);
            let _in_project = project.enter();
            info!("before");
            project.record("task", "T-1");
            info_span!("session", session = 7).in_scope(|| info!("inside"));
            info!(project = "beta", "said itself");
        },
        &[
            "INFO  project=alpha before",
            "INFO  project=alpha task=T-1 inside session=7",
            "INFO  project=beta task=T-1 said itself",
        ],
    );
}

#[test]
fn foreign_text_cannot_break_out_or_leak() {
    let secret = format!("ghp{}{}", "_", "x1".repeat(20));
    check(
        || info!(project = "a\nERROR forged", value = "1 project=b\u{1b}[2J", "token {secret}\u{202e} \u{200b}end"),
        &[r#"INFO  project="a ERROR forged" token [masked GitHub token] end value="1 project=b[2J""#],
    );
}

#[test]
fn errors_tell_their_causes() {
    let cause = io::Error::new(io::ErrorKind::PermissionDenied, "denied");
    let error = LogError::Io { act: "open", path: "/x".into(), source: cause };
    check(
        || error!(error = &error as &dyn std::error::Error, "failed"),
        &["ERROR failed error=\"cannot open /x: denied\""],
    );
}

#[test]
fn repeats_are_counted_and_told_at_the_end() {
    check(
        || {
            for _ in 0..5000 {
                warn!(project = "alpha", "rescan demanded");
            }
            warn!(project = "beta", "rescan demanded");
        },
        &[
            "WARN  project=alpha rescan demanded",
            "WARN  project=beta rescan demanded",
            "WARN  project=alpha rescan demanded (4999 more)",
        ],
    );
}

#[test]
fn json_is_one_object_a_line() {
    let lines = lines(Form::Json, |_| {
        info!(project = "alpha", task = "T-1", level = "own", bytes = 12, "sent \"x\"");
    });
    let object: Value = serde_json::from_str(&lines[0]).unwrap();
    let expected = serde_json::json!({
        "at": object["at"], "level": "info", "project": "alpha", "task": "T-1", "message": "sent \"x\"",
        "fields": {"level": "own", "bytes": 12}, "target": module_path!(),
    });
    assert_eq!((lines.len(), object), (1, expected));
}

#[test]
fn a_service_manager_gets_priorities_instead_of_times() {
    let lines = lines(Form::Priority, |_| {
        error!("e");
        warn!("w");
        info!(project = "p", "i");
    });
    assert_eq!(lines, ["<3>e", "<4>w", "<6>project=p i"]);
}

#[test]
fn a_terminal_gets_colours_only_if_allowed() {
    let bare = lines(Form::Pretty(Paint::Nothing), |_| info!(project = "p", task = "T-1", n = 1, "said"));
    assert_eq!(bare[0].get(8..), Some(" INFO  p T-1 said n=1"));
    let painted = lines(Form::Pretty(Paint::Colours), |_| info!(project = "p", "said"));
    assert!(painted[0].contains("\u{1b}["));
}

#[test]
fn the_project_of_a_line_is_found_again() {
    for form in [Form::Plain, Form::Json] {
        let lines = lines(form, |_| {
            info!(project = "alpha", "x");
            warn!(project = "two \"words\"", "x");
            info!("project=forged");
            info!(other = "project=forged", "x");
        });
        let projects: Vec<_> = lines.iter().map(|line| project_of_line(line)).collect();
        assert_eq!(projects, [Some("alpha".to_owned()), Some("two \"words\"".to_owned()), None, None], "{lines:?}");
    }
}

#[test]
fn the_level_changes_while_running() {
    let lines = lines(Form::Priority, |guard| {
        debug!("one");
        guard.set_level("debug").unwrap();
        debug!("two");
        guard.set_level("off, handoffd::logging = warn").unwrap();
        info!("three");
        warn!("four");
        assert!(guard.set_level("loud").is_err());
        warn!("five");
    });
    assert_eq!(lines, ["<7>two", "<4>four", "<4>five"]);
}

#[test]
fn a_level_that_is_none_is_refused() {
    for (text, expected) in [
        ("verbose", "`verbose` is no log level (`verbose` is none); levels are off, error, warn, info, debug, trace"),
        ("x=loud", "`x=loud` is no log level (`loud` is none); levels are off, error, warn, info, debug, trace"),
        ("", "`` is no log level (`` is none); levels are off, error, warn, info, debug, trace"),
    ] {
        assert_eq!(parse_level(text).unwrap_err().to_string(), expected);
    }
    assert!(parse_level("INFO,handoffd::journal=trace").is_ok());
}

/// Does not take a line before it is told to.
struct Stuck(Receiver<()>);

impl Write for Stuck {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.recv().ok();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn stuck() -> (Sender<()>, Sink) {
    let (release, wait) = channel();
    (release, Sink::Other(Box::new(Stuck(wait))))
}

#[test]
fn a_stuck_sink_holds_nobody_up_and_is_counted() {
    let (release, sink) = stuck();
    let (subscriber, guard) =
        assemble(sink, Progress::default(), Form::Plain, parse_level("debug").unwrap(), Folds::new(FIRST_WINDOW_MS))
            .unwrap();
    let (tell, told) = channel();
    thread::spawn(move || {
        with_default(subscriber, || {
            for number in 0..20_000 {
                debug!(number, "flood");
            }
        });
        tell.send(()).unwrap();
    });
    // The sink takes nothing before `release` is dropped: whoever waits for it, waits for ever.
    told.recv_timeout(LONG).expect("nobody waits for the sink");
    let dropped = guard.stats().dropped;
    assert!((18_000..20_000).contains(&dropped), "{dropped}");
    drop(release);
    guard.flush(LONG);
}

/// Fails as long as the disk is full.
struct Failing(Arc<AtomicBool>, Lines);

impl Write for Failing {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => self.1.write(line),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn lines_that_failed_are_told_by_the_first_that_can_be_written() {
    let (lines, full) = (Lines::default(), Arc::new(AtomicBool::new(true)));
    let sink = Sink::Other(Box::new(Failing(Arc::clone(&full), lines.clone())));
    let (subscriber, guard) =
        assemble(sink, Progress::default(), Form::Priority, parse_level("info").unwrap(), Folds::new(FIRST_WINDOW_MS))
            .unwrap();
    with_default(subscriber, || {
        for number in 0..3 {
            info!(number, "lost");
        }
        guard.flush(LONG);
        full.store(false, Ordering::Relaxed);
        info!("kept");
        info!("and so on");
    });
    assert_eq!((guard.stats().dropped, guard.stats().failed), (0, 3));
    let pipe = Arc::clone(&guard.pipe);
    drop(guard);
    pipe.flush(LONG);
    let text = lines.0.lock().unwrap().clone();
    assert_eq!(text, "<4>log lines were lost dropped=0 failed=3 error=\"no storage space\"\n<6>kept\n<6>and so on\n");
}

#[test]
fn a_value_that_logs_while_it_is_shown_does_no_harm() {
    struct Talkative;
    impl fmt::Display for Talkative {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            info!("from inside");
            f.write_str("shown")
        }
    }
    check(|| info!("value {Talkative}"), &["INFO  value shown"]);
}

#[test]
fn a_count_is_written_when_its_window_ends_even_if_nothing_else_happens() {
    let lines = Lines::default();
    let sink = Sink::Other(Box::new(lines.clone()));
    let (subscriber, guard) =
        assemble(sink, Progress::default(), Form::Priority, parse_level("info").unwrap(), Folds::new(WINDOW_MS))
            .unwrap();
    with_default(subscriber, || (0..3).for_each(|_| info!("again")));
    guard.progress.wait_for(2, LONG);
    let text = lines.0.lock().unwrap().clone();
    assert_eq!(text.lines().map(timeless).collect::<Vec<_>>(), ["<6>again", "<6>again (2 more)"]);
}

#[test]
fn what_comes_back_is_written_at_once_and_in_order() {
    let lines = lines(Form::Priority, |_| {
        for state in ["waiting", "waiting", "running", "waiting", "running"] {
            info!(project = "p", state);
        }
    });
    let expected = ["waiting", "waiting (1 more)", "running", "waiting", "running"];
    assert_eq!(lines, expected.map(|line| format!("<6>project=p  state={line}")));
}

#[test]
fn a_count_has_the_time_at_which_it_is_told() {
    let lines = Lines::default();
    let sink = Sink::Other(Box::new(lines.clone()));
    let level = parse_level("info").unwrap();
    let (subscriber, guard) = assemble(sink, Progress::default(), Form::Plain, level, Folds::new(WINDOW_MS)).unwrap();
    let told = with_default(subscriber, || {
        (0..3).for_each(|_| info!("again"));
        Wall::now()
    });
    guard.progress.wait_for(2, LONG);
    let text = lines.0.lock().unwrap().clone();
    let at = Wall::parse(text.lines().nth(1).unwrap().split(' ').next().unwrap()).unwrap();
    assert!(at > told && text.lines().last().map(timeless).unwrap().ends_with("again (2 more)"), "{text}");
}
