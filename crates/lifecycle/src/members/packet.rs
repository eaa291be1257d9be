//! What the machine knows of a packet and of a member's record. Nothing of a packet's content.

/// A role of the team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Says what is to be done.
    Planner,
    /// Does it.
    Executor,
    /// Checks it.
    Verifier,
    /// Stands beside the pipeline.
    Utility,
}

/// The ways that packets go. Within a round they are delivered in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leg {
    /// New work.
    PlannerToExecutor,
    /// A repair of the same round.
    VerifierToExecutor,
    /// A product that is to be checked.
    ExecutorToVerifier,
}

impl Leg {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::PlannerToExecutor, Self::VerifierToExecutor, Self::ExecutorToVerifier];

    /// Who sends.
    #[must_use]
    pub const fn from(self) -> Role {
        match self {
            Self::PlannerToExecutor => Role::Planner,
            Self::VerifierToExecutor => Role::Verifier,
            Self::ExecutorToVerifier => Role::Executor,
        }
    }

    /// Who receives.
    #[must_use]
    pub const fn to(self) -> Role {
        match self {
            Self::PlannerToExecutor | Self::VerifierToExecutor => Role::Executor,
            Self::ExecutorToVerifier => Role::Verifier,
        }
    }
}

/// One packet. The order is that of delivery: goal, round, leg, slot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packet {
    /// Its goal: the id of a task (D74).
    pub goal: String,
    /// Its round.
    pub round: u32,
    /// Its way.
    pub leg: Leg,
    /// Its place on that way: 0 is the plain file (D34).
    pub slot: u8,
    /// Its own id: what makes it the same packet wherever it is filed again.
    pub id: String,
}

impl Packet {
    /// Whether it is the same packet, perhaps filed in another slot.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.goal == other.goal && self.round == other.round && self.leg == other.leg && self.id == other.id
    }
}

/// What a member's record says (D33, D74).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its role.
    pub role: Role,
    /// The goal that it belongs to.
    pub goal: String,
    /// The only round that it takes part in; `None`: every round.
    pub round: Option<u32>,
}

impl Record {
    /// Whether the packet is addressed to this member.
    #[must_use]
    pub fn is_addressed_by(&self, packet: &Packet) -> bool {
        self.role == packet.leg.to() && self.goal == packet.goal && self.round.is_none_or(|round| round == packet.round)
    }
}
