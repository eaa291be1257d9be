//! The forms of settings values. A value of another form makes pi-subagents refuse the whole file.

use queue::Thinking;
use serde_json::{Map, Value};

use crate::front_matter::trim;

/// What a value must look like.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    Bool,
    /// Any text.
    Text,
    /// Text that is not blank.
    Filled,
    /// A thinking level.
    Level,
    /// A list of texts that are not blank.
    FilledList,
    Object,
    /// One of the words.
    Word(&'static [&'static str]),
    /// Any text, or `false`.
    TextOrFalse,
    /// Text that is not blank, or `false`.
    FilledOrFalse,
    /// One of the words, or `false`.
    WordOrFalse(&'static [&'static str]),
    /// A list of texts, or `false`.
    ListOrFalse,
    /// A list of texts, `false` or `"inherit"`.
    ListOrInherit,
    /// An object, or `false`.
    ObjectOrFalse,
}

impl Form {
    fn fits(self, value: &Value) -> bool {
        let text = value.as_str();
        let off = value == &Value::Bool(false);
        let filled = |value: &Value| value.as_str().is_some_and(|text| !trim(text).is_empty());
        let list = |fits: fn(&Value) -> bool| value.as_array().is_some_and(|items| items.iter().all(fits));
        match self {
            Self::Bool => value.is_boolean(),
            Self::Text => text.is_some(),
            Self::Filled => filled(value),
            Self::Level => text.is_some_and(|word| Thinking::from_word(word).is_some()),
            Self::FilledList => list(|item| item.as_str().is_some_and(|text| !trim(text).is_empty())),
            Self::Object => value.is_object(),
            Self::Word(words) => text.is_some_and(|word| words.contains(&word)),
            Self::TextOrFalse => off || text.is_some(),
            Self::FilledOrFalse => off || filled(value),
            Self::WordOrFalse(words) => off || text.is_some_and(|word| words.contains(&word)),
            Self::ListOrFalse => off || list(Value::is_string),
            Self::ListOrInherit => off || list(Value::is_string) || text.is_some_and(|word| trim(word) == "inherit"),
            Self::ObjectOrFalse => off || value.is_object(),
        }
    }
}

/// Checks the members that `forms` names and counts them; others are ignored. The error names the key.
pub(crate) fn check(object: &Map<String, Value>, forms: &[(&str, Form)]) -> Result<usize, String> {
    let mut known = 0;
    for (key, form) in forms {
        match object.get(*key) {
            Some(value) if !form.fits(value) => return Err(format!("`{key}` has a value of the wrong form")),
            Some(_) => known += 1,
            None => {}
        }
    }
    Ok(known)
}
