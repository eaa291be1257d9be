//! Things that happen at the same moment: writers that still have the file open, writes during the report, two reports.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use handoffd_tests::{Attach, Manner, Task, report, wait};
use serde_json::json;

use crate::support::{Stage, stage};

/// Where a planner's bytes are now: in the queue, or kept beside it.
fn stands_somewhere(stage: &Stage, marker: &str) -> bool {
    let holds = |path: std::path::PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains(marker));
    let kept = stage.project.remains().into_iter().filter(|name| name.starts_with("tasks.json.lost-"));
    holds(stage.project.queue()) || kept.map(|name| stage.project.root().join(name)).any(holds)
}

/// Whether a planner's bytes are there at all, also in a file that was displaced a moment ago and is still to be settled.
/// They may be on their way from one place to the next while they are looked for, twice at most.
fn is_not_lost(stage: &Stage, marker: &str) -> bool {
    let holds = |path: std::path::PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains(marker));
    (0..3).any(|_| {
        let displaced = stage.project.remains().into_iter().map(|name| stage.project.root().join(name));
        holds(stage.project.queue()) || displaced.into_iter().any(holds)
    })
}

fn free(stage: &Stage) {
    wait::until("the project is free again", || {
        let row = stage.control.project(&stage.project);
        if row["state"] == "halted" {
            drop(stage.control.ask("project.resume", &stage.project, json!({})));
        }
        stage.session.state("idle");
        (row["state"] == "idle").then_some(())
    });
}

#[test]
fn a_writer_that_had_the_file_open_loses_nothing() {
    let stage = stage();
    stage.session.set_manner(Manner::Silent);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let displaced: Vec<_> = std::fs::read_dir(stage.project.root())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".swap"))
        .collect();
    assert_eq!(displaced.len(), 1, "the displaced file is kept until the session accepts");
    let mut late = File::options().write(true).open(&displaced[0]).unwrap();
    late.seek(SeekFrom::Start(0)).unwrap();
    late.write_all(Task::new("t-late").text().as_bytes()).unwrap();
    drop(late);
    stage.session.peer.answer(&dispatch.request, &json!({"accepted": true}));
    stage.control.wait_state(&stage.project, "halted", "lost_write");
    assert!(stands_somewhere(&stage, "t-late"));
    let kept = stage.project.remains();
    assert_eq!(kept.len(), 1, "{kept:?}");
}

#[test]
fn f242_a_task_written_during_the_report_is_never_lost() {
    let stage = stage();
    for round in 0..40 {
        let (first, second) = (format!("a-{round}"), format!("b-{round}"));
        stage.project.plan(&Task::new(&first));
        let dispatch = stage.session.wait_dispatch(&first);
        let params = json!({"dispatch_id": dispatch.id, "report": report::complete()});
        let asked = stage.session.peer.ask("task.report", params);
        let end = Instant::now() + Duration::from_micros(fastrand::u64(0..15_000));
        while Instant::now() < end {
            std::thread::yield_now();
        }
        stage.project.plan(&Task::new(&second));
        let answer = stage.session.peer.answer_to(asked, "task.report");
        match &answer {
            Ok(done) => assert_eq!(done["status"], "COMPLETE"),
            Err(refused) => assert_eq!(refused.name(), "queue_changed", "{refused:?}"),
        }
        stage.session.settled(&dispatch);
        stage.session.state("idle");
        let next = wait::until(&format!("{second} is seen, after {answer:?}"), || {
            if stage.control.project(&stage.project)["state"] == "halted" {
                drop(stage.control.ask("project.resume", &stage.project, json!({})));
            }
            stage.session.dispatches().into_iter().find(|dispatch| dispatch.task_id == second)
        });
        stage.session.finish(&next, report::complete());
        assert_eq!((stage.session.count(&first), stage.session.count(&second)), (1, 1));
    }
    assert!(stage.project.remains().is_empty(), "{:?}", stage.project.remains());
}

