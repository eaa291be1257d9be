//! Properties over documents of every shape: bytes that are not ours never change, values decide a fingerprint, and
//! nothing panics.

use jiff::Timestamp;
use proptest::prelude::*;
use queue::{
    Action, Code, DispatchId, Document, Field, Owner, Ownership, Reading, ReportContext, Status, Submission,
    check_report, finish_by_us, lint, reject, start, submit,
};
use serde_json::Value;

use crate::fixture::{Tree, VALID};
use crate::reports::{agents, complete_report};
use crate::spelled::{Member, decoded, has_repeats, meaning, members, value_text, written};

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes()).unwrap_or_else(|problem| panic!("{}: {text}", problem.message))
}

fn is_ours(key: &str) -> bool {
    Field::from_name(key).is_some_and(|field| field == Field::Status || field.owner() == Owner::Worker)
}

/// What must stand before each value of ours, and after the last: the text without our values.
fn without_our_values(members: &[Member]) -> Vec<String> {
    let mut pieces = vec!["{".to_owned()];
    for (at, Member { key, value, gaps: [a, b, c, d] }) in members.iter().enumerate() {
        let last = pieces.last_mut().unwrap();
        last.push_str(if at > 0 { "," } else { "" });
        last.push_str(&format!("{a}{key}{b}:{c}"));
        if is_ours(&decoded(key)) {
            pieces.push(String::new());
        } else {
            pieces.last_mut().unwrap().push_str(value);
        }
        if at + 1 < members.len() {
            pieces.last_mut().unwrap().push_str(d);
        }
    }
    pieces
}

/// Takes the pieces off the text one by one, skipping one value of ours between them; what is left is what was added.
fn added<'t>(mut text: &'t str, pieces: &[String], last_gap: &str) -> &'t str {
    for (at, piece) in pieces.iter().enumerate() {
        if at > 0 {
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<&serde_json::value::RawValue>();
            let _value = values.next().unwrap().unwrap();
            text = &text[values.byte_offset()..];
        }
        text = text.strip_prefix(piece.as_str()).unwrap_or_else(|| panic!("{piece:?} is not at the start of {text:?}"));
    }
    text.strip_suffix(&format!("{last_gap}}}")).unwrap_or_else(|| panic!("the end of {text:?} is not {last_gap:?}"))
}

