//! The agents that pi-subagents 0.67 brings along (D56). None has a role or a model of its own.

use crate::definition::Definition;

/// Name, thinking level and aliases.
type Row = (&'static str, Option<&'static str>, &'static [&'static str]);

const TABLE: [Row; 13] = [
    ("claude-code", None, &[]),
    ("claude-code-writer", None, &[]),
    ("codex-exec", None, &[]),
    ("codex-exec-writer", None, &[]),
    ("cursor-agent", None, &[]),
    ("cursor-agent-writer", None, &[]),
    ("delegate", None, &[]),
    ("evidence-auditor", Some("high"), &[]),
    ("oracle", Some("high"), &["advisor"]),
    ("researcher", Some("medium"), &[]),
    ("reviewer", Some("high"), &[]),
    ("scout", Some("low"), &[]),
    ("worker", Some("high"), &["developer", "coder", "implementer", "develop"]),
];

/// The builtin agents as declared.
pub(crate) fn definitions() -> Vec<Definition> {
    let definition = |(name, thinking, aliases): Row| Definition {
        name: name.to_owned(),
        package: None,
        aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
        role: None,
        model: None,
        thinking: thinking.map(str::to_owned),
    };
    TABLE.into_iter().map(definition).collect()
}
