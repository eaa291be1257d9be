//! One line of the log, plain or JSON: what it is about, when it was, and how it looks on a terminal.

use std::path::{Path, PathBuf};

use handoffd::logging::{project_of_line, task_of_line};

use crate::text::{Line, Tone};

/// Which lines are asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    /// Only about this project.
    pub(super) project: Option<PathBuf>,
    /// Only about this task.
    pub(super) task: Option<String>,
}

impl Wanted {
    pub(super) fn fits(&self, line: &str) -> bool {
        let project = self.project.as_deref().is_none_or(|project| is_about(line, project));
        project && self.task.as_ref().is_none_or(|task| task_of_line(line).as_ref() == Some(task))
    }
}

fn is_about(line: &str, project: &Path) -> bool {
    let name = project.file_name().and_then(|name| name.to_str());
    project_of_line(line).is_some_and(|told| Path::new(&told) == project || Some(told.as_str()) == name)
}

/// When it was written, as the line says: RFC 3339 in UTC, so that texts compare like times.
fn at(line: &str) -> Option<&str> {
    let text = match line.strip_prefix("{\"at\":\"") {
        Some(rest) => rest.split('"').next()?,
        None => line.split(' ').next()?,
    };
    (text.len() == 24 && text.ends_with('Z')).then_some(text)
}

/// Two lists, each in order, as one. A line without a time belongs to the one before it.
pub(super) fn merged(one: Vec<String>, other: Vec<String>) -> Vec<String> {
    let timed = |lines: Vec<String>| {
        let mut last = String::new();
        let stamp = move |line: String| {
            if let Some(at) = at(&line) {
                at.clone_into(&mut last);
            }
            (last.clone(), line)
        };
        lines.into_iter().map(stamp).collect::<Vec<_>>()
    };
    let mut all = timed(one);
    all.extend(timed(other));
    // Stable: each list keeps its order.
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all.into_iter().map(|(_, line)| line).collect()
}

/// With the level in its colour and the time beside the point.
pub(super) fn painted(line: &str) -> Line {
    let Some(at) = at(line).filter(|at| line.starts_with(at)) else { return Line::from(line) };
    let rest = &line[at.len()..];
    let level = rest.trim_start().split(' ').next().unwrap_or_default();
    let tone = match level {
        "ERROR" => Tone::Bad,
        "WARN" => Tone::Warning,
        "INFO" => Tone::Good,
        _ => Tone::Dim,
    };
    let end = rest.len() - rest.trim_start().len() + level.len();
    Line::of(Tone::Dim, at).and(tone, &rest[..end]).plain(&rest[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = "2026-11-30T08:00:00.000Z INFO  project=/w/shop task=T-1 sent";
    const JSON: &str =
        r#"{"at":"2026-11-30T08:00:01.000Z","level":"info","project":"/w/shop","task":"T 2","message":"sent"}"#;

    #[test]
    fn project_and_task_are_asked_for_alone_or_together() {
        let check = |project: Option<&str>, task: Option<&str>, expected: [bool; 2]| {
            let wanted = Wanted { project: project.map(PathBuf::from), task: task.map(str::to_owned) };
            assert_eq!([SHOP, JSON].map(|line| wanted.fits(line)), expected, "{wanted:?}");
        };
        check(None, None, [true, true]);
        check(Some("/w/shop"), None, [true, true]);
        check(Some("/w/api"), None, [false, false]);
        check(None, Some("T-1"), [true, false]);
        check(Some("/w/shop"), Some("T 2"), [false, true]);
        check(Some("/w/api"), Some("T-1"), [false, false]);
    }

    #[test]
    fn two_logs_become_one_in_the_order_of_time() {
        let lines = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let early = "2026-11-30T07:00:00.000Z WARN  early";
        let all = merged(lines(&[early, "a stack trace", JSON]), lines(&[SHOP]));
        assert_eq!(all, [early, "a stack trace", SHOP, JSON]);
    }

    #[test]
    fn the_level_has_a_colour_and_nothing_is_lost() {
        let pieces: Vec<_> = painted(SHOP).pieces().map(|(tone, text)| (tone, text.to_owned())).collect();
        assert_eq!(pieces[1], (Tone::Good, " INFO".to_owned()));
        let text: String = pieces.into_iter().map(|(_, text)| text).collect();
        assert_eq!(text, SHOP);
        for odd in ["", "é", "2026", "2026-11-30T08:00:00.000Z"] {
            let text: String = painted(odd).pieces().map(|(_, text)| text.to_owned()).collect();
            assert_eq!(text, odd);
        }
    }
}
