//! Pi's `settings.json`, as far as it decides which agents there are. Never put here what an override does to an agent.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use queue::{AcceptanceRole, Thinking};
use serde_json::{Map, Value};

use crate::definition::role_from_word;
use crate::disk::Disk;
use crate::form::{self, Form};
use crate::note::{Note, Reason};
use crate::read::{self, MAX_SETTINGS};

/// What one settings file says.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) overrides: BTreeMap<String, Override>,
    pub(crate) disable_builtins: Option<bool>,
    pub(crate) disable_thinking: Option<bool>,
    pub(crate) max_thinking: Option<Thinking>,
    pub(crate) scan_dirs: Vec<String>,
    pub(crate) packages: Vec<String>,
    /// `agentOverridesByProvider` has an entry.
    pub(crate) by_provider: bool,
}

/// What an override does to one property.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum Change<T> {
    #[default]
    Keep,
    /// `false`.
    Clear,
    Set(T),
}

/// One entry of `agentOverrides`.
#[derive(Debug, Default)]
pub(crate) struct Override {
    pub(crate) role: Change<AcceptanceRole>,
    pub(crate) model: Change<String>,
    pub(crate) thinking: Change<String>,
    pub(crate) disabled: Option<bool>,
}

const SUBAGENTS: [(&str, Form); 10] = [
    ("disableBuiltins", Form::Bool),
    ("disableThinking", Form::Bool),
    ("defaultModel", Form::Filled),
    ("defaultProvider", Form::Filled),
    ("defaultThinking", Form::Filled),
    ("maxThinking", Form::Level),
    ("defaultExtensions", Form::FilledList),
    ("agentScanDirs", Form::FilledList),
    ("modelScope", Form::Object),
    ("agentOverridesByProvider", Form::Object),
];

const OVERRIDE: [(&str, Form); 26] = [
    ("description", Form::Filled),
    ("output", Form::FilledOrFalse),
    ("outputMode", Form::Word(&["inline", "file-only"])),
    ("model", Form::TextOrFalse),
    ("fast", Form::Bool),
    ("thinking", Form::TextOrFalse),
    ("systemPromptMode", Form::Word(&["append", "replace"])),
    ("inheritProjectContext", Form::Bool),
    ("inheritGlobalContext", Form::Bool),
    ("inheritSkills", Form::Bool),
    ("defaultContext", Form::WordOrFalse(&["fresh", "fork"])),
    ("acceptanceRole", Form::WordOrFalse(&["read-only", "writer"])),
    ("disabled", Form::Bool),
    ("completionGuard", Form::Bool),
    ("toolBudget", Form::ObjectOrFalse),
    ("systemPrompt", Form::Text),
    ("defaultReads", Form::ListOrFalse),
    ("fallbackModels", Form::ListOrFalse),
    ("defaultProvider", Form::FilledOrFalse),
    ("skills", Form::ListOrFalse),
    ("tools", Form::ListOrInherit),
    ("excludeTools", Form::ListOrFalse),
    ("allowNestedSubagents", Form::Bool),
    ("extensions", Form::ListOrFalse),
    ("subagentOnlyExtensions", Form::ListOrFalse),
    ("mutationTools", Form::ListOrFalse),
];

impl Settings {
    /// Reads a settings file. A missing one, or a link to nothing, says nothing.
    ///
    /// # Errors
    ///
    /// A [`Reason::SettingsUnusable`] when pi-subagents cannot use the file, or it is over 1 MiB (D27).
    pub(crate) fn read(disk: &Disk, path: &Path) -> Result<Self, Note> {
        let object = read_object(disk, path)?;
        Self::from_object(&object).map_err(|fault| Note::new(path, Reason::SettingsUnusable(fault)))
    }

