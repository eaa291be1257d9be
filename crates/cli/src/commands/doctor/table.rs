//! How findings look on a terminal: a line for each, what to do below it; what is good in short.

use super::finding::{Finding, State};
use crate::text::{Line, Tone, counted, wrapped};

const CHECK: usize = 14;
const STATE: usize = 9;
/// Sentences are not made narrower than this.
const NARROW: usize = 30;

/// The whole table.
pub(super) fn lines(findings: &[Finding], width: Option<usize>) -> Vec<Line> {
    let mut lines = vec![row(Line::of(Tone::Dim, "CHECK"), Line::of(Tone::Dim, "STATE")).and(Tone::Dim, "WHAT")];
    let mut names: Vec<&str> = Vec::new();
    for finding in findings {
        if !names.contains(&finding.check) {
            names.push(finding.check);
        }
    }
    for name in names {
        let of_check: Vec<&Finding> = findings.iter().filter(|finding| finding.check == name).collect();
        for finding in shown(&of_check) {
            lines.extend(of(&finding, width));
        }
    }
    lines
}

/// Good projects are counted, not listed.
fn shown(findings: &[&Finding]) -> Vec<Finding> {
    let is_short = |finding: &&Finding| finding.state == State::Good && finding.project.is_some();
    let (good, mut shown): (Vec<&Finding>, Vec<Finding>) = (
        findings.iter().copied().filter(is_short).collect(),
        findings.iter().copied().filter(|finding| !is_short(finding)).cloned().collect(),
    );
    if let Some(first) = good.first() {
        let alike = good.iter().all(|finding| finding.what == first.what);
        let what = match good.len() {
            1 => first.what.clone(),
            count if alike => format!("{count} projects: {}", first.what),
            count => format!("{count} projects, as they should be"),
        };
        let project = first.project.clone().filter(|_| good.len() == 1);
        shown.push(Finding { what, project, ..(*first).clone() });
    }
    shown
}

fn row(check: Line, state: Line) -> Line {
    check.padded(CHECK).join(&state.padded(STATE))
}

fn of(finding: &Finding, width: Option<usize>) -> Vec<Line> {
    let indent = CHECK + STATE;
    let room = width.map(|width| width.saturating_sub(indent).max(NARROW));
    let project = finding.project.as_ref().map(|project| format!("{}: ", project.name)).unwrap_or_default();
    let state = Line::of(tone(finding.state), finding.state.as_str());
    let mut lines = Vec::new();
    for (at, text) in wrapped(&format!("{project}{}", finding.what), room).into_iter().enumerate() {
        let head = match at {
            0 => row(Line::from(finding.check), state.clone()),
            _ => Line::default().padded(indent),
        };
        lines.push(head.plain(&text));
    }
    // A command is never broken: it is there to be copied.
    let more = |word: &str, text: &str| Line::default().padded(indent).and(Tone::Strong, &format!("{word}: {text}"));
    lines.extend(finding.remedy.as_ref().map(|remedy| more("remedy", remedy)));
    lines.extend(finding.repair.as_ref().map(|repair| more("--fix", &format!("would {repair}"))));
    lines
}

fn tone(state: State) -> Tone {
    match state {
        State::Good => Tone::Good,
        State::Note => Tone::Dim,
        State::Warning => Tone::Warning,
        State::Fault => Tone::Bad,
    }
}

/// How many of each.
pub(super) fn summary(findings: &[Finding]) -> Line {
    let count = |state| super::count(findings, state);
    let (faults, warnings) = (count(State::Fault), count(State::Warning));
    let tone = if faults > 0 { Tone::Bad } else { Tone::Good };
    let fixable = findings.iter().filter(|finding| finding.repair.is_some()).count();
    let line =
        Line::of(tone, &counted(faults as u64, "fault")).plain(&format!(", {}", counted(warnings as u64, "warning")));
    match fixable {
        0 => line,
        _ => line.plain(&format!("; `handoff doctor --fix` can see to {fixable} of them")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Named;
    use super::*;

    fn of_project(name: &str, what: &str) -> Finding {
        let project = Some(Named { path: format!("/{name}"), name: name.to_owned() });
        Finding { check: "locks", project, ..Finding::good(what) }
    }

    #[track_caller]
    fn check(findings: &[Finding], width: Option<usize>, expected: &[&str]) {
        let text = |line: Line| line.pieces().map(|(_, text)| text).collect::<String>().trim_end().to_owned();
        let lines: Vec<String> = lines(findings, width).into_iter().skip(1).map(text).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn good_projects_are_counted_and_all_else_has_its_line() {
        let one = [of_project("a", "nobody holds the lock")];
        check(&one, None, &["locks         good     a: nobody holds the lock"]);
        let alike = [of_project("a", "x"), of_project("b", "x")];
        check(&alike, None, &["locks         good     2 projects: x"]);
        let fault = Finding { check: "locks", ..Finding::fault("is held", "end it") };
        let mixed = [
            of_project("a", "x"),
            Finding { state: State::Fault, ..of_project("c", "z") },
            of_project("b", "y"),
            fault,
        ];
        check(
            &mixed,
            None,
            &[
                "locks         fault    c: z",
                "locks         fault    is held",
                "                       remedy: end it",
                "locks         good     2 projects, as they should be",
            ],
        );
    }

    #[test]
    fn sentences_are_wrapped_and_commands_are_not() {
        let long = Finding {
            check: "unit",
            ..Finding::fault("one two three four five six seven eight", "a b c d e f g h i j k l m n o p q")
        };
        check(
            &[long],
            Some(53),
            &[
                "unit          fault    one two three four five six",
                "                       seven eight",
                "                       remedy: a b c d e f g h i j k l m n o p q",
            ],
        );
    }
}
