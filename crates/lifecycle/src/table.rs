//! The lifecycle as a table, made by really taking the steps: for each situation a project in it, for each event what
//! follows. It goes into `docs/lifecycle.md`; nothing decides by it.

mod bench;
mod happenings;
mod situations;

use std::fmt::Write;

use bench::Bench;
use happenings::HAPPENINGS;

/// All situations with all events, as Markdown. Jobs succeed unless the situation says otherwise.
#[must_use]
pub fn table() -> String {
    let events: Vec<&str> = HAPPENINGS.iter().map(|(happening, _)| *happening).collect();
    let mut text = format!(
        "Each situation was given each of these events; where a row is missing, nothing follows at once: {}.\n\n",
        events.join("; ")
    );
    for (name, situation) in situations::all() {
        section(&mut text, name, &situation);
    }
    text
}

fn section(text: &mut String, name: &str, situation: &Bench) {
    let shown = situation.shown();
    let mut rows = String::new();
    for (happening, apply) in HAPPENINGS {
        let mut bench = situation.clone();
        bench.done.clear();
        apply(&mut bench);
        let after = bench.shown();
        if !bench.done.is_empty() || after != shown {
            let then = if after == shown { "–".to_owned() } else { after };
            put(&mut rows, &format!("| {happening} | {then} | {} |\n", bench.done.join(", ")));
        }
    }
    let head = "| event | then shown as | what is done, in order |\n|---|---|---|\n";
    put(text, &format!("### {name}\n\nShown as: {shown}.\n\n{head}{rows}\n"));
}

fn put(text: &mut String, more: &str) {
    // Writing to a string cannot fail.
    let written = text.write_str(more);
    debug_assert!(written.is_ok());
}