    fn from_object(object: &Map<String, Value>) -> Result<Self, String> {
        let packages = object.get("packages").and_then(Value::as_array).into_iter().flatten();
        let source = |entry: &Value| entry.as_str().or_else(|| entry.get("source")?.as_str()).map(str::to_owned);
        let packages = packages.filter_map(source).collect();
        let Some(subagents) = subagents(object) else { return Ok(Self { packages, ..Self::default() }) };
        form::check(subagents, &SUBAGENTS).map_err(|fault| format!("`subagents`: {fault}"))?;
        let dirs = subagents.get("agentScanDirs").and_then(Value::as_array).into_iter().flatten();
        Ok(Self {
            overrides: overrides(subagents.get("agentOverrides").and_then(Value::as_object))?,
            disable_builtins: subagents.get("disableBuiltins").and_then(Value::as_bool),
            disable_thinking: subagents.get("disableThinking").and_then(Value::as_bool),
            max_thinking: subagents.get("maxThinking").and_then(Value::as_str).and_then(Thinking::from_word),
            scan_dirs: dirs.filter_map(Value::as_str).map(str::to_owned).collect(),
            packages,
            by_provider: check_by_provider(subagents)?,
        })
    }
}

/// The object in a settings file; empty when there is no file.
pub(crate) fn read_object(disk: &Disk, path: &Path) -> Result<Map<String, Value>, Note> {
    let unusable = |fault: String| Note::new(path, Reason::SettingsUnusable(fault));
    let Some(real) = real_path(disk, path) else { return Ok(Map::new()) };
    let text = read::read(disk, &real, MAX_SETTINGS).map_err(|note| unusable(note.reason.to_string()))?;
    if text.cut {
        return Err(unusable(format!("the file is over {} KiB", MAX_SETTINGS / 1024)));
    }
    match serde_json::from_str(&text.text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(unusable("the file is no JSON object".to_owned())),
        Err(error) => Err(unusable(format!("the file is no JSON: {error}"))),
    }
}

/// The file that the path leads to, without a link at its end; `None` when there is none.
fn real_path<'p>(disk: &Disk, path: &'p Path) -> Option<Cow<'p, Path>> {
    let is_link = disk.lstat(path).ok()?.kind.is_symlink();
    if is_link { disk.canonicalize(path).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(path)) }
}

/// The member `subagents`, if it is an object.
pub(crate) fn subagents(object: &Map<String, Value>) -> Option<&Map<String, Value>> {
    object.get("subagents")?.as_object()
}

fn overrides(entries: Option<&Map<String, Value>>) -> Result<BTreeMap<String, Override>, String> {
    let mut overrides = BTreeMap::new();
    for (name, value) in entries.into_iter().flatten() {
        if let Some(entry) = parse_override(value).map_err(|fault| format!("override of `{name}`: {fault}"))? {
            overrides.insert(name.clone(), entry);
        }
    }
    Ok(overrides)
}

/// `None` when the entry says nothing that is known; such an entry does not count as one.
fn parse_override(value: &Value) -> Result<Option<Override>, String> {
    let object = value.as_object().ok_or("is no object")?;
    if form::check(object, &OVERRIDE)? == 0 {
        return Ok(None);
    }
    let change = |key: &str| match object.get(key) {
        None => Change::Keep,
        Some(value) => value.as_str().map_or(Change::Clear, |text| Change::Set(text.to_owned())),
    };
    let role = match change("acceptanceRole") {
        Change::Keep => Change::Keep,
        Change::Clear => Change::Clear,
        Change::Set(word) => role_from_word(&word).map_or(Change::Keep, Change::Set),
    };
    let disabled = object.get("disabled").and_then(Value::as_bool);
    Ok(Some(Override { role, model: change("model"), thinking: change("thinking"), disabled }))
}

fn check_by_provider(subagents: &Map<String, Value>) -> Result<bool, String> {
    let providers = subagents.get("agentOverridesByProvider").and_then(Value::as_object);
    for (provider, entries) in providers.into_iter().flatten() {
        let entries = entries.as_object().ok_or_else(|| format!("overrides for `{provider}`: is no object"))?;
        overrides(Some(entries))?;
    }
    Ok(providers.is_some_and(|providers| !providers.is_empty()))
}
