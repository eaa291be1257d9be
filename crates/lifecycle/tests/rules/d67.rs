//! D67: the work log.

use lifecycle::{Cause, ClaimResult, Content, Done, Recovered, Settings, State, Wall};
use queue::DispatchId;

use crate::rig::Rig;

const WHY: &str = "The work log could not be written: no heading";

fn failed() -> Result<(), String> {
    Err("no heading".into())
}

/// The command next is the one that helps, or the one that says what does.
#[test]
fn a_log_that_blocks_says_what_helps() {
    let check = |words: &str, helps: Option<&str>, expected: &str| {
        let mut rig = Rig::new();
        rig.attach(1);
        let cause = Cause { words: words.to_owned(), next: helps.map(str::to_owned) };
        rig.script.push_back(Done::Claimed(ClaimResult::WorkLog(cause)));
        rig.write(crate::rig::pending("T-1"));
        rig.shows(State::Blocked, "work_log");
        let status = rig.project.status(Wall(rig.wall));
        assert_eq!((status.why.as_deref(), status.next.as_deref()), (Some(words), Some(expected)));
    };
    check("there is no work log `log.md`: run `handoff init`", Some("handoff init"), "handoff init");
    check("the work log `log.md` has 2 hard links", Some("cp a b && mv b a"), "cp a b && mv b a");
    check("the work log has the heading `## Log` 2 times", None, "handoff doctor");
}

#[test]
fn log_then_complete_then_line() {
    let mut rig = Rig::at_work("T-1");
    rig.report(1, 50);
    assert_eq!(rig.jobs, ["CheckReport", "OpenLog", "WriteEnd", "AppendLog"]);
}

#[test]
fn a_log_that_cannot_be_opened_makes_it_error() {
    let mut rig = Rig::at_work("T-1");
    rig.script.push_back(Done::LogOpened(failed()));
    rig.report(1, 50);
    rig.says(&[&format!("ERROR {WHY}"), "r50 reported false Failed"]);
    assert!(matches!(rig.file.content, Content::Settled { complete: false, .. }));
}

#[test]
fn a_line_that_fails_turns_complete_into_error_before_anyone_is_told() {
    let mut rig = Rig::at_work("T-1");
    rig.script.push_back(Done::LogAppended(failed()));
    rig.report(1, 50);
    assert_eq!(rig.jobs, ["CheckReport", "OpenLog", "WriteEnd", "AppendLog", "WriteEnd"]);
    rig.says(&[&format!("ERROR {WHY}"), "r50 reported false Failed"]);
    assert!(matches!(rig.file.content, Content::Settled { complete: false, .. }));
}

#[test]
fn a_line_that_fails_leaves_an_error_as_it_is() {
    let mut rig = Rig::at_work("T-1");
    rig.script.push_back(Done::LogAppended(failed()));
    rig.gone(1);
    assert_eq!(rig.jobs[..3], ["OpenLog", "WriteEnd", "AppendLog"]);
    assert!(!rig.jobs[3..].contains(&"WriteEnd".to_owned()));
}

#[test]
fn one_line_for_every_task_that_was_running_also_for_a_strangers() {
    let rig = Rig::with(Settings::DEFAULT, crate::rig::running("T-1", None, None), None);
    assert_eq!(rig.jobs, ["Acquire", "Read", "OpenLog", "WriteEnd", "AppendLog"]);
}

#[test]
fn a_demotion_over_a_file_that_changed_meanwhile_is_told_and_answered() {
    let mut rig = Rig::at_work("T-1");
    rig.script.push_back(Done::LogAppended(failed()));
    rig.script.push_back(Done::EndWritten(Ok([200; 32])));
    rig.script.push_back(Done::EndWritten(Err(lifecycle::Failure::CannotWrite("disk full".into()))));
    rig.report(1, 50);
    rig.says(&[]);
    rig.write(crate::rig::pending("T-22"));
    rig.wait(1_000);
    rig.idle(1);
    rig.says(&[&format!("ERROR {WHY}"), "r50 reported false Failed", "c1 dispatch"]);
}

fn after_a_crash(missing: u128) -> Rig {
    let by = DispatchId::from_random(7);
    let mut rig = Rig::new();
    rig.script.push_back(Done::Read(lifecycle::Seen::Failed(lifecycle::Failure::LockLost)));
    rig.event(lifecycle::Event::Touched);
    rig.recovered = Some(Recovered { binding: None, alive: false });
    rig.file.content = Content::Settled { by: Some(by), complete: true, task_id: Some("T-1".into()) };
    rig.file.hash = Some([7; 32]);
    rig.script.push_back(Done::Replayed(Err((vec![DispatchId::from_random(missing)], "no heading".into()))));
    rig.forget();
    rig.wait(1_000);
    rig
}

#[test]
fn a_complete_whose_line_cannot_be_made_up_for_is_demoted() {
    let mut rig = after_a_crash(7);
    rig.says(&["demoted"]);
    assert!(matches!(rig.file.content, Content::Settled { complete: false, .. }));
}

#[test]
fn a_missing_line_of_another_task_only_tells_the_person() {
    let mut rig = after_a_crash(8);
    rig.says(&[]);
    assert!(matches!(rig.file.content, Content::Settled { complete: true, .. }));
    rig.shows(State::Idle, "");
}
