//! `docs/lifecycle.md` says what the members' machine does: its table is made by taking the steps, and compared here.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use lifecycle::members::{ClaimResult, Event, Look, Seen};
use lifecycle::{Answer, Conn, Known, LeaveReason};
use queue::DispatchId;

use crate::rig::{Rig, attach, claim, packet, process};

const BEGIN: &str = "<!-- members: made by crates/lifecycle/tests/members/table.rs -->\n";
const END: &str = "<!-- end of members -->\n";

type Make = fn() -> Rig;
type Happen = fn(&mut Rig) -> Vec<String>;

fn idle() -> Rig {
    let mut rig = Rig::new();
    rig.attach(attach(1, "m"));
    rig
}

fn claiming() -> Rig {
    let mut rig = idle();
    rig.look(&[packet(0), packet(1)]);
    rig
}

fn busy() -> Rig {
    let mut rig = idle();
    rig.activity(1, false);
    rig.look(&[packet(0), packet(1)]);
    rig
}

fn refused() -> Rig {
    let mut rig = Rig::sent();
    rig.answer(1, Answer::Busy);
    rig
}

fn away(accepted: bool) -> Rig {
    let mut rig = if accepted { Rig::accepted() } else { Rig::sent() };
    rig.step(Event::Closed { conn: Conn(1), unsent: None });
    rig
}

fn recovered() -> Rig {
    let mut rig = Rig::new();
    let open = Some(claim(false));
    rig.attach(lifecycle::members::Attach { open, ..attach(2, "m") });
    rig
}

const SITUATIONS: &[(&str, Make)] = &[
    ("a session is attached and idle", idle),
    ("it is busy, and packets wait", busy),
    ("a packet is being claimed", claiming),
    ("the packet was sent", Rig::sent),
    ("the session refused it as busy", refused),
    ("the packet was accepted", Rig::accepted),
    ("the session was lost, without an answer", || away(false)),
    ("the session was lost, after the acceptance", || away(true)),
    ("the daemon before this one sent it to another session", recovered),
];

fn dispatch(rig: &Rig) -> DispatchId {
    rig.members.view()[0].open.as_ref().map_or(DispatchId::from_random(1), |open| open.dispatch)
}

fn back(rig: &mut Rig, known: impl Fn(DispatchId) -> Known) -> Vec<String> {
    let known = known(dispatch(rig));
    let session = lifecycle::members::Attach { session_id: "s1".into(), process: process(11), known, ..attach(3, "m") };
    rig.attach(session)
}

const HAPPENINGS: &[(&str, Happen)] = &[
    ("a look finds packets", |rig| rig.look(&[packet(0), packet(1)])),
    ("the claim is durable", |rig| answered(rig, ClaimResult::Done)),
    ("somebody else has claimed it", |rig| answered(rig, ClaimResult::Taken)),
    ("the claim cannot be written", |rig| answered(rig, ClaimResult::Failed("no space".into()))),
    ("the session accepts", |rig| told(rig, Answer::Accepted)),
    ("the session says busy", |rig| told(rig, Answer::Busy)),
    ("the session answers an error", |rig| told(rig, Answer::Refused)),
    ("the session is idle", |rig| rig.activity(1, true)),
    ("a turn settles", |rig| rig.settled(1, None)),
    ("its turn settles, named", |rig| {
        let named = dispatch(rig);
        rig.settled(1, Some(named))
    }),
    ("its turn is aborted", |rig| rig.step(Event::Settled { conn: Conn(1), dispatch: None, aborted: true })),
    ("the connection ends", |rig| rig.step(Event::Closed { conn: Conn(1), unsent: None })),
    ("the connection ends with the line unwritten", |rig| {
        let unsent = Some(dispatch(rig));
        rig.step(Event::Closed { conn: Conn(1), unsent })
    }),
    ("the session leaves: quit", |rig| rig.step(Event::Leaving { conn: Conn(1), reason: LeaveReason::Quit })),
    ("the session leaves: reload", |rig| rig.step(Event::Leaving { conn: Conn(1), reason: LeaveReason::Reload })),
    ("its process ends", |rig| rig.step(Event::ProcessGone(process(11)))),
    ("it attaches again and has the packet", |rig| back(rig, |dispatch| Known::Some { dispatch, delivered: true })),
    ("it attaches again and has nothing", |rig| back(rig, |_| Known::None)),
    ("it attaches again and keeps no records", |rig| back(rig, |_| Known::NoRecords)),
    ("another session attaches", |rig| rig.attach(attach(4, "m"))),
    ("its record is removed", |rig| {
        let members = vec![Seen { agent: "m".into(), record: Err("it is gone".into()), held: None }];
        rig.step(Event::Looked(Look { packets: Vec::new(), members }))
    }),
    ("30 s pass", |rig| rig.after(30_000)),
    ("2 minutes pass", |rig| rig.after(120_000)),
    ("10 minutes pass", |rig| rig.after(600_000)),
    ("the daemon stops", |rig| rig.step(Event::Shutdown)),
];

fn answered(rig: &mut Rig, result: ClaimResult) -> Vec<String> {
    match rig.claiming("m") {
        Some(dispatch) => rig.claimed(dispatch, result),
        None => Vec::new(),
    }
}

fn told(rig: &mut Rig, answer: Answer) -> Vec<String> {
    let dispatch = dispatch(rig);
    rig.step(Event::Answered { conn: Conn(1), dispatch, answer })
}

fn table() -> String {
    let names: Vec<&str> = HAPPENINGS.iter().map(|(name, _)| *name).collect();
    let mut text = format!(
        "Member `m`, its session `s1` on connection 1, packets `p1.0` and `p1.1` of the leg planner to executor. Each \
         situation was given each of these events; where a row is missing, nothing follows at once: {}.\n\n",
        names.join("; ")
    );
    for (name, make) in SITUATIONS {
        writeln!(text, "### Member: {name}\n\n| event | what is done, in order |\n|---|---|").unwrap();
        for (happening, apply) in HAPPENINGS {
            let lines = apply(&mut make());
            if !lines.is_empty() {
                writeln!(text, "| {happening} | {} |", lines.join(", ")).unwrap();
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_table_in_the_docs_is_what_the_machine_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lifecycle.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the begin marker");
    let (_, after) = rest.split_once(END).expect("the end marker");
    let wanted = format!("{before}{BEGIN}\n{}{END}{after}", table());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::File::create(&path).and_then(|mut file| file.write_all(wanted.as_bytes())).unwrap();
    } else {
        assert!(wanted == text, "docs/lifecycle.md is old: UPDATE=1 cargo test -p lifecycle");
    }
}
