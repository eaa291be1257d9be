//! A reader of rendered packets that knows lines and nothing of how they were made. The fuzz targets use it, too.

use packet::{Constraint, Language, TaskPacket};

/// Headings that a packet may have beside its title and its two sections.
const OTHER: [&str; 8] = [
    "## Objective",
    "## Evidence and findings",
    "## Boundaries: do not do this",
    "## Acceptance",
    "## References: fetch what you need",
    "## Open",
    "## Next steps",
    "## Budget: asked for, not enforced",
];

/// Why a text is not the packet's: a heading too many, or sections that hold something else.
pub(crate) fn fault(packet: &TaskPacket, text: &str, language: Language) -> Option<String> {
    let title = format!("# Packet from {} to {}", packet.from_role, packet.to_role);
    let sections = [language.constraints_header(), language.audience_header()];
    let mut headings: Vec<&str> = lines(text).filter(|line| is_heading(line)).collect();
    let known = |line: &&&str| **line == title || sections.contains(*line) || OTHER.contains(*line);
    if let Some(line) = headings.iter().find(|line| !known(line)) {
        return Some(format!("{line:?} is no heading of ours"));
    }
    headings.sort_unstable();
    if let Some(pair) = headings.windows(2).find(|pair| pair.first() == pair.last()) {
        return Some(format!("{pair:?} stands twice"));
    }
    let constraints: Vec<Constraint> = items(text, sections[0]).filter_map(constraint).collect();
    let audience: Vec<String> = items(text, sections[1]).map(plain).collect();
    let found = (constraints, audience);
    (found.0 != packet.constraints || found.1 != packet.audience).then(|| format!("the sections hold {found:?}"))
}

/// Lines as the most suspicious reader would cut them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'])
        .map(str::trim)
}

/// One or two `#`, and an underline of either kind. (`# ` and deeper levels are headings of Markdown, too.)
fn is_heading(line: &str) -> bool {
    let underline = !line.is_empty() && (line.chars().all(|c| c == '=') || line.chars().all(|c| c == '-'));
    line.starts_with('#') || line.starts_with("```") || line.starts_with("~~~") || underline
}

/// The list items of a section, without their mark. They are not trimmed: a value may end with a space.
fn items<'a>(text: &'a str, header: &'a str) -> impl Iterator<Item = &'a str> {
    let below = text.split('\n').skip_while(move |line| *line != header).skip(1);
    below.take_while(|line| !line.starts_with('#')).filter_map(|line| line.strip_prefix("- "))
}

fn constraint(item: &str) -> Option<Constraint> {
    let (id, text) = item.strip_prefix('[')?.split_once("] ")?;
    Some(Constraint { id: plain(id), text: plain(text) })
}

/// Character references undone; what is none stays.
fn plain(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let reference = piece.split_once(';').and_then(|(name, rest)| Some((character(name)?, rest)));
        let (character, rest) = reference.unwrap_or(('&', piece));
        out.push(character);
        out.push_str(rest);
    }
    out
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        number => char::from_u32(number.strip_prefix('#')?.parse().ok()?),
    }
}
