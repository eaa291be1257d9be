//! The key `runner` of a profile: which program runs the agent. It must be checked because pi-subagents refuses a
//! profile for it. Only flat members are looked at; never put a YAML reader here.

use std::collections::BTreeMap;

use crate::definition::{Definition, Keys};
use crate::front_matter;

/// A type of runner: its name, the member it cannot do without, and all that it may have.
type Row = (&'static str, Option<&'static str>, &'static [&'static str]);

const TYPES: [Row; 3] = [
    ("pi", None, &["type"]),
    ("external-cli", Some("command"), &["type", "adapter", "command", "args", "promptDelivery", "capabilities"]),
    ("external-job", Some("provider"), &["type", "provider", "options"]),
];

/// Keys that mean nothing to a runner that is not Pi, and are refused beside one.
const PI_ONLY: [&str; 17] = [
    "tools",
    "excludeTools",
    "allowNestedSubagents",
    "model",
    "fallbackModels",
    "thinking",
    "extensions",
    "subagentOnlyExtensions",
    "mutationTools",
    "maxSubagentDepth",
    "completionGuard",
    "skills",
    "skill",
    "skillPath",
    "toolBudget",
    "permission",
    "permissions",
];

/// Names that only a profile with the command-line runner of that name may bear.
const RESERVED: [&str; 3] = ["claude-code", "codex-exec", "cursor-agent"];

/// Why pi-subagents refuses the profile for its runner, or for a name that belongs to another runner.
pub(crate) fn check(keys: &Keys, definition: &Definition) -> Result<(), String> {
    let block = keys.get("runner").filter(|text| !front_matter::trim(text).is_empty());
    let members = match block.map(front_matter::members) {
        Some(Some(members)) => check_members(keys, &members).map(|()| members)?,
        // Too much for this small reader: better to know an agent too many than to refuse one that works.
        Some(None) => return Ok(()),
        None => BTreeMap::new(),
    };
    let is_cli = members.get("type").is_some_and(|kind| kind == "external-cli");
    let adapter = members.get("adapter").filter(|_| is_cli).map(String::as_str);
    let full_name = definition.full_name();
    let bears =
        |name: &str| full_name == name || definition.name == name || definition.aliases.iter().any(|a| a == name);
    match RESERVED.into_iter().find(|name| bears(name) && adapter != Some(name)) {
        Some(name) => Err(format!("the name `{name}` is reserved")),
        None => Ok(()),
    }
}

fn check_members(keys: &Keys, members: &BTreeMap<String, String>) -> Result<(), String> {
    let kind = members.get("type").map(String::as_str);
    let Some((kind, needed, known)) = TYPES.into_iter().find(|(name, ..)| Some(*name) == kind) else {
        return Err("`runner` has no known type".to_owned());
    };
    if let Some(needed) = needed.filter(|needed| members.get(*needed).is_none_or(|text| text.trim().is_empty())) {
        return Err(format!("a runner `{kind}` needs a `{needed}`"));
    }
    if let Some(member) = members.keys().find(|member| !known.contains(&member.as_str())) {
        return Err(format!("a runner `{kind}` has no `{member}`"));
    }
    match PI_ONLY.into_iter().find(|key| kind != "pi" && keys.get(key).is_some()) {
        Some(key) => Err(format!("`{key}` does not go with a runner `{kind}`")),
        None => Ok(()),
    }
}
