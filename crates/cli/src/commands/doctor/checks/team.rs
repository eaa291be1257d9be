//! The home of packets: whether its ledgers take a row (D38), which legs have a gap or a file that is passed over (D35), and
//! members whose record is broken.

use std::path::Path;

use store::sys::Sys;
use team::compose::{Packets, read_leg};
use team::{Home, HomeError, ledger, listing, members};

use super::{Finding, World};
use crate::packets::leg_name;
use crate::shell::quoted;
use crate::text::counted;

/// The most legs that are read.
const MOST_LEGS: usize = 500;

/// Ledgers, members, legs.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let Ok(places) = &world.places else { return Vec::new() };
    let home = Home::gated(places.team_home.clone(), Sys::real());
    if !home.path().exists() {
        return vec![Finding::good("there are no packets yet")];
    }
    let mut findings: Vec<Finding> = ledger::check(&home)
        .iter()
        .map(|(ledger, fault)| cannot_write(&home.path().join(ledger.file()), fault))
        .collect();
    findings.extend(store::allow(home.path()).map(|command| {
        let what = format!("no packet can be filed in {}: permission is missing", home.path().display());
        Finding::fault(what, command)
    }));
    match members::list(&home) {
        Ok(listed) => findings.extend(listed.iter().filter_map(|one| {
            let why = one.member.as_ref().err()?;
            let what = format!("the record of the member {} is broken: {why}", one.id);
            Some(Finding::warning(what, format!("handoff team remove {}", quoted(&one.id))))
        })),
        Err(error) => findings.push(unreadable(&error)),
    }
    findings.extend(legs(&home));
    if findings.is_empty() {
        findings.push(Finding::good(format!("ledgers and packets in {}", home.path().display())));
    }
    findings
}

fn cannot_write(path: &Path, fault: &str) -> Finding {
    let what = format!("rows about packets are lost: {fault}");
    let command = store::allow(path).filter(|_| path.is_file());
    Finding::fault(what, command.unwrap_or_else(|| store::put_aside(path)))
}

fn unreadable(error: &HomeError) -> Finding {
    let command = match error {
        HomeError::Io(fault) => fault.remedy(),
        HomeError::Missing(_) | HomeError::Path { .. } => None,
    };
    let advice = || error.advice().unwrap_or("put a plain folder in its place").to_owned();
    Finding::fault(error.to_string(), command.unwrap_or_else(advice))
}

/// The newest goals come last in no order that is known, so all are read up to a limit, and what is left out is said.
fn legs(home: &Home) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut left = MOST_LEGS;
    let goals = match listing::goals(home) {
        Ok(goals) => goals,
        Err(error) => return vec![unreadable(&error)],
    };
    for goal in &goals {
        match of_goal(home, goal, &mut left) {
            Ok(told) => findings.extend(told),
            Err(error) => findings.push(unreadable(&error)),
        }
        if left == 0 {
            findings.push(Finding::note(format!("only the first {MOST_LEGS} legs were looked at")));
            break;
        }
    }
    findings
}

fn of_goal(home: &Home, goal: &str, left: &mut usize) -> Result<Vec<Finding>, HomeError> {
    let mut findings = Vec::new();
    for round in listing::rounds(home, goal)? {
        for leg in listing::legs(home, goal, round)? {
            if *left == 0 {
                return Ok(findings);
            }
            *left -= 1;
            findings.extend(of_leg(goal, &read_leg(home, &leg)?));
        }
    }
    Ok(findings)
}

fn of_leg(goal: &str, read: &Packets) -> Vec<Finding> {
    let list = format!("handoff packet list {}", quoted(goal));
    let mut findings = Vec::new();
    if let Some(gap) = &read.gap {
        let what = format!(
            "goal {goal}, {}: slot {:02} is missing, so what is behind it is never read: {}",
            leg_name(read),
            gap.missing,
            counted(gap.behind.len() as u64, "packet")
        );
        findings.push(Finding::warning(what, format!("look with `{list}`, and file the packets behind it again")));
    }
    for skipped in &read.skipped {
        let what = format!(
            "goal {goal}, {}: {} is passed over ({}): {}",
            leg_name(read),
            skipped.file,
            skipped.code,
            skipped.detail
        );
        findings.push(Finding::warning(what, list.clone()));
    }
    findings
}
