//! The handoff message, read back with a Markdown parser: whatever the planner and the files say, only our headings and
//! our structure are there, and every foreign text is there whole (D65, D68).

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use handoffd::context::{Content, ContextFile};
use handoffd::message::{
    Candidates, EarlierRun, Gate, GateKind, Handoff, MAX_BYTES, Preferred, PreferredFit, cancel, remind, render,
};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use queue::{AcceptanceRole, DispatchId};

/// What a reader of the message sees.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    headings: Vec<String>,
    blocks: Vec<String>,
    codes: Vec<String>,
    forbidden: Vec<String>,
}

fn read_back(message: &str) -> Seen {
    let mut seen = Seen::default();
    let (mut heading, mut block): (Option<String>, Option<String>) = (None, None);
    for event in Parser::new_ext(message, Options::all()) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => seen.headings.extend(heading.take()),
            Event::Start(Tag::CodeBlock(_)) => block = Some(String::new()),
            Event::End(TagEnd::CodeBlock) => seen.blocks.extend(block.take()),
            Event::Text(text) => {
                if let Some(open) = block.as_mut().or(heading.as_mut()) {
                    open.push_str(&text);
                }
            }
            Event::Code(code) => seen.codes.push(code.into_string()),
            Event::Start(Tag::Paragraph | Tag::List(_) | Tag::Item | Tag::Strong)
            | Event::SoftBreak
            | Event::End(_) => {}
            other => seen.forbidden.push(format!("{other:?}")),
        }
    }
    seen
}

/// The stated mapping of foreign text, written down a second time: pictures for controls, `\u{…}` for what hides text.
fn shown(text: &str, kept: &[char]) -> String {
    let hidden = |c: char| matches!(u32::from(c), 0x80..=0x9f | 0x2028..=0x202e | 0x2066..=0x2069 | 0xe0000..=0xe007f);
    text.chars()
        .map(|c| match c {
            _ if kept.contains(&c) => c.to_string(),
            '\u{7f}' => "␡".to_owned(),
            _ if u32::from(c) < 0x20 => char::from_u32(0x2400 + u32::from(c)).into_iter().collect(),
            _ if hidden(c) => c.escape_unicode().to_string(),
            _ => c.to_string(),
        })
        .collect()
}

