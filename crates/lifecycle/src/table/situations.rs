//! The situations of the table: how a project gets into each.

use queue::RunState;

use super::bench::{Bench, OWNER, pending};
use crate::{Answer, Command, Content, Event, Req, State, Wall};

type Situation = (&'static str, Bench);

/// All of them, from the outside in.
pub(super) fn all() -> Vec<Situation> {
    let mut all = vec![
        ("The lock is being taken", starting()),
        ("Another program holds the lock", locked()),
        ("Nothing to do, nobody attached", opened(Content::Missing)),
        ("PENDING, nobody attached", opened(pending(1))),
        ("Nothing to do, a session attached", owned(Content::Missing)),
        ("PENDING, the session is busy", busy()),
        ("PENDING, paused", paused()),
        ("PENDING, held", held()),
        ("PENDING, runs of an ended task are alive", runs_alive()),
        ("RUNNING is being written", claiming()),
    ];
    all.extend(running_situations());
    all
}

fn running_situations() -> Vec<Situation> {
    vec![
        ("RUNNING, the message was sent", sent()),
        ("RUNNING, the session was busy", refused()),
        ("RUNNING, the session is at work", working()),
        ("RUNNING, the turn settled and was reminded", reminded()),
        ("RUNNING, a background run is alive", background()),
        ("RUNNING, the background runs have ended and a report is owed", owing()),
        ("RUNNING, the session's connection is lost", away()),
        ("RUNNING, its process is gone, a background run was observed", reopened()),
        ("RUNNING, being cancelled", cancelling()),
        ("RUNNING, but the file was replaced", halted()),
        ("RUNNING, its end cannot be written", owed()),
        ("RUNNING, the project leaves", leaving()),
        ("Disabled", disabled()),
    ]
}

fn starting() -> Bench {
    let mut bench = Bench::new(pending(1));
    bench.hold = true;
    bench.event(Event::Touched);
    debug_assert!(bench.is(State::Starting));
    bench
}

fn locked() -> Bench {
    let mut bench = Bench::new(pending(1));
    bench.locked = true;
    bench.event(Event::Touched);
    bench
}

fn opened(file: Content) -> Bench {
    let mut bench = Bench::new(file);
    bench.event(Event::Touched);
    bench
}

fn owned(file: Content) -> Bench {
    let mut bench = opened(file);
    bench.attach(OWNER, "s1");
    bench
}

fn busy() -> Bench {
    let mut bench = owned(Content::Missing);
    bench.event(Event::Activity { conn: OWNER, idle: false, hint: None });
    bench.write(pending(1));
    bench
}

fn paused() -> Bench {
    let mut bench = owned(Content::Missing);
    bench.event(Event::Control { req: Req(90), command: Command::Pause });
    bench.write(pending(1));
    bench
}

fn held() -> Bench {
    let mut bench = owned(Content::Missing);
    let mut content = pending(1);
    if let Content::Pending(pending) = &mut content {
        pending.tracked = true;
        pending.dispatched_before = vec![Wall(0)];
    }
    bench.write(content);
    bench
}

fn runs_alive() -> Bench {
    let mut bench = background();
    bench.event(Event::Control {
        req: Req(90),
        command: Command::Cancel { task_id: "T-1".into(), reason: "not needed".into() },
    });
    bench.pass();
    bench.event(Event::Activity { conn: OWNER, idle: true, hint: None });
    bench.write(pending(1));
    bench
}

fn claiming() -> Bench {
    let mut bench = owned(Content::Missing);
    bench.hold = true;
    bench.write(pending(1));
    bench.answer(); // it was read
    bench
}

fn sent() -> Bench {
    let mut bench = owned(Content::Missing);
    bench.write(pending(1));
    bench
}

fn refused() -> Bench {
    let mut bench = sent();
    bench.answered(Answer::Busy);
    bench
}

fn working() -> Bench {
    let mut bench = sent();
    bench.answered(Answer::Accepted);
    bench.event(Event::Activity { conn: OWNER, idle: false, hint: None });
    bench
}

fn reminded() -> Bench {
    let mut bench = working();
    bench.event(Event::Activity { conn: OWNER, idle: true, hint: None });
    bench
}

fn background() -> Bench {
    let mut bench = working();
    bench.run(RunState::Running);
    bench
}

fn owing() -> Bench {
    let mut bench = background();
    bench.event(Event::Activity { conn: OWNER, idle: true, hint: None });
    bench.run(RunState::Complete);
    bench.pass();
    bench
}

fn away() -> Bench {
    let mut bench = working();
    bench.event(Event::Closed { conn: OWNER, unsent: None });
    bench
}

fn reopened() -> Bench {
    let mut bench = background();
    bench.event(Event::ProcessGone(super::bench::process(OWNER)));
    bench
}

fn cancelling() -> Bench {
    let mut bench = working();
    bench.event(Event::Control {
        req: Req(90),
        command: Command::Cancel { task_id: "T-1".into(), reason: "not needed".into() },
    });
    bench
}

fn halted() -> Bench {
    let mut bench = working();
    bench.write(pending(2));
    bench
}

fn owed() -> Bench {
    let mut bench = working();
    bench.full = true;
    bench.event(Event::ProcessGone(super::bench::process(OWNER)));
    bench.full = false; // mended, but nobody has tried again yet
    bench
}

fn leaving() -> Bench {
    let mut bench = working();
    bench.event(Event::Control { req: Req(90), command: Command::Disable { now: false } });
    bench
}

fn disabled() -> Bench {
    let mut bench = owned(Content::Missing);
    bench.event(Event::Control { req: Req(90), command: Command::Disable { now: false } });
    bench
}
