//! Which role hands to which: planner → executor, executor → verifier, verifier → executor (repair), and nothing else.

use packet::Role;

/// The legal handoffs, sender first.
pub fn edges() -> impl Iterator<Item = (Role, Role)> {
    Role::ALL.iter().filter_map(|from| Some((*from, from.sends_to()?)))
}

/// Whether `from` may hand to `to`.
#[must_use]
pub fn is_legal(from: Role, to: Role) -> bool {
    from.sends_to() == Some(to)
}

/// The legal handoffs as a person reads them.
#[must_use]
pub fn listed() -> String {
    edges().map(|(from, to)| format!("{from} → {to}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_handoffs_are_legal() {
        assert_eq!(listed(), "planner → executor, executor → verifier, verifier → executor");
        let legal = |from: &Role| Role::ALL.iter().filter(|to| is_legal(*from, **to)).count();
        assert_eq!(Role::ALL.iter().map(legal).sum::<usize>(), 3);
    }
}
