//! Makes a failing scenario small: delta debugging over its actions.

use super::action::Action;
use super::mutant::Mutant;
use super::play::play;

/// The smallest scenario found that still fails, and how.
pub(crate) fn shrink(actions: &[Action], mutant: Mutant) -> (Vec<Action>, String) {
    let mut best = actions.to_vec();
    let mut why = play(&best, mutant).unwrap_or_default();
    let mut chunk = best.len().div_ceil(2);
    while chunk > 0 {
        let mut at = 0;
        let mut shorter = false;
        while at < best.len() {
            let mut fewer = best.clone();
            fewer.drain(at..(at + chunk).min(best.len()));
            if let Some(violation) = play(&fewer, mutant) {
                (best, why, shorter) = (fewer, violation, true);
            } else {
                at += chunk;
            }
        }
        if !shorter || chunk > best.len() {
            chunk /= 2;
        }
    }
    (best, why)
}