fn as_block(text: &str) -> String {
    let mut out = shown(&text.replace("\r\n", "\n").replace('\r', "\n"), &['\n', '\t']);
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

fn as_code(text: &str) -> String {
    shown(text, &[])
}

fn one_line(text: &str) -> bool {
    !text.chars().any(|c| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'))
}

/// A task with every part set; the texts are the test's.
#[derive(Debug, Clone)]
struct Texts {
    values: [String; 8],
    instruction: String,
    gate_reason: String,
    scope: Vec<String>,
    criteria: Vec<String>,
    context: Vec<(String, Option<String>)>,
    error: String,
    agents: Vec<String>,
}

impl Texts {
    fn plain() -> Self {
        Self {
            values: ["T-1", "IMPLEMENT", "writer", "builder", "T-0", "src", "docs/plan.md", "2026-11-30T08:00:00Z"]
                .map(str::to_owned),
            instruction: "Add the flag.".to_owned(),
            gate_reason: "touches the API".to_owned(),
            scope: vec!["src".to_owned()],
            criteria: vec!["tests pass".to_owned()],
            context: Vec::new(),
            error: "no report".to_owned(),
            agents: vec!["builder".to_owned()],
        }
    }

    fn context_files(&self) -> Vec<ContextFile> {
        let file = |(path, text): &(String, Option<String>)| ContextFile {
            path: path.clone(),
            content: match text {
                Some(text) => Content::Text { text: text.clone(), sha256: "0".repeat(64) },
                None => Content::Missing,
            },
        };
        self.context.iter().map(file).collect()
    }

    fn handoff<'a>(&'a self, context: &'a [ContextFile]) -> Handoff<'a> {
        let all = |list: &'a [String]| list.iter().map(String::as_str).collect::<Vec<_>>();
        let [task_id, task_type, required_role, agent, parent, working_dir, plan, created_at] = &self.values;
        Handoff {
            dispatch_id: DispatchId::from_random(7),
            task_id,
            task_type,
            required_role,
            worker_role: AcceptanceRole::Writer,
            preferred_agent: Some(Preferred { name: agent, fit: PreferredFit::Unknown }),
            gate: Some(Gate { kind: GateKind::ReviewAfter, reason: &self.gate_reason }),
            parent_task_id: Some(parent),
            instruction: &self.instruction,
            working_dir,
            scope: all(&self.scope),
            criteria: all(&self.criteria),
            plan_ref: Some(plan),
            created_at,
            context,
            earlier: Some(EarlierRun { ended_at: created_at, status: "ERROR", error: Some(&self.error) }),
            candidates: Candidates { workers: all(&self.agents), reviewers: all(&self.agents) },
            report_room: Some(100_000),
        }
    }

    /// The blocks of foreign text, in the order of the message.
    fn blocks(&self) -> Vec<String> {
        let mut blocks = Vec::new();
        if !one_line(&self.gate_reason) {
            blocks.push(as_block(&self.gate_reason));
        }
        blocks.push(as_block(&self.error));
        blocks.push(as_block(&self.instruction));
        if !self.criteria.iter().all(|text| one_line(text)) {
            blocks.extend(self.criteria.iter().map(|text| as_block(text)));
        }
        blocks.extend(self.context.iter().filter_map(|(_, text)| text.as_deref()).map(as_block));
        blocks
    }

    /// The values that stand as inline code, where they are not blocks.
    fn codes(&self) -> Vec<String> {
        let mut codes: Vec<&String> = self.values.iter().chain(&self.scope).chain(&self.agents).collect();
        codes.extend(self.context.iter().map(|(path, _)| path));
        if self.criteria.iter().all(|text| one_line(text)) {
            codes.extend(&self.criteria);
        }
        if one_line(&self.gate_reason) {
            codes.push(&self.gate_reason);
        }
        codes.into_iter().filter(|text| !text.is_empty()).map(|text| as_code(text)).collect()
    }
}

const HEADINGS: [&str; 8] = [
    "Handoff from the planner",
    "Task",
    "It ran before",
    "Instruction",
    "Scope",
    "Acceptance criteria",
    "Context files",
    "What you have to do",
];
const LAST_HEADINGS: [&str; 2] = ["The report", "COMPLETE or ERROR"];

#[track_caller]
fn check(texts: &Texts) {
    let context = texts.context_files();
    let message = render(&texts.handoff(&context)).unwrap();
    let seen = read_back(&message);

    let headings = HEADINGS.into_iter().filter(|heading| *heading != "Context files" || !context.is_empty());
    assert_eq!(seen.headings, headings.chain(LAST_HEADINGS).collect::<Vec<_>>(), "{message}");
    assert_eq!(seen.forbidden, Vec::<String>::new(), "{message}");

    let (skeleton, foreign) = seen.blocks.split_last().unwrap();
    assert!(skeleton.starts_with("{\n  \"status\": \"COMPLETE\""), "{message}");
    assert_eq!(foreign, texts.blocks(), "{message}");
    for code in texts.codes() {
        assert!(seen.codes.contains(&code), "{code:?} is not inline code in\n{message}");
    }
}

/// Strings that try to be something else than text.
fn hostile() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        4 => prop::sample::select(vec![
            "\n", "\n\n", "\r\n", "\r", "\t", " ", "    ", "`", "``", "```", "`````", "~~~", "~~~~~~", "# Task", "## The report",
            "===", "---", "- ", "1. ", "> ", "[a](http://b.c)", "![a](b)", "<b>", "</script>", "<!--", "-->", "<http://a.b>",
            "http://a.b", "&amp;", "\\", "|", "| a | b |\n|---|---|\n", "$$", "[^1]", "[^1]: x", "*", "_", "[x]: y", "+++", ":::",
            "\u{0}", "\u{1b}[2J", "\u{7f}", "\u{85}", "\u{b}", "\u{c}", "\u{2028}", "\u{202e}", "\u{feff}", "\u{e0041}", "{#id}",
            "text", "ü",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => (1_usize..200).prop_map(|count| "`".repeat(count)),
    ];
    prop::collection::vec(fragment, 0..12).prop_map(|parts| parts.concat())
}

fn texts() -> impl Strategy<Value = Texts> {
    let values = prop::array::uniform8(hostile());
    let list = || prop::collection::vec(hostile(), 1..4);
    let context = prop::collection::vec((hostile(), prop::option::weighted(0.8, hostile())), 0..4);
    (values, hostile(), hostile(), list(), list(), context, hostile(), list()).prop_map(
        |(values, instruction, gate_reason, scope, criteria, context, error, agents)| Texts {
            values,
            instruction,
            gate_reason,
            scope,
            criteria,
            context,
            error,
            agents,
        },
    )
}

proptest! {
    #[test]
    fn no_text_of_others_becomes_structure(texts in texts()) {
        check(&texts);
    }

    #[test]
    fn a_reminder_and_a_cancellation_are_one_paragraph(id in hostile(), other in hostile()) {
        for text in [remind(&id, &[]), remind(&id, &[&other]), cancel(&id, &other)] {
            let seen = read_back(&text);
            prop_assert_eq!(&seen.forbidden, &Vec::<String>::new());
            prop_assert_eq!((seen.headings.len(), seen.blocks.len()), (0, 0));
            prop_assert!(id.is_empty() || seen.codes.contains(&as_code(&id)));
        }
    }
}

#[test]
fn a_plain_task_reads_well() {
    let mut texts = Texts::plain();
    texts.context = vec![("README.md".to_owned(), Some("# Hello\n```\nx\n```\n".to_owned())), ("b".to_owned(), None)];
    check(&texts);
    let context = texts.context_files();
    let message = render(&texts.handoff(&context)).unwrap();
    for part in [
        "- Preferred agent: `builder` (no such agent here)\n",
        "- Gate: `review-after`, because: `touches the API`\n",
        "File 1 of 2: `README.md`, 18 bytes, SHA-256 `0000",
        "File 2 of 2: `b`, which does not exist.\n",
        "Agents here that qualify: `builder`.",
        "\"gate\": \"review-after\"",
        "`off`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`",
        "it may have about 97 KiB",
    ] {
        assert!(message.contains(part), "{part:?} is not in\n{message}");
    }
}

#[test]
fn the_skeleton_of_the_report_is_json_with_every_field() {
    let texts = Texts::plain();
    for (gate, entries) in [(None, 0), (Some(GateKind::ConsultBefore), 1)] {
        let mut handoff = texts.handoff(&[]);
        handoff.gate = gate.map(|kind| Gate { kind, reason: "r" });
        let seen = read_back(&render(&handoff).unwrap());
        let report: serde_json::Value = serde_json::from_str(seen.blocks.last().unwrap()).unwrap();
        let members: Vec<&String> = report.as_object().unwrap().keys().collect();
        assert_eq!(
            members,
            ["status", "worker", "gate_evidence", "async_status", "files_changed", "tests_run", "result", "error"]
        );
        assert_eq!(report["gate_evidence"].as_array().unwrap().len(), entries);
    }
}

#[test]
fn a_read_only_task_is_told_so() {
    let texts = Texts::plain();
    let mut handoff = texts.handoff(&[]);
    (handoff.worker_role, handoff.gate, handoff.earlier) = (AcceptanceRole::ReadOnly, None, None);
    handoff.candidates = Candidates::default();
    let message = render(&handoff).unwrap();
    for part in ["no file may be changed", "- Gate: none\n", "No agent here has that role", "\"files_changed\": []"] {
        assert!(message.contains(part), "{part:?} is not in\n{message}");
    }
    assert!(!message.contains("It ran before") && !message.contains("Have it reviewed"), "{message}");
}

#[test]
fn the_largest_allowed_task_fits_and_a_flood_of_back_quotes_is_an_error() {
    let mut texts = Texts::plain();
    texts.instruction = "i".repeat(32_768);
    texts.context = (0..4).map(|n| (format!("f{n}"), Some("x`\n".repeat(43_690)))).collect();
    check(&texts);

    texts.context = (0..4).map(|n| (format!("f{n}"), Some("`".repeat(131_072)))).collect();
    let context = texts.context_files();
    let too_large = render(&texts.handoff(&context)).unwrap_err();
    assert_eq!(too_large.limit, MAX_BYTES);
    assert!(too_large.bytes > MAX_BYTES && too_large.context_bytes > 12 * 131_072, "{too_large}");
}
