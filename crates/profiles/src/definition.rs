//! One profile: what its front matter declares, before settings. Never put files or settings here.

use std::collections::{BTreeMap, BTreeSet};

use queue::{AcceptanceRole, Agent, Thinking};

use crate::front_matter;
use crate::note::Reason;
use crate::runner;

/// A profile as declared, with the texts that the settings may still replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) package: Option<String>,
    pub(crate) aliases: Vec<String>,
    pub(crate) role: Option<AcceptanceRole>,
    pub(crate) model: Option<String>,
    pub(crate) thinking: Option<String>,
}

/// What a Markdown file in a folder of agents turns out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// No profile at all: some other document.
    Document,
    /// A profile that is skipped without hiding anything.
    Skipped(Reason),
    /// A profile that is refused and hides others of its full name.
    Invalid {
        name: String,
        fault: String,
    },
    Valid(Definition),
}

impl Parsed {
    /// Reads the text of a file.
    pub(crate) fn from_text(text: &str) -> Self {
        if let Some(text) = text.strip_prefix('\u{feff}') {
            let keys = front_matter::parse(text);
            let is_profile = keys.contains_key("name") && keys.contains_key("description");
            return if is_profile { Self::Skipped(Reason::ByteOrderMark) } else { Self::Document };
        }
        let keys = Keys(front_matter::parse(text));
        match (keys.filled("name"), keys.filled("description")) {
            (None, None) => Self::Document,
            (None, Some(_)) => Self::Skipped(Reason::NoName),
            (Some(_), None) => Self::Skipped(Reason::NoDescription),
            (Some(name), Some(_)) => Self::from_keys(&keys, name),
        }
    }

    fn from_keys(keys: &Keys, name: &str) -> Self {
        let package = match keys.get("package").filter(|text| !text.is_empty()).map(package_name).transpose() {
            Ok(package) => package,
            Err(fault) => return Self::Invalid { name: name.to_owned(), fault },
        };
        let mut definition = Definition {
            name: name.to_owned(),
            package,
            aliases: Vec::new(),
            role: None,
            model: keys.get("model").map(str::to_owned),
            thinking: keys.get("thinking").map(str::to_owned),
        };
        definition.aliases = aliases(keys, &definition.full_name());
        match role(keys).and_then(|role| check(keys, &definition).map(|()| role)) {
            Ok(role) => Self::Valid(Definition { role, ..definition }),
            Err(fault) => Self::Invalid { name: definition.full_name(), fault },
        }
    }
}

impl Definition {
    /// `<package>.<name>`, or the name.
    pub(crate) fn full_name(&self) -> String {
        self.package.as_ref().map_or_else(|| self.name.clone(), |package| format!("{package}.{}", self.name))
    }

    /// What the report check needs; `ceiling` is the setting `maxThinking`, above which no run goes.
    pub(crate) fn into_agent(self, ceiling: Option<Thinking>) -> Agent {
        let model = self.model.as_deref().map(front_matter::trim).filter(|text| !matches!(*text, "" | "inherit"));
        let (model, suffix) = model.map_or((None, None), |text| {
            let (base, suffix) = Thinking::split_model(text);
            (Some(base), suffix)
        });
        let pinned = suffix.or_else(|| Thinking::from_word(self.thinking.as_deref()?));
        Agent {
            model_pin: model.map(str::to_owned),
            thinking_pin: pinned.map(|level| ceiling.map_or(level, |ceiling| level.min(ceiling))),
            name: self.name,
            package: self.package,
            aliases: self.aliases,
            role: self.role,
        }
    }
}

/// The keys of a front matter.
pub(crate) struct Keys(BTreeMap<String, String>);

impl Keys {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    fn filled(&self, key: &str) -> Option<&str> {
        self.get(key).filter(|text| !text.is_empty())
    }
}

/// The role that a word names exactly.
pub(crate) fn role_from_word(word: &str) -> Option<AcceptanceRole> {
    match word {
        "writer" => Some(AcceptanceRole::Writer),
        "read-only" => Some(AcceptanceRole::ReadOnly),
        _ => None,
    }
}

fn role(keys: &Keys) -> Result<Option<AcceptanceRole>, String> {
    match keys.get("acceptanceRole") {
        Some(text) if !front_matter::trim(text).is_empty() => role_from_word(text)
            .map(Some)
            .ok_or_else(|| "`acceptanceRole` is neither `read-only` nor `writer`".to_owned()),
        _ => Ok(None),
    }
}

fn aliases(keys: &Keys, full_name: &str) -> Vec<String> {
    let mut seen = BTreeSet::from([full_name.to_owned()]);
    let aliases = front_matter::list(keys.get("aliases").or_else(|| keys.get("alias")).unwrap_or_default());
    aliases.into_iter().filter(|alias| seen.insert(alias.clone())).collect()
}

/// The name that the text of the key `package` is turned into: lower case, only `a-z0-9.-`, no empty parts.
fn package_name(text: &str) -> Result<String, String> {
    let mut name = String::new();
    for c in front_matter::trim(text).to_lowercase().chars() {
        let c = if front_matter::is_space(c) { '-' } else { c };
        let repeats = matches!(c, '-' | '.') && name.ends_with(c);
        if !repeats && matches!(c, 'a'..='z' | '0'..='9' | '-' | '.') {
            name.push(c);
        }
    }
    let name = name.trim_matches(['-', '.']);
    let valid = name.split('.').all(|part| part.starts_with(|c: char| c.is_ascii_alphanumeric()));
    if valid { Ok(name.to_owned()) } else { Err("`package` is no name".to_owned()) }
}

/// The other rules that make pi-subagents refuse a profile, as far as they need no YAML.
fn check(keys: &Keys, definition: &Definition) -> Result<(), String> {
    for key in ["advertise", "async", "fast", "allowNestedSubagents"] {
        if keys.get(key).is_some_and(|text| !matches!(text, "true" | "false")) {
            return Err(format!("`{key}` is neither `true` nor `false`"));
        }
    }
    for (key, max) in [("timeoutMs", f64::MAX), ("toolTimeoutMs", 2_147_483_647.0)] {
        if keys.get(key).is_some_and(|text| !is_positive_integer(text, max)) {
            return Err(format!("`{key}` is no positive whole number of milliseconds"));
        }
    }
    if keys.get("outputMode").is_some_and(|text| !matches!(text, "inline" | "file-only")) {
        return Err("`outputMode` is neither `inline` nor `file-only`".to_owned());
    }
    if keys.get("permission").is_some() && keys.get("permissions").is_some() {
        return Err("`permission` and `permissions` exclude each other".to_owned());
    }
    let permissions = keys.get("permissions").or_else(|| keys.get("permission")).and_then(front_matter::members);
    for (tool, word) in permissions.iter().flatten() {
        if tool == "bash" || !matches!(word.as_str(), "allow" | "ask" | "deny") {
            return Err(format!("`permissions` of `{tool}` is none that pi-subagents knows"));
        }
    }
    if let Some(text) = keys.get("toolBudget").filter(|text| !front_matter::trim(text).is_empty())
        && !serde_json::from_str::<serde_json::Value>(text).is_ok_and(|value| value.is_object())
    {
        return Err("`toolBudget` is no JSON object".to_owned());
    }
    runner::check(keys, definition)
}

fn is_positive_integer(text: &str, max: f64) -> bool {
    front_matter::trim(text).parse::<f64>().is_ok_and(|number| number > 0.0 && number <= max && number.fract() == 0.0)
}
