//! The sections of a rendered packet. Each is one heading and lines below it; what is empty is left out, but for the
//! audience and the grade of evidence, whose absence could be misread.

use std::fmt::Write as _;

use crate::output_format::OutputFormat;
use crate::parts::{ArtifactRef, Assertion, Budget, Constraint, Finding};
use crate::render::Language;
use crate::render::escape::{Bracketed, Value};
use crate::task_packet::TaskPacket;
use crate::words::{AssertionKind, Fidelity};

/// Writes all of them. The section that follows the audience is always there, so that the audience has an end.
pub(super) fn write(out: &mut String, packet: &TaskPacket, language: Language) {
    objective(out, packet);
    constraints(out, &packet.constraints, language);
    audience(out, &packet.audience, language);
    evidence(out, packet);
    listed(out, "## Boundaries: do not do this", &[("", &packet.boundaries)]);
    acceptance(out, &packet.acceptance, packet.acceptance_baseline_ref.as_deref());
    references(out, packet);
    let open = [("blocker: ", &packet.blockers), ("question: ", &packet.open_questions)];
    listed(out, "## Open", &open);
    listed(out, "## Next steps", &[("", &packet.next_steps)]);
    budget(out, &packet.budget);
}

fn heading(out: &mut String, line: &str) {
    let _infallible = write!(out, "\n{line}\n\n");
}

fn item(out: &mut String, label: &str, value: &str) {
    let _infallible = writeln!(out, "- {label}{}", Value(value));
}

/// Below the item before.
fn detail(out: &mut String, label: &str, value: &str) {
    let _infallible = writeln!(out, "  - {label}{}", Value(value));
}

fn listed(out: &mut String, title: &str, groups: &[(&str, &Vec<String>)]) {
    if groups.iter().all(|(_, values)| values.is_empty()) {
        return;
    }
    heading(out, title);
    for (label, values) in groups {
        values.iter().for_each(|value| item(out, label, value));
    }
}

fn objective(out: &mut String, packet: &TaskPacket) {
    heading(out, "## Objective");
    let _infallible = writeln!(out, "{}\n", Value(&packet.objective));
    out.push_str(match packet.output_format {
        OutputFormat::Markdown => "The product is text in Markdown.\n",
        OutputFormat::Json { schema: None } => "The product is one JSON value.\n",
        OutputFormat::Json { schema: Some(_) } => "The product is one JSON value of this schema:\n",
        OutputFormat::Diff => "The product is a diff.\n",
        OutputFormat::Files => "The product is files, which your packet refers to as artifacts.\n",
    });
    if let OutputFormat::Json { schema: Some(schema) } = &packet.output_format {
        item(out, "", schema);
    }
}

fn constraints(out: &mut String, constraints: &[Constraint], language: Language) {
    if constraints.is_empty() {
        return;
    }
    heading(out, language.constraints_header());
    for constraint in constraints {
        let _infallible = writeln!(out, "- {} {}", Bracketed(&constraint.id), Value(&constraint.text));
    }
}

fn audience(out: &mut String, audience: &[String], language: Language) {
    heading(out, language.audience_header());
    if audience.is_empty() {
        out.push_str("None is declared: the audience of the enclosing task applies. That is never everyone.\n");
    }
    audience.iter().for_each(|entry| item(out, "", entry));
}

fn evidence(out: &mut String, packet: &TaskPacket) {
    heading(out, "## Evidence and findings");
    out.push_str(match packet.fidelity {
        Fidelity::Full => "Evidence grade full: native tool events and the MCP audit are both there, with outcomes.\n",
        Fidelity::McpOnly => {
            "Evidence grade mcp_only: the MCP audit alone is there; native tool calls are not in it.\n"
        }
        Fidelity::None => "Evidence grade none: no tool evidence exists. That does not mean that no tool was used.\n",
    });
    packet.findings.iter().for_each(|found| finding(out, found));
    packet.evidence_index.iter().for_each(|entry| item(out, "looked at: ", entry));
}

fn finding(out: &mut String, finding: &Finding) {
    if finding.is_claim() {
        item(out, "claim, without evidence: ", &finding.text);
        return;
    }
    item(out, "finding: ", &finding.text);
    finding.evidence.iter().for_each(|id| detail(out, "evidence: ", id));
}

fn acceptance(out: &mut String, assertions: &[Assertion], baseline: Option<&str>) {
    if assertions.is_empty() && baseline.is_none() {
        return;
    }
    heading(out, "## Acceptance");
    for assertion in assertions {
        let label = match assertion.kind {
            AssertionKind::MustUseTools => "this tool must be called: ",
            AssertionKind::MustNotUseTools => "this tool must not be called: ",
            AssertionKind::OutputContains => "the final answer must contain: ",
            AssertionKind::OutputNotContains => "the final answer must not contain: ",
        };
        item(out, label, &assertion.value);
    }
    if let Some(baseline) = baseline {
        item(out, "the goal's frozen criteria: ", baseline);
    }
}

fn references(out: &mut String, packet: &TaskPacket) {
    let lists = [
        ("wiki page: ", &packet.wiki_refs),
        ("memory: ", &packet.memory_refs),
        ("state key to rely on: ", &packet.state_keys),
    ];
    if packet.artifacts.is_empty() && lists.iter().all(|(_, values)| values.is_empty()) {
        return;
    }
    heading(out, "## References: fetch what you need");
    packet.artifacts.iter().for_each(|reference| artifact(out, reference));
    for (label, values) in lists {
        values.iter().for_each(|value| item(out, label, value));
    }
}

fn artifact(out: &mut String, artifact: &ArtifactRef) {
    item(out, "artifact: ", &artifact.id);
    for (label, value) in [("path: ", &artifact.path), ("sha256: ", &artifact.sha256)] {
        if let Some(value) = value {
            detail(out, label, value);
        }
    }
}

fn budget(out: &mut String, budget: &Budget) {
    if budget.is_unset() {
        return;
    }
    heading(out, "## Budget: asked for, not enforced");
    out.push_str("The sender asks you to stay within it. What is not named has the dispatcher's own limit.\n");
    let mut line = |value: Option<String>, unit: &str| {
        if let Some(value) = value {
            let _infallible = writeln!(out, "- at most {value} {unit}");
        }
    };
    line(budget.max_turns.map(|turns| turns.to_string()), "turns");
    line(budget.max_tokens.map(|tokens| tokens.to_string()), "tokens");
    line(budget.wall_clock_secs.map(|seconds| seconds.to_string()), "seconds");
    line(budget.max_cost_usd.filter(|cost| cost.is_finite()).map(|cost| cost.to_string()), "US dollars");
}
