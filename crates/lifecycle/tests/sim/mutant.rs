//! Ways to be wrong, put between the state machine and the world: each must be found, or the simulator proves nothing.

use lifecycle::{Effect, Job, Outgoing, Reply};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// The state machine as it is.
    None,
    /// Answers get lost.
    DropReply,
    /// Answers are given twice.
    ReplyTwice,
    /// Messages are sent twice.
    DispatchTwice,
    /// Bodies are kept for ever.
    DropDrop,
    /// Everybody is told to be the owner.
    AllOwners,
    /// The binding is not written.
    NoBinding,
    /// RUNNING is reported durable, and is not.
    NoClaim,
    /// Ends are not written.
    NoEnd,
    /// The displaced file is removed without a look.
    NoSettle,
    /// Every report passes.
    AnyReport,
    /// Nobody keeps the time.
    NoTick,
}

impl Mutant {
    pub(crate) const ALL: &[Self] = &[
        Self::DropReply,
        Self::ReplyTwice,
        Self::DispatchTwice,
        Self::DropDrop,
        Self::AllOwners,
        Self::NoBinding,
        Self::NoClaim,
        Self::NoEnd,
        Self::NoSettle,
        Self::AnyReport,
        Self::NoTick,
    ];

    pub(crate) fn change(self, effects: Vec<Effect>) -> Vec<Effect> {
        effects.into_iter().flat_map(|effect| self.one(effect)).collect()
    }

    fn one(self, effect: Effect) -> Vec<Effect> {
        match (self, effect) {
            (Self::DropReply, Effect::Reply { .. }) | (Self::DropDrop, Effect::Drop(_)) => Vec::new(),
            (Self::ReplyTwice, effect @ Effect::Reply { .. }) => vec![effect.clone(), effect],
            (Self::DispatchTwice, effect @ Effect::Send { message: Outgoing::Dispatch { .. }, .. }) => {
                vec![effect.clone(), effect]
            }
            (Self::AllOwners, Effect::Send { conn, message: Outgoing::Ownership { reason, .. } }) => {
                vec![Effect::Send { conn, message: Outgoing::Ownership { owner: true, reason } }]
            }
            (Self::AllOwners, Effect::Reply { req, reply: Reply::Attached { task, ended, .. } }) => {
                vec![Effect::Reply { req, reply: Reply::Attached { owner: true, task, ended } }]
            }
            (Self::NoBinding, Effect::Job(Job::Bind(_))) => vec![Effect::Job(Job::Bind(None))],
            (_, effect) => vec![effect],
        }
    }
}