proptest! {
    #[test]
    fn only_our_values_change(members in members("PENDING"), bits in any::<u128>()) {
        let before = parse(&written(&members));
        let pieces = without_our_values(&members);
        let last_gap = &members.last().unwrap().gaps[3];
        let id = DispatchId::from_random(bits);
        let at = Timestamp::UNIX_EPOCH;
        let problems = [queue::Problem::whole(Code::QueueFull, "x\u{0}\"\\")];
        let writes = [
            (Status::Running, start(&before, id, at).unwrap()),
            (Status::Error, finish_by_us(&before, "x\n\"\\\u{0}🦀", at).unwrap()),
            (Status::Error, reject(&before, &problems, at).unwrap()),
        ];
        for (status, text) in writes {
            let after = parse(&text);
            prop_assert_eq!(after.status(), status);
            prop_assert_eq!(after.fingerprint(), before.fingerprint());
            let added = added(&text, &pieces, last_gap);
            prop_assert!(added.is_empty() || added.starts_with(','), "{}", added);
            for field in Field::ALL.iter().filter(|field| !is_ours(field.name())) {
                prop_assert_eq!(after.raw(*field), before.raw(*field));
            }
            for field in Field::of(Owner::Worker).filter(|field| before.raw(*field).is_none()) {
                prop_assert_ne!(after.raw(field), Some("null"), "{} was absent", field.name());
            }
        }
        prop_assert_eq!(parse(&start(&before, id, at).unwrap()).dispatch_id(), Some(id));
        let ended = finish_by_us(&before, "x\n\"\\\u{0}🦀", at).unwrap();
        let ended = parse(&ended);
        prop_assert_eq!(ended.string(Field::Error).unwrap(), "x\n\"\\\u{0}🦀");
    }

    #[test]
    fn order_and_white_space_do_not_change_the_fingerprint(members in members("PENDING").prop_shuffle(), seed in any::<u64>()) {
        let plain = parse(&written(&members)).fingerprint();
        let mut other = members.clone();
        other.rotate_left(usize::try_from(seed % 7).unwrap() % members.len());
        for member in &mut other {
            member.gaps = [" ".into(), "\n".into(), "\t".into(), String::new()];
            member.key = format!("\"{}\"", decoded(&member.key));
        }
        prop_assert_eq!(parse(&written(&other)).fingerprint(), plain);
    }

    #[test]
    fn values_decide_the_fingerprint(left in value_text(), right in value_text()) {
        let fingerprint = |value: &str| parse(&format!("{{\"status\":\"IDLE\",\"scope\":{value}}}")).fingerprint();
        // Repeated keys inside a value are the exception: every reading of them keeps one, the fingerprint all.
        prop_assume!(!has_repeats(&left) && !has_repeats(&right));
        prop_assert_eq!(fingerprint(&left) == fingerprint(&right), meaning(&left) == meaning(&right));
        let spelled = serde_json::to_string(&serde_json::from_str::<&serde_json::value::RawValue>(&left).unwrap()).unwrap();
        prop_assert_eq!(fingerprint(&left), fingerprint(&spelled));
    }

    #[test]
    fn a_submitted_task_is_what_is_read_again(before in members("ERROR"), task in members("IDLE")) {
        let existing = parse(&written(&before));
        let json = written(&task);
        let submission = Submission::parse(&json).unwrap();
        let fresh = parse(&submit(None, &submission).unwrap());
        let over = parse(&submit(Some(&existing), &submission).unwrap());
        let wanted = parse(&json).fingerprint();
        prop_assert_eq!(fresh.fingerprint(), wanted);
        prop_assert_eq!(over.fingerprint(), wanted);
        prop_assert_eq!(over.status(), Status::Pending);
        for field in Field::of(Owner::Worker) {
            prop_assert_eq!(over.raw(field), existing.raw(field).map(|_| "null"));
            prop_assert_eq!(fresh.raw(field), None);
        }
    }

    #[test]
    fn the_scanner_agrees_with_another_reader(tokens in proptest::collection::vec(proptest::sample::select(TOKENS.to_vec()), 0..14)) {
        let text = tokens.concat();
        // The other reader knows no byte-order mark and refuses numbers that it cannot hold.
        let bare = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let other = serde_json::from_str::<Value>(bare);
        prop_assume!(!other.as_ref().is_err_and(|error| error.to_string().contains("out of range")));
        let is_json = other.is_ok();
        let found = Document::parse(text.as_bytes());
        let is_read = !found.is_err_and(|problem| problem.code == Code::InvalidJson);
        prop_assert_eq!(is_read, is_json, "{}", text);
    }

    #[test]
    fn nothing_panics_on_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        exercise(&bytes);
    }

    #[test]
    fn nothing_panics_on_damaged_documents(edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..4)) {
        let mut bytes = VALID.as_bytes().to_vec();
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        exercise(&bytes);
    }

    #[test]
    fn nothing_panics_on_damaged_reports(at in any::<prop::sample::Index>(), value in value_text()) {
        let report = complete_report().to_string();
        let starts: Vec<_> = report.match_indices(':').map(|(at, _)| at + 1).collect();
        let start = starts[at.index(starts.len())];
        let mut values = serde_json::Deserializer::from_str(&report[start..]).into_iter::<&serde_json::value::RawValue>();
        prop_assume!(matches!(values.next(), Some(Ok(_))));
        let text = format!("{}{value}{}", &report[..start], &report[start + values.byte_offset()..]);
        let queue = parse(&VALID.replace("PENDING", "RUNNING"));
        let agents = agents();
        let context = ReportContext { queue: &queue, expected: None, paths: &Tree::with_src(), agents: &agents, observed: None };
        if let Err(problems) = check_report(&text, &context) {
            prop_assert!(!problems.is_empty());
        }
    }
}

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    "\"a\"",
    "\"b\"",
    "\"\\u0041\"",
    "\"\\ud800\"",
    "\"\\ud83e\\udd80\"",
    "\"",
    "\\",
    "0",
    "1",
    "-",
    "-1",
    "1.5",
    "e",
    "1e5",
    ".",
    "true",
    "false",
    "null",
    "\u{feff}",
    "\t",
    "\u{1}",
    "é",
];

/// Everything that is done with a file's bytes.
fn exercise(bytes: &[u8]) {
    let Ok(document) = Document::parse(bytes) else { return };
    let tree = Tree::with_src();
    let found = lint(Reading::Readable(&document), &tree, Ownership::Unowned);
    assert_eq!(found.problems.is_empty(), !matches!(found.action, Action::Reject | Action::Leave));
    assert_eq!(document.fingerprint(), document.clone().fingerprint());
    let _json: Value = match serde_json::from_str(&document.planner_json()) {
        Ok(json) => json,
        Err(error) => {
            assert!(error.to_string().contains("out of range"), "{error}");
            Value::Null
        }
    };
    let text = start(&document, DispatchId::from_random(1), Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(parse(&text).status(), Status::Running);
}
