//! A leg: one goal, one round, one sender, one receiver. Its place on disk and its slots (D34); nothing is opened here.

use packet::Role;

use crate::edge::edges;
use crate::part::is_path_part;

/// The folder of all packets, below the home.
pub const PACKETS: &str = "team_packets";
/// The last round that has a place.
pub const ROUND_MAX: u32 = 10_000;
/// How many packets one leg holds: the plain file and `.01` to `.99`.
pub const SLOTS: u8 = 100;

/// The address of packets: `team_packets/<goal>/r<round>/<from>-to-<to>.json` and its numbered siblings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Leg {
    goal: String,
    round: u32,
    from: Role,
    to: Role,
}

/// Why a leg has no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoPlace {
    /// The goal's id cannot be a part of a path.
    #[error("the goal's id must be 1 to 64 of `A-Z a-z 0-9 _ -`")]
    Goal,
    /// The round is too high.
    #[error("rounds end at {ROUND_MAX}")]
    Round,
}

impl Leg {
    /// The leg, if it has a place on disk.
    ///
    /// # Errors
    ///
    /// [`NoPlace`]: the goal first, then the round.
    pub fn new(goal: &str, round: u32, from: Role, to: Role) -> Result<Self, NoPlace> {
        if !is_path_part(goal) {
            return Err(NoPlace::Goal);
        }
        if round > ROUND_MAX {
            return Err(NoPlace::Round);
        }
        Ok(Self { goal: goal.to_owned(), round, from, to })
    }

    /// The goal, which is the queue's `task_id` (D74).
    #[must_use]
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// The round.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Who sends.
    #[must_use]
    pub fn from(&self) -> Role {
        self.from
    }

    /// Who receives.
    #[must_use]
    pub fn to(&self) -> Role {
        self.to
    }

    /// The name of the round's folder.
    pub(crate) fn round_folder(&self) -> String {
        round_folder(self.round)
    }

    /// The file of a slot, in the round's folder.
    #[must_use]
    pub fn file(&self, slot: u8) -> String {
        let (from, to) = (self.from.as_str(), self.to.as_str());
        match slot {
            0 => format!("{from}-to-{to}.json"),
            slot => format!("{from}-to-{to}.{slot:02}.json"),
        }
    }

    /// The slot of a file's name on this leg, exactly as we write it.
    #[must_use]
    pub fn slot_of(&self, name: &str) -> Option<u8> {
        if name == self.file(0) {
            return Some(0);
        }
        let digits = name.strip_suffix(".json")?.rsplit_once('.')?.1;
        let slot = digits.parse().ok().filter(|slot| (1..SLOTS).contains(slot))?;
        (self.file(slot) == name).then_some(slot)
    }

    /// The leg and the slot of a path below the home, exactly as we write it.
    #[must_use]
    pub fn of_path(path: &str) -> Option<(Self, u8)> {
        let mut parts = path.strip_prefix(PACKETS)?.strip_prefix('/')?.split('/');
        let (goal, round, file) = (parts.next()?, round_of_folder(parts.next()?)?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        let legs = edges().filter_map(|(from, to)| Self::new(goal, round, from, to).ok());
        legs.filter_map(|leg| leg.slot_of(file).map(|slot| (leg, slot))).next()
    }

    /// The lock that all writers of this leg take, beside its files.
    pub(crate) fn lock(&self) -> String {
        format!("{}.lock", self.file(0))
    }

    /// The path of a slot's file below the home.
    #[must_use]
    pub fn path(&self, slot: u8) -> String {
        format!("{PACKETS}/{}/{}/{}", self.goal, self.round_folder(), self.file(slot))
    }
}

pub(crate) fn round_folder(round: u32) -> String {
    format!("r{round}")
}

/// The round of a folder's name, exactly as we write it.
pub(crate) fn round_of_folder(name: &str) -> Option<u32> {
    let round = name.strip_prefix('r')?.parse().ok().filter(|round| *round <= ROUND_MAX)?;
    (round_folder(round) == name).then_some(round)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_have_two_digits_after_the_plain_file() {
        let leg = Leg::new("g-1", 2, Role::Planner, Role::Executor).unwrap();
        assert_eq!(leg.path(0), "team_packets/g-1/r2/planner-to-executor.json");
        assert_eq!(leg.path(7), "team_packets/g-1/r2/planner-to-executor.07.json");
        assert_eq!(leg.path(99), "team_packets/g-1/r2/planner-to-executor.99.json");
        assert_eq!(leg.lock(), "planner-to-executor.json.lock");
    }

    #[test]
    fn a_leg_without_a_place_says_which_part() {
        let leg = |goal, round| Leg::new(goal, round, Role::Planner, Role::Executor).map(|_| ());
        assert_eq!(leg("..", 10_001), Err(NoPlace::Goal));
        assert_eq!(leg("g", 10_001), Err(NoPlace::Round));
        assert_eq!(leg("g", 10_000), Ok(()));
        assert_eq!(leg("g", 0), Ok(()));
    }

    #[test]
    fn only_our_own_spelling_is_a_slot_and_a_path() {
        let leg = Leg::new("g", 1, Role::Planner, Role::Executor).unwrap();
        for slot in [0, 1, 9, 10, 99] {
            assert_eq!(leg.slot_of(&leg.file(slot)), Some(slot));
            assert_eq!(Leg::of_path(&leg.path(slot)), Some((leg.clone(), slot)));
        }
        for name in [
            "planner-to-executor.1.json",
            "planner-to-executor.00.json",
            "planner-to-executor.100.json",
            "planner-to-executor.+1.json",
            "planner-to-executor.json.lock",
            "executor-to-verifier.json",
            ".planner-to-executor.01.json",
        ] {
            assert_eq!(leg.slot_of(name), None, "{name}");
        }
        for path in [
            "team_packets/g/r1/x.json",
            "team_packets/g/planner-to-executor.json",
            "team_packets/../r1/planner-to-executor.json",
            "/team_packets/g/r1/planner-to-executor.json",
            "team_packets/g/r1/x/planner-to-executor.json",
        ] {
            assert_eq!(Leg::of_path(path), None, "{path}");
        }
    }

    #[test]
    fn only_our_own_spelling_is_a_round() {
        assert_eq!(round_of_folder("r0"), Some(0));
        assert_eq!(round_of_folder("r10000"), Some(10_000));
        for name in ["r", "r01", "r+1", "R1", "1", "r10001", "r1x", "r-1"] {
            assert_eq!(round_of_folder(name), None, "{name}");
        }
    }
}
