//! What can happen in a scenario. Every action is a verb with two small numbers, so that any subset of a scenario is a
//! scenario too (shrinking) and a scenario can be written down as text (replay). What they do is in `world.rs`.

use std::fmt;
use std::str::FromStr;

macro_rules! verbs {
    ($($(#[$doc:meta])* $name:ident $weight:literal,)*) => {
        /// The verbs; what their numbers mean is said at each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Verb { $($(#[$doc])* $name,)* }

        impl Verb {
            const ALL: &[(Self, u32)] = &[$((Self::$name, $weight),)*];

            const fn word(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }
        }
    };
}

verbs! {
    /// A new PENDING; `a % 8 == 7`: an invalid one; `b` 1: only over a task that has ended.
    Plan 30,
    /// The last PENDING once more; `b` 1: only over a task that has ended.
    Again 4,
    /// Other bytes, same meaning.
    Harmless 6,
    /// A planner field changes.
    Harmful 3,
    /// The planner sets IDLE.
    Idle 2,
    /// Half a document.
    Half 4,
    /// The file is deleted.
    Delete 2,
    /// An earlier state of the file, the `a`-th from the end, is put back.
    Restore 6,
    /// A writer that had the displaced file open writes into it.
    SwapWrite 3,
    /// The watcher tells of a change.
    Notice 20,
    /// The job that is out goes `a` sub-steps on.
    Job 40,
    /// Everything in flight arrives, no time passes.
    Drain 60,
    /// Time passes.
    Wait 30,
    /// The machine sleeps.
    Sleep 2,
    /// The wall clock steps.
    WallStep 2,
    /// Session `a` connects, its process starts if needed.
    Connect 40,
    /// The connection of session `a` breaks; `b` odd: a dispatch that was on its way provably never left.
    Break 10,
    /// The process of session `a` ends.
    Kill 5,
    /// Session `a` says goodbye with reason `b`.
    Leave 5,
    /// Session `a` leaves and session `a + 1` opens in the same process.
    Fork 3,
    /// The process of session `a` is stopped, or continued.
    Stop 3,
    /// Session `a` reads one message and reacts in manner `b`.
    Hear 40,
    /// The daemon reads one message of session `a`.
    Feed 40,
    /// Session `a` tells of its turn: `b` busy, idle, settled, aborted, ping.
    Turn 40,
    /// Session `a` tells of a run; `b` which, and how it is.
    Run 16,
    /// Session `a` reports in manner `b`.
    Report 24,
    Pause 2,
    Resume 8,
    /// Cancels the task in the file, or another.
    Cancel 6,
    Submit 6,
    /// Disables or removes; `b` odd: now.
    Disable 2,
    Enable 6,
    /// Session `a` gets the place.
    Take 3,
    Unlock 2,
    /// Other limits of time.
    Configure 3,
    /// The daemon dies; `a > 0`: after `a` effects of its next step.
    Crash 6,
    /// Daemon and session `a` die.
    CrashBoth 2,
    /// The machine goes down: no process survives, what was not synced may be gone.
    Reboot 2,
    /// The daemon stops in order.
    Shutdown 3,
    /// The next `a` writes fail.
    FailWrites 5,
    /// The next `a` reads fail.
    FailReads 2,
    /// The work log fails, or is whole again.
    FailLog 4,
    /// Somebody deletes the lock file.
    LoseLock 2,
    /// Another program takes the lock, or ends.
    Foreign 2,
    /// The folder is moved away, or back.
    Folder 2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) verb: Verb,
    pub(crate) a: u8,
    pub(crate) b: u8,
}

impl Action {
    pub(crate) fn random(rng: &mut fastrand::Rng) -> Self {
        let total: u32 = Verb::ALL.iter().map(|(_, weight)| weight).sum();
        let mut pick = rng.u32(0..total);
        for (verb, weight) in Verb::ALL {
            if pick < *weight {
                return Self { verb: *verb, a: rng.u8(0..8), b: rng.u8(0..8) };
            }
            pick -= weight;
        }
        unreachable!("the weights add up to the total")
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.verb.word(), self.a, self.b)
    }
}

impl FromStr for Action {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split('.');
        let word = parts.next().unwrap_or_default();
        let verb = Verb::ALL.iter().map(|(verb, _)| *verb).find(|verb| verb.word() == word);
        let mut number = || parts.next().and_then(|part| part.parse().ok());
        match (verb, number(), number()) {
            (Some(verb), Some(a), Some(b)) => Ok(Self { verb, a, b }),
            _ => Err(format!("not an action: {text}")),
        }
    }
}

/// A scenario as text, and back.
pub(crate) fn to_text(actions: &[Action]) -> String {
    actions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

pub(crate) fn from_text(text: &str) -> Result<Vec<Action>, String> {
    text.split_whitespace().map(str::parse).collect()
}
