//! The server of a team member: one tool, `team_handoff`, the only door through which a packet moves.
//!
//! Who calls is fixed before the first line is read; nothing that a client says can change it.

mod words;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use team::Door;
use tokio::sync::Mutex;

use crate::call::Call;
use crate::scope::{Caller, Denied, Scope};
use crate::toolbox::{Answer, Definition, Effect, Outcome, Tool, Toolbox};

/// The name of the server.
pub const SERVER: &str = "handoff-team";
/// The name of the tool.
pub const TOOL: &str = "team_handoff";

/// The server for the caller behind `door`. `clock` tells the time for the ledgers, `version` is that of the program.
#[must_use]
pub fn toolbox(door: Door, caller: Caller, clock: fn() -> Timestamp, version: &'static str) -> Toolbox {
    let tool = TeamHandoff { door, caller, clock, turn: Mutex::new(()) };
    Toolbox::new(SERVER, version, words::INSTRUCTIONS).with(tool)
}

/// The tool. Calls are handled one after another, in the order in which they came: packets that a planner files at once
/// lie in the order in which it named them.
struct TeamHandoff {
    door: Door,
    caller: Caller,
    clock: fn() -> Timestamp,
    turn: Mutex<()>,
}

impl Tool for TeamHandoff {
    fn definition(&self) -> Definition {
        Definition {
            name: TOOL,
            title: "Hand off to the next role",
            description: words::TOOL.to_owned(),
            input: words::input(),
            output: words::output(),
            effect: Effect::AddsOnce,
        }
    }

    /// Filing blocks on the disk, so it has a thread of its own. A call that is taken back finishes all the same: a packet
    /// is filed or it is not.
    fn call(self: Arc<Self>, call: Call) -> Answer {
        Box::pin(async move {
            let this = Arc::clone(&self);
            let turn = self.turn.lock().await;
            let handled = tokio::task::spawn_blocking(move || this.handle(&call)).await;
            drop(turn);
            handled.unwrap_or_else(|_| Outcome::Refused {
                code: team::Code::WriteFailed.to_string(),
                message: "filing broke off; file the packet again".to_owned(),
            })
        })
    }
}

impl TeamHandoff {
    fn handle(&self, call: &Call) -> Outcome {
        let now = (self.clock)();
        if let Err(denied) = self.caller.require(Scope::TeamHandoff) {
            self.door.record_denied(&call.arguments, Denied::CODE, &denied.message, now);
            return Outcome::Denied(denied);
        }
        match self.door.handoff(&call.arguments, now).map(|filed| filed.answer()) {
            Ok(Value::Object(answer)) => Outcome::Done(answer),
            Ok(answer) => Outcome::Done(FromIterator::from_iter([("ok".to_owned(), answer)])),
            Err(refusal) => Outcome::Refused { code: refusal.code.to_string(), message: refusal.message },
        }
    }
}
