//! `packet_render`: a packet of any texts as prompt text.

use packet::{
    ArtifactRef, Assertion, AssertionKind, Constraint, Fidelity, Finding, Frame, Language, OutputFormat, Role,
    TaskPacket, render,
};

use super::{reader, texts};

/// A reader that knows lines only finds the headings of ours, and in the two sections what the packet holds; so does what
/// cuts prompts. What nothing acts on changes nothing.
pub fn check(bytes: &[u8]) {
    let packet = packet(bytes);
    // A packet that is not valid is never rendered; its blank entries could not be read back.
    if packet.validate().is_err() {
        return;
    }
    for language in [Language::English, Language::Chinese] {
        let text = render(&packet, Frame { language, owes: Some(Role::Verifier) });
        assert_eq!(reader::fault(&packet, &text, language), None, "{text}");
        let protected = budget::protected_sections(&text);
        assert_eq!(protected.len(), 1 + usize::from(!packet.constraints.is_empty()), "{text}");
        let mut mute = packet.clone();
        mute.tool_scope.denied.clear();
        mute.irreversible = !packet.irreversible;
        assert_eq!(render(&mute, Frame { language, owes: Some(Role::Verifier) }), text);
    }
}

/// The first byte chooses words, the rest is texts, dealt out to all fields in turn.
fn packet(bytes: &[u8]) -> TaskPacket {
    let (choice, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let choice = usize::from(*choice);
    let mut texts = texts(bytes);
    let mut next = || texts.next().unwrap_or_else(|| "x".to_owned());
    let roles = [(Role::Planner, Role::Executor), (Role::Executor, Role::Verifier), (Role::Verifier, Role::Executor)];
    let format = match choice % 4 {
        0 => OutputFormat::Markdown,
        1 => OutputFormat::Diff,
        2 => OutputFormat::Files,
        _ => OutputFormat::Json { schema: Some(next()) },
    };
    let mut packet = TaskPacket::new(next(), next(), 1, roles[choice % roles.len()], next(), format);
    packet.fidelity = Fidelity::ALL[choice % Fidelity::ALL.len()];
    packet.budget.max_turns = u32::try_from(choice).ok().filter(|turns| turns % 2 == 1);
    packet.parent_packet = Some(next());
    for (turn, text) in texts.enumerate() {
        deal(&mut packet, turn, text);
    }
    packet
}

fn deal(packet: &mut TaskPacket, turn: usize, text: String) {
    let (field, round) = (turn % 14, turn / 14);
    match field {
        0 | 1 => packet.constraints.push(Constraint { id: format!("{round}-{field}{text}"), text }),
        2 => packet.audience.push(text),
        3 => packet.findings.push(Finding { text: text.clone(), evidence: vec![text] }),
        4 => packet.findings.push(Finding { text, evidence: Vec::new() }),
        5 => packet.artifacts.push(ArtifactRef { id: text.clone(), path: Some(text), sha256: None }),
        6 => packet.acceptance.push(Assertion { kind: AssertionKind::OutputContains, value: text }),
        7 => packet.tool_scope.denied.push(text),
        8 => packet.boundaries.push(text),
        9 => packet.wiki_refs.push(text),
        10 => packet.evidence_index.push(text),
        11 => packet.open_questions.push(text),
        12 => packet.blockers.push(text),
        _ => packet.next_steps.push(text),
    }
}
