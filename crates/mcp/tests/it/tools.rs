//! Tools that exist for the tests.

use std::sync::Arc;
use std::time::Duration;

use mcp::{Answer, Call, Caller, Definition, Effect, Outcome, Scope, Tool, Toolbox};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

/// For tools that work one after another.
static TURN: Mutex<()> = Mutex::const_new(());

/// What a tool of the tests does.
#[derive(Debug, Clone, Copy)]
enum Toy {
    /// Gives its arguments back.
    Echo,
    /// Refuses.
    Refuse,
    /// Does it, and says it in words.
    Tell,
    /// Refuses in more than one sentence.
    Object,
    /// Needs a scope that nobody from outside has.
    Scoped,
    /// Tells that it has begun, and waits until it is taken back.
    Wait,
    /// Takes its time, one call after another.
    Slow,
    /// Tells that it has begun, and never ends.
    Hang,
    /// Has a fault.
    Panic,
}

/// A server with all of them.
pub(crate) fn toolbox() -> Toolbox {
    let toys =
        [Toy::Echo, Toy::Refuse, Toy::Tell, Toy::Object, Toy::Scoped, Toy::Wait, Toy::Slow, Toy::Hang, Toy::Panic];
    toys.into_iter().fold(Toolbox::new("toys", "1.2.3", "Play with them."), Toolbox::with)
}

impl Tool for Toy {
    fn definition(&self) -> Definition {
        let schema = || Map::from_iter([("type".to_owned(), Value::from("object"))]);
        let name = match self {
            Self::Echo => "echo",
            Self::Refuse => "refuse",
            Self::Tell => "tell",
            Self::Object => "object",
            Self::Scoped => "scoped",
            Self::Wait => "wait",
            Self::Slow => "slow",
            Self::Hang => "hang",
            Self::Panic => "panic",
        };
        Definition {
            name,
            title: "A toy",
            description: format!("{self:?}"),
            input: schema(),
            output: schema(),
            effect: Effect::Reads,
        }
    }

    fn call(self: Arc<Self>, call: Call) -> Answer {
        Box::pin(async move {
            match *self {
                Self::Echo => Outcome::Done(call.arguments),
                Self::Refuse => Outcome::Refused { code: "not_today".to_owned(), message: "come tomorrow".to_owned() },
                Self::Tell => Outcome::Told { text: "as you see".to_owned(), result: call.arguments },
                Self::Object => Outcome::Objected { text: "- one\n- two".to_owned(), result: call.arguments },
                Self::Scoped => match Caller::External.require(Scope::TeamHandoff) {
                    Ok(()) => Outcome::Done(Map::new()),
                    Err(denied) => Outcome::Denied(denied),
                },
                Self::Wait => {
                    call.progress.report(1.0, Some(2.0), "waiting").await;
                    call.cancellation.cancelled().await;
                    Outcome::Done(Map::new())
                }
                Self::Hang => {
                    call.progress.report(1.0, None, "hanging").await;
                    std::future::pending().await
                }
                Self::Slow => {
                    // The work itself, not a wait for something: what is tested is how long answers may take.
                    let turn = TURN.lock().await;
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    drop(turn);
                    Outcome::Done(call.arguments)
                }
                Self::Panic => panic!("a tool with a fault"),
            }
        })
    }
}
