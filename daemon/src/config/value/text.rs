//! Texts with a form of their own: a heading line, the short name of a project.

use toml::de::DeValue;

use super::{Judged, shown, text};

/// Longest project name, in characters.
pub const MAX_NAME: usize = 64;
/// Longest work-log heading, in characters.
pub const MAX_HEADING: usize = 200;

/// A whole Markdown heading line, such as `## Work log` (D30).
pub(in crate::config) fn heading(value: &DeValue<'_>) -> Judged<String> {
    let judge = || {
        let text = text(value)?;
        let level = text.chars().take_while(|c| *c == '#').count();
        let titled = text[level..].starts_with(' ') && !text[level..].trim().is_empty();
        if !(1..=6).contains(&level) || !titled || text.trim_end() != text {
            return Err(format!("must be a whole heading line, such as \"## Work log\", not {}", shown(value)));
        }
        if text.chars().count() > MAX_HEADING {
            return Err(format!("is longer than {MAX_HEADING} characters"));
        }
        Ok(text.to_owned())
    };
    judge().into()
}

/// The short name of a project; see [`check_name`].
pub(in crate::config) fn project_name(value: &DeValue<'_>) -> Judged<String> {
    text(value).and_then(|text| check_name(text).map(|()| text.to_owned())).into()
}

/// Checks a project's short name: 1 to 64 characters, none of them a slash or a control character, not beginning
/// with `-` or `.` (those would read as an option or a path), no white space at the ends.
///
/// # Errors
/// What is wrong, completing "the name …".
pub fn check_name(name: &str) -> Result<(), String> {
    let length = name.chars().count();
    if !(1..=MAX_NAME).contains(&length) {
        return Err(format!("must have 1 to {MAX_NAME} characters, not {length}"));
    }
    if name.contains('/') || name.starts_with(['-', '.', '~']) || name.trim() != name {
        return Err("must not contain `/`, begin with `-`, `.` or `~`, or have white space at its ends".to_owned());
    }
    if name.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(())
}
