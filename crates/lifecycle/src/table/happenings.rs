//! The events of the table, each with a representative.

use queue::RunState;

use super::bench::{Bench, OWNER, pending, process, task};
use crate::{Answer, Body, Command, Conn, Content, Event, LeaveReason, Req, Stopped};

type Apply = fn(&mut Bench);

pub(super) const HAPPENINGS: &[(&str, Apply)] = &[
    ("the file is touched, nothing changed", |bench| bench.event(Event::Touched)),
    ("another task stands in the file", |bench| bench.write(pending(2))),
    ("the running task stands there in other bytes", |bench| {
        let by = Some(bench.dispatch());
        bench.write(Content::Running { task: Box::new(task(1)), by, facts: None });
    }),
    ("the file cannot be read", |bench| {
        bench.write(Content::Unreadable { code: "invalid_json", message: "it is cut off".into() });
    }),
    ("the file is deleted", |bench| bench.write(Content::Missing)),
    ("the next deadline comes", Bench::pass),
    ("the session attaches again", |bench| bench.attach(Conn(3), "s1")),
    ("another session attaches", |bench| bench.attach(Conn(2), "s2")),
    ("it accepts the message", |bench| bench.answered(Answer::Accepted)),
    ("it answers busy", |bench| bench.answered(Answer::Busy)),
    ("it tells busy", |bench| bench.event(Event::Activity { conn: OWNER, idle: false, hint: None })),
    ("it tells idle", |bench| bench.event(Event::Activity { conn: OWNER, idle: true, hint: None })),
    ("its turn settles", |bench| bench.event(Event::TurnSettled { conn: OWNER, dispatch: None, aborted: None })),
    ("its turn is aborted", |bench| {
        bench.event(Event::TurnSettled { conn: OWNER, dispatch: None, aborted: Some(String::new()) });
    }),
    ("a background run starts", |bench| bench.run(RunState::Running)),
    ("that run ends", |bench| bench.run(RunState::Complete)),
    ("it answers the reminder", |bench| {
        let dispatch = bench.dispatch();
        bench.event(Event::RemindAnswered { conn: OWNER, dispatch });
    }),
    ("it answers the cancel", |bench| {
        let dispatch = bench.dispatch();
        bench.event(Event::CancelAnswered { conn: OWNER, dispatch, aborted: true });
    }),
    ("it reports", |bench| {
        let dispatch = bench.dispatch();
        bench.event(Event::Report { conn: OWNER, req: Req(50), dispatch, body: Body(50) });
    }),
    ("it leaves: reload", |bench| bench.event(Event::Leaving { conn: OWNER, reason: LeaveReason::Reload })),
    ("it leaves: new, resume, fork", |bench| bench.event(Event::Leaving { conn: OWNER, reason: LeaveReason::Other })),
    ("it leaves: quit", |bench| bench.event(Event::Leaving { conn: OWNER, reason: LeaveReason::Quit })),
    ("its connection ends", |bench| bench.event(Event::Closed { conn: OWNER, unsent: None })),
    ("its connection ends, the message was not written whole", |bench| {
        let unsent = Some(bench.dispatch());
        bench.event(Event::Closed { conn: OWNER, unsent });
    }),
    ("its process ends", |bench| bench.event(Event::ProcessGone(process(OWNER)))),
    ("its process is stopped", |bench| {
        bench.event(Event::ProcessStopped { process: process(OWNER), stopped: Stopped::Yes });
    }),
    ("runs of an ended task are gone", |bench| bench.event(Event::RunsGone(vec!["r-1".into()]))),
    ("`handoff cancel T-1`", |bench| {
        command(bench, Command::Cancel { task_id: "T-1".into(), reason: "not needed".into() });
    }),
    ("`handoff submit`", |bench| command(bench, Command::Submit { body: Body(51), retry: false })),
    ("`handoff pause`", |bench| command(bench, Command::Pause)),
    ("`handoff resume`", |bench| command(bench, Command::Resume)),
    ("`handoff take`", |bench| command(bench, Command::Take { session_id: None })),
    ("`handoff disable`", |bench| command(bench, Command::Disable { now: false })),
    ("`handoff disable --now`", |bench| command(bench, Command::Disable { now: true })),
    ("`handoff enable`", |bench| command(bench, Command::Enable)),
    ("the daemon stops in order", |bench| bench.event(Event::Shutdown)),
];

fn command(bench: &mut Bench, command: Command) {
    bench.event(Event::Control { req: Req(99), command });
}
