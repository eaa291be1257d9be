//! `docs/operations.md` has every state and every error code of the program, and what to do about each.

use std::collections::BTreeSet;
use std::path::Path;

use wire::error::ErrorCode;
use wire::status::{ProjectState, StateReason};

fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let from = text.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("there is no {heading}"));
    let rest = &text[from + heading.len() + 1..];
    let level = heading.split(' ').next().unwrap().len();
    let ends = |line: &str| (1..=level).any(|level| line.starts_with(&format!("{} ", "#".repeat(level))));
    let next = rest.match_indices('\n').map(|(at, _)| at + 1).find(|at| ends(&rest[*at..])).unwrap_or(rest.len());
    &rest[..next]
}

/// The words of the tables below a heading, each row's first cell; a row must end with what to do.
fn words(text: &str, heading: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for row in section(text, heading).lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        assert_eq!(cells.len(), 3, "{row}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{row}");
        words.extend(cells[0].split('`').skip(1).step_by(2).map(str::to_owned));
    }
    words
}

#[track_caller]
fn check<'w>(heading: &str, expected: impl IntoIterator<Item = &'w str>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let text = std::fs::read_to_string(path).unwrap();
    let expected: BTreeSet<String> = expected.into_iter().map(str::to_owned).collect();
    let found = words(&text, heading);
    let missing: Vec<_> = expected.difference(&found).collect();
    let unknown: Vec<_> = found.difference(&expected).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "{heading}: missing {missing:?}, not in the code {unknown:?}");
}

#[test]
fn every_state_and_every_reason_is_explained() {
    check("## States", ProjectState::WORDS.iter().chain(StateReason::WORDS).copied());
}

#[test]
fn every_answer_of_the_daemon_is_explained() {
    check("### Answers of the daemon", ErrorCode::WORDS.iter().copied());
}

#[test]
fn every_code_of_tasks_and_reports_is_explained() {
    check("### Tasks and reports", queue::Code::ALL.iter().map(|code| code.as_str()));
}

/// Those that stand as texts in the command line.
#[test]
fn every_code_of_commands_and_tools_is_explained() {
    let said = [
        ("commands/mcp/planner/answer.rs", &["daemon_not_running", "refused"][..]),
        ("commands/mcp/planner/arguments.rs", &["invalid_parameters"]),
        ("commands/mcp/planner/mod.rs", &["internal_error"]),
        ("commands/prompt/mod.rs", &["budget_exceeded"]),
    ];
    for (file, words) in said {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
        let source = std::fs::read_to_string(source).unwrap();
        for word in words {
            assert!(source.contains(&format!("\"{word}\"")), "{file} does not say {word} any more");
        }
    }
    let words = said.iter().flat_map(|(_, words)| *words).copied();
    check("### The commands and the tools of a model", words.chain([mcp::Denied::CODE]));
}

/// The door's, the packet's own, and the composer's, which are texts there.
#[test]
fn every_code_of_packets_is_explained() {
    use team::Code;
    let door = [
        Code::InvalidAgentId,
        Code::MissingPacket,
        Code::InvalidPacket,
        Code::ForbiddenProviderField,
        Code::NotATeamMember,
        Code::TeamMemberUnreadable,
        Code::FromRoleMismatch,
        Code::TaskIdMismatch,
        Code::RoundMismatch,
        Code::InvalidHandoffEdge,
        Code::InvalidPathComponent,
        Code::WriteFailed,
    ];
    // A new one makes this fail to build, as a reminder.
    for code in door {
        match code {
            Code::InvalidAgentId
            | Code::MissingPacket
            | Code::InvalidPacket
            | Code::ForbiddenProviderField
            | Code::NotATeamMember
            | Code::TeamMemberUnreadable
            | Code::Validation(_)
            | Code::FromRoleMismatch
            | Code::TaskIdMismatch
            | Code::RoundMismatch
            | Code::InvalidHandoffEdge
            | Code::InvalidPathComponent
            | Code::WriteFailed => {}
        }
    }
    let composer = [
        "not_a_regular_file",
        "oversize",
        "unreadable",
        "unparseable",
        "wrong_leg",
        "wrong_task_or_round",
        "planner_no_packets",
        "no_executor_packets",
        "no_verifier_packets",
        "no_utility_packets",
    ];
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../team/src/compose.rs");
    let source = std::fs::read_to_string(source).unwrap();
    for word in composer {
        assert!(source.contains(&format!("\"{word}\"")), "the composer does not say {word} any more");
    }
    check("### Packets", door.iter().map(|code| code.as_str()).chain(packet::PacketError::CODES).chain(composer));
}
