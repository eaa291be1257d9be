//! The form that an ERROR report must have: whatever is there has its type, null counting as absent (D57).

use super::object::{Object, strings, wrong_type};
use crate::json::{Raw, Type};
use crate::{Problem, limits};

const WORKER: [&str; 6] = ["agent", "run_id", "status", "result", "model", "thinking"];
/// Before and after `independent`, which is no string.
const GATE: ([&str; 5], [&str; 2]) = (["gate", "agent", "run_id", "status", "result"], ["model", "thinking"]);

/// Notes every member of a wrong type; `status` is the caller's.
pub(super) fn check(report: &Object<'_>, problems: &mut Vec<Problem>) {
    if let Some(raw) = report.given("worker") {
        match Object::read("worker", raw) {
            Some(worker) => string_members(&worker, &WORKER, problems),
            None => problems.push(wrong_type("worker", raw, "an object or null")),
        }
    }
    gate_evidence(report, problems);
    async_status(report, problems);
    string_lists(report, &["files_changed", "tests_run"], problems);
    string_members(report, &["result", "error"], problems);
}

fn gate_evidence(report: &Object<'_>, problems: &mut Vec<Problem>) {
    let Some(raw) = report.given("gate_evidence") else { return };
    let Some(entries) = raw.items() else {
        problems.push(wrong_type("gate_evidence", raw, "an array"));
        return;
    };
    for (index, raw) in entries.into_iter().take(limits::PROBLEMS_OF_A_LIST).enumerate() {
        let path = format!("gate_evidence[{index}]");
        match Object::read(&path, raw) {
            Some(entry) => {
                string_members(&entry, &GATE.0, problems);
                boolean_member(&entry, "independent", problems);
                string_members(&entry, &GATE.1, problems);
            }
            None => problems.push(wrong_type(&path, raw, "an object")),
        }
    }
}

fn async_status(report: &Object<'_>, problems: &mut Vec<Problem>) {
    let Some(raw) = report.given("async_status") else { return };
    match Object::read("async_status", raw) {
        Some(status) => {
            boolean_member(&status, "checked", problems);
            string_lists(&status, &["pending_run_ids", "failed_run_ids"], problems);
        }
        None => problems.push(wrong_type("async_status", raw, "an object")),
    }
}

fn string_members(object: &Object<'_>, keys: &[&str], problems: &mut Vec<Problem>) {
    for key in keys {
        if let Some(raw) = object.given(key).filter(|raw| raw.kind() != Type::String) {
            problems.push(wrong_type(&object.path(key), raw, "a string"));
        }
    }
}

fn string_lists(object: &Object<'_>, keys: &[&str], problems: &mut Vec<Problem>) {
    for key in keys {
        if let Some(raw) = object.given(key) {
            strings(&object.path(key), raw, problems);
        }
    }
}

fn boolean_member(object: &Object<'_>, key: &str, problems: &mut Vec<Problem>) {
    let is_boolean = |raw: &Raw<'_>| raw.kind() == Type::Bool;
    if let Some(raw) = object.given(key).filter(|raw| !is_boolean(raw)) {
        problems.push(wrong_type(&object.path(key), raw, "true or false"));
    }
}
