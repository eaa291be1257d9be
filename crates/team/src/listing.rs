//! What lies below the home: goals, their rounds, and the legs that have a file. Reads names only.

use store::Kind;

use crate::edge;
use crate::home::{Home, HomeError};
use crate::leg::{Leg, PACKETS, round_folder, round_of_folder};
use crate::part::is_path_part;

/// The goals that have a folder, sorted.
///
/// # Errors
///
/// [`HomeError`]: a folder on the way cannot be opened, or is a link.
pub fn goals(home: &Home) -> Result<Vec<String>, HomeError> {
    let Some(folder) = home.open_below(&[PACKETS])? else { return Ok(Vec::new()) };
    let mut goals = folder.list()?;
    goals.retain(|name| is_path_part(name) && matches!(folder.kind(name), Ok(Some(Kind::Folder))));
    goals.sort_unstable();
    Ok(goals)
}

/// The rounds of a goal that have a folder, ascending.
///
/// # Errors
///
/// As [`goals`].
pub fn rounds(home: &Home, goal: &str) -> Result<Vec<u32>, HomeError> {
    if !is_path_part(goal) {
        return Ok(Vec::new());
    }
    let Some(folder) = home.open_below(&[PACKETS, goal])? else { return Ok(Vec::new()) };
    let names = folder.list()?;
    let mut rounds: Vec<u32> = names.iter().filter_map(|name| round_of_folder(name)).collect();
    rounds.sort_unstable();
    Ok(rounds)
}

/// The legs of a goal's round that have at least one file: planner, executor, verifier.
///
/// # Errors
///
/// As [`goals`].
pub fn legs(home: &Home, goal: &str, round: u32) -> Result<Vec<Leg>, HomeError> {
    if !is_path_part(goal) {
        return Ok(Vec::new());
    }
    let Some(folder) = home.open_below(&[PACKETS, goal, &round_folder(round)])? else { return Ok(Vec::new()) };
    let names = folder.list()?;
    let of_round = edge::edges().filter_map(|(from, to)| Leg::new(goal, round, from, to).ok());
    Ok(of_round.filter(|leg| names.iter().any(|name| leg.slot_of(name).is_some())).collect())
}