#[test]
fn f006_a_planner_that_writes_in_place_during_the_dispatch_loses_nothing() {
    let stage = stage();
    for round in 0..40 {
        let (first, second) = (format!("a-{round}"), format!("b-{round}"));
        stage.project.plan(&Task::new(&first));
        let end = Instant::now() + Duration::from_micros(fastrand::u64(0..12_000));
        while Instant::now() < end {
            std::thread::yield_now();
        }
        let text = Task::new(&second).text();
        stage.project.write_in_place(text.as_bytes());
        wait::stays(Duration::from_millis(20), "the planner's bytes stand", || is_not_lost(&stage, &second));
        let seen = wait::until("the second one is seen, or kept and told", || {
            let row = stage.control.project(&stage.project);
            let told = row["state"] == "halted";
            let given = stage.session.count(&second) > 0;
            (told || given).then_some(given)
        });
        assert!(stands_somewhere(&stage, &second), "round {round}, given: {seen}");
        stage.project.replace(b"{\"schema_version\": 3, \"status\": \"IDLE\"}\n");
        free(&stage);
        for name in stage.project.remains() {
            std::fs::remove_file(stage.project.root().join(name)).unwrap();
        }
        assert!(stage.session.count(&first) <= 1 && stage.session.count(&second) <= 1);
    }
}

#[test]
fn two_reports_at_once_are_one_end() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let params = json!({"dispatch_id": dispatch.id, "report": report::complete()});
    let asked: Vec<_> = (0..5).map(|_| stage.session.peer.ask("task.report", params.clone())).collect();
    let answers: Vec<_> = asked.into_iter().map(|id| stage.session.peer.answer_to(id, "task.report")).collect();
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
    let others = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert!(others.clone().all(|refused| refused.name() == "dispatch_ended"), "{answers:?}");
    assert_eq!(stage.project.log_lines().len(), 1);
}

#[test]
fn a_cancel_and_a_report_at_once_are_one_end() {
    for round in 0..10 {
        let stage = stage();
        stage.project.plan(&Task::new("t-1"));
        let dispatch = stage.session.wait_dispatch("t-1");
        let cancel = json!({"project": stage.project.root(), "task_id": "t-1", "reason": "enough"});
        let report = json!({"dispatch_id": dispatch.id, "report": report::complete()});
        let (reported, cancelled) = if round % 2 == 0 {
            let reported = stage.session.peer.ask("task.report", report);
            (reported, stage.control.peer.ask("task.cancel", cancel))
        } else {
            let cancelled = stage.control.peer.ask("task.cancel", cancel);
            (stage.session.peer.ask("task.report", report), cancelled)
        };
        let reported = stage.session.peer.answer_to(reported, "task.report");
        let cancelled = stage.control.peer.answer_to(cancelled, "task.cancel").unwrap();
        let status = stage.project.status();
        match reported {
            Ok(_) => assert_eq!((status.as_str(), &cancelled["session"]), ("COMPLETE", &json!("finished_first"))),
            Err(refused) => {
                assert!(["cancelled", "dispatch_ended"].contains(&refused.name()), "{refused:?}");
                assert_eq!((status.as_str(), &cancelled["now"]), ("ERROR", &json!("ERROR")));
            }
        }
        wait::until_true("one line", || stage.project.log_lines().len() == 1);
    }
}

#[test]
fn a_burst_of_ten_thousand_rewrites_never_misses_the_last() {
    let stage = stage();
    stage.session.state("busy");
    stage.control.wait_busy(&stage.project);
    for number in 0..10_000 {
        stage.project.plan(&Task::new(&format!("t-{number}")));
    }
    wait::until_true("the last one is seen", || stage.control.project(&stage.project)["queue"]["task_id"] == "t-9999");
    assert_eq!(stage.session.dispatches().len(), 0);
    stage.session.state("idle");
    let dispatch = stage.session.wait_dispatch("t-9999");
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.session.dispatches().len(), 1);
}

#[test]
fn a_project_that_is_deleted_in_mid_task_comes_to_an_end() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    std::fs::remove_dir_all(stage.project.root()).unwrap();
    stage.control.wait_state(&stage.project, "missing", "");
    let refused = stage.session.report(&dispatch, report::complete()).unwrap_err();
    assert!(!refused.name().is_empty(), "{refused:?}");
    let again = handoffd_tests::Project::create(stage.project.root());
    wait::until_true("the new folder is owned", || {
        let row = stage.control.project(&again);
        if row["state"] == "halted" {
            drop(stage.control.ask("project.resume", &again, json!({})));
        }
        row["state"] == "idle"
    });
    stage.session.state("idle");
    let session = stage.daemon.attach(&stage.world.process(), &again, &Attach::idle("s-2"));
    again.plan(&Task::new("t-2"));
    wait::until_true("t-2 is seen once", || stage.session.count("t-2") + session.count("t-2") == 1);
    assert_eq!(stage.session.count("t-1") + session.count("t-1"), 1);
}
