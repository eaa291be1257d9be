//! The command reference as one Markdown text, made from the definitions that the program parses with: `docs/cli.md`.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

/// The whole reference; the same in every run.
#[must_use]
pub fn reference() -> String {
    let mut command = crate::command();
    command.build();
    let mut text = String::from("# Commands\n\n");
    text += "<!-- made by `cargo run -p cli --example reference`; a test fails when it is not up to date -->\n\n";
    text += &about(&command);
    section(&mut text, &command, "handoff");
    text += "\n## handoff help\n\nPrint the help of a command: `handoff help service`\n";
    text
}

fn section(text: &mut String, command: &Command, name: &str) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        let name = format!("{name} {}", sub.get_name());
        // Writing to a string does not fail.
        write!(text, "\n## {name}\n\n").ok();
        if sub.has_subcommands() {
            text.push_str(&about(sub));
            section(text, sub, &name);
            continue;
        }
        write!(text, "{}\n`{}`\n", about(sub), usage(sub, &name)).ok();
        let rows: Vec<String> = sub.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(row).collect();
        if !rows.is_empty() {
            write!(text, "\n{}\n", rows.join("\n")).ok();
        }
    }
}

fn about(command: &Command) -> String {
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default();
    // What looks like a tag would vanish.
    format!("{}\n", about.replace('<', "\\<"))
}

fn usage(command: &Command, name: &str) -> String {
    let usage = command.clone().render_usage().to_string();
    let arguments = usage.trim_start_matches("Usage:").trim();
    let rest = arguments.strip_prefix(name).unwrap_or(arguments);
    format!("{name}{}", rest.split_whitespace().fold(String::new(), |line, word| line + " " + word))
}

fn row(arg: &Arg) -> Option<String> {
    if matches!(arg.get_action(), ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version) {
        return None;
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('<', "\\<");
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let takes_value = arg.get_action().takes_values();
    let default = match defaults.is_empty() || !takes_value {
        true => String::new(),
        false => format!(" [default: {}]", defaults.join(" ")),
    };
    let words: Vec<String> = arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    let words = if words.is_empty() || !takes_value { String::new() } else { format!(": {}", words.join(", ")) };
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let aliases: Vec<String> =
        arg.get_visible_aliases().unwrap_or_default().iter().map(|alias| format!(" [alias: `--{alias}`]")).collect();
    Some(format!("- `{short}{arg}` — {help}{words}{default}{}", aliases.concat()))
}
