//! Links between documents lead somewhere.

use std::path::Path;

use crate::tree::{report, root, text_files};

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut faults = Vec::new();
    for file in text_files().iter().filter(|file| file.is("md")) {
        for target in links(&file.text).filter(|target| !target.contains("://")) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
            let leads_to = if path.is_empty() { root().join(&file.path) } else { root().join(folder).join(path) };
            if !leads_to.exists() {
                faults.push(format!("{}: {target}", file.path));
            } else if !anchor.is_empty() && !has_heading(&leads_to, anchor) {
                faults.push(format!("{}: {target} (no such heading)", file.path));
            }
        }
    }
    report("links lead somewhere", &faults);
}

/// The targets of `[text](target)`, outside code.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next())
}

fn has_heading(file: &Path, anchor: &str) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == anchor)
}

/// As GitHub makes them: lower case, spaces to hyphens, nothing but letters, digits, hyphens and underscores.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn headings_become_anchors() {
    assert_eq!(slug("## Logs, journal, work log"), "logs-journal-work-log");
    assert_eq!(slug("### `task.report`"), "taskreport");
}
