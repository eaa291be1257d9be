//! The handoff message, read back with a Markdown parser: whatever the planner and the files say, only our headings and
//! our structure are there, and every foreign text is there whole (D65, D68).

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use handoffd::context::{Content, ContextFile};
use handoffd::message::{EarlierRun, Handoff, MAX_BYTES, cancel, remind, render};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use queue::{AcceptanceRole, Agent, DispatchId, Gate, Planner, RequiredRole, TaskType};

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

/// A task with every part set.
#[derive(Debug, Clone)]
struct Texts {
    planner: Planner,
    context: Vec<(String, Option<String>)>,
    ended_at: String,
    error: String,
    agents: Vec<Agent>,
}

fn agent(name: &str, role: AcceptanceRole) -> Agent {
    let name = name.to_owned();
    Agent { name, package: None, aliases: Vec::new(), role: Some(role), model_pin: None, thinking_pin: None }
}

impl Texts {
    fn plain() -> Self {
        let planner = Planner {
            task_id: "T-1".to_owned(),
            task_type: TaskType::Implement,
            required_role: RequiredRole::Writer,
            preferred_agent: Some("nobody".to_owned()),
            gate: Gate::ReviewAfter,
            gate_reason: Some("touches the API".to_owned()),
            parent_task_id: Some("T-0".to_owned()),
            instruction: "Add the flag.".to_owned(),
            working_dir: "src".to_owned(),
            scope: vec!["src".to_owned()],
            acceptance_criteria: vec!["tests pass".to_owned()],
            plan_ref: Some("docs/plan.md".to_owned()),
            created_at: "2026-11-30T08:00:00Z".to_owned(),
        };
        Self {
            planner,
            context: Vec::new(),
            ended_at: "2026-11-30T07:00:00.000Z".to_owned(),
            error: "no report".to_owned(),
            agents: vec![agent("builder", AcceptanceRole::Writer), agent("checker", AcceptanceRole::ReadOnly)],
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
        Handoff {
            dispatch_id: DispatchId::from_random(7),
            planner: &self.planner,
            agents: &self.agents,
            context,
            earlier: Some(EarlierRun { ended_at: &self.ended_at, status: "ERROR", error: Some(&self.error) }),
            report_room: 100_000,
        }
    }

    fn gate_reason(&self) -> &str {
        self.planner.gate_reason.as_deref().unwrap_or_default()
    }

    /// The blocks of foreign text, in the order of the message.
    fn blocks(&self) -> Vec<String> {
        let mut blocks = Vec::new();
        if !one_line(self.gate_reason()) && !blank(self.gate_reason()) {
            blocks.push(as_block(self.gate_reason()));
        }
        blocks.push(as_block(&self.error));
        blocks.push(as_block(&self.planner.instruction));
        if !self.planner.acceptance_criteria.iter().all(|text| one_line(text)) {
            blocks.extend(self.planner.acceptance_criteria.iter().map(|text| as_block(text)));
        }
        blocks.extend(self.context.iter().filter_map(|(_, text)| text.as_deref()).map(as_block));
        blocks
    }

    /// The values that stand as inline code, where they are not blocks.
    fn codes(&self) -> Vec<String> {
        let planner = &self.planner;
        let mut codes: Vec<&String> = vec![&planner.task_id, &planner.working_dir, &planner.created_at, &self.ended_at];
        codes.extend(&planner.scope);
        codes.extend(self.context.iter().map(|(path, _)| path));
        if planner.acceptance_criteria.iter().all(|text| one_line(text)) {
            codes.extend(&planner.acceptance_criteria);
        }
        let optional = [&planner.preferred_agent, &planner.parent_task_id, &planner.plan_ref];
        codes.extend(optional.into_iter().flatten().filter(|text| !blank(text)));
        codes.extend(planner.gate_reason.iter().filter(|text| one_line(text) && !blank(text)));
        let alone = |agent: &&Agent| self.agents.iter().filter(|other| other.name == agent.name).count() == 1;
        codes.extend(self.agents.iter().filter(alone).map(|agent| &agent.name));
        codes.into_iter().filter(|text| !text.is_empty()).map(|text| as_code(text)).collect()
    }
}

fn blank(text: &str) -> bool {
    text.trim().is_empty()
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
    let list = || prop::collection::vec(hostile(), 1..4);
    let context = prop::collection::vec((hostile(), prop::option::weighted(0.8, hostile())), 0..4);
    let values = (prop::array::uniform4(hostile()), prop::array::uniform4(hostile()), list(), list());
    (values, prop::array::uniform2(hostile()), list(), context).prop_map(
        |((fields, optional, scope, acceptance_criteria), [ended_at, error], names, context)| {
            let [task_id, instruction, working_dir, created_at] = fields;
            let [preferred_agent, gate_reason, parent_task_id, plan_ref] = optional.map(Some);
            let roles = [AcceptanceRole::Writer, AcceptanceRole::ReadOnly].into_iter().cycle();
            let planner = Planner {
                task_id,
                preferred_agent,
                gate_reason,
                parent_task_id,
                instruction,
                working_dir,
                scope,
                acceptance_criteria,
                plan_ref,
                created_at,
                ..Texts::plain().planner
            };
            let agents = names.iter().zip(roles).map(|(name, role)| agent(name, role)).collect();
            Texts { planner, context, ended_at, error, agents }
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
        "- Preferred agent: `nobody` (no such agent here)\n",
        "- Gate: `review-after`\n- Reason for the gate: `touches the API`\n",
        "ended with `ERROR` at `2026-11-30T07:00:00.000Z`",
        "the working directory `src` (set it as `cwd`, too)",
        "File 1 of 2: `README.md`, 18 bytes, SHA-256 `0000",
        "File 2 of 2: `b`, which does not exist.\n",
        "Agents here that qualify: `builder`.",
        "Agents here that qualify: `checker`.",
        "\"gate\": \"review-after\"",
        "`off`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`",
        "it may have about 97 KiB",
    ] {
        assert!(message.contains(part), "{part:?} is not in\n{message}");
    }
}

#[test]
fn the_skeleton_of_the_report_is_json_with_every_field() {
    for (gate, entries) in [(Gate::None, 0), (Gate::ConsultBefore, 1)] {
        let mut texts = Texts::plain();
        texts.planner.gate = gate;
        let seen = read_back(&render(&texts.handoff(&[])).unwrap());
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
fn the_gate_has_its_place_before_or_after_the_work() {
    let mut texts = Texts::plain();
    for (gate, first, second) in [
        (Gate::ConsultBefore, "1. **Consult first.**", "2. **Delegate.**"),
        (Gate::ReviewAfter, "1. **Delegate.**", "2. **Have it reviewed.**"),
        (Gate::None, "1. **Delegate.**", "2. **Ask for the runs.**"),
    ] {
        texts.planner.gate = gate;
        let message = render(&texts.handoff(&[])).unwrap();
        let place = |step: &str| message.find(step).unwrap_or_else(|| panic!("{step} is not in\n{message}"));
        assert!(place(first) < place(second), "{message}");
    }
}

#[test]
fn a_read_only_task_is_told_so() {
    let mut texts = Texts::plain();
    (texts.planner.task_type, texts.planner.gate) = (TaskType::Consult, Gate::None);
    texts.agents.pop();
    let message = render(&Handoff { earlier: None, ..texts.handoff(&[]) }).unwrap();
    for part in ["no file may be changed", "- Gate: `none`\n", "No agent here has that role", "\"files_changed\": []"] {
        assert!(message.contains(part), "{part:?} is not in\n{message}");
    }
    assert!(!message.contains("It ran before") && !message.contains("Have it reviewed"), "{message}");
}

#[test]
fn the_largest_allowed_task_fits_and_a_flood_of_back_quotes_is_an_error() {
    let mut texts = Texts::plain();
    texts.planner.instruction = "i".repeat(32_768);
    texts.context = (0..4).map(|n| (format!("f{n}"), Some("x`\n".repeat(43_690)))).collect();
    check(&texts);

    texts.planner.instruction = "`".repeat(32_768);
    texts.planner.acceptance_criteria = vec!["`".repeat(100_000), "\u{202e}".repeat(40_000)];
    texts.context.clear();
    check(&texts);

    texts.context = (0..4).map(|n| (format!("f{n}"), Some("`".repeat(131_072)))).collect();
    let context = texts.context_files();
    let too_large = render(&texts.handoff(&context)).unwrap_err();
    assert_eq!(too_large.limit, MAX_BYTES);
    assert!(too_large.bytes > MAX_BYTES && too_large.context_bytes > 12 * 131_072, "{too_large}");
}
