//! `handoff prompt fit`: brings a conversation within a token budget. It needs no daemon and writes nothing.

mod conversation;

use std::path::PathBuf;

use budget::{BudgetExceeded, Conservative, Extractive, Fitted, Message, Stage, fit};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::read;

/// Look after what a model is sent
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Fit(Fit),
}

/// Shorten a conversation to a token budget, but never its constraints and audience
///
/// Reads one message a line, `{"role": …, "content": …}`, and prints the conversation that fits in the same form. Long turns
/// are cut, old tool results dropped, the older half summarized, in this order and no more than needed; what was done is
/// told on standard error. Messages of the roles `system` and `developer` stay whole, and the last message as long as
/// anything else can go.
///
/// The sections under the lines `## Constraints`, `## Audience`, `## 約束` and `## 受眾`, up to the next heading of level
/// one or two, are kept byte for byte. When the budget cannot be met with them, nothing is printed and the exit code
/// is 1: send the conversation as it is. Tokens are estimated, rather too high than too low. At most 16 MiB.
#[derive(Debug, clap::Args)]
struct Fit {
    /// The conversation, JSON lines; `-` is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
    /// How many tokens it may have
    #[arg(long, value_name = "N")]
    budget: u64,
    /// Print one JSON document: what was done, and the messages
    #[arg(long)]
    json: bool,
}

/// The largest conversation.
const INPUT: usize = 16 << 20;

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let Command::Fit(fit) = self.command;
        fit.run(ctx)
    }
}

impl Fit {
    fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let messages = conversation::parse(&read::text(ctx, &self.file, INPUT)?)?;
        match fit(&messages, self.budget, &Conservative, &Extractive) {
            Ok(fitted) if self.json => ctx.out.json(&document(&fitted, self.budget)),
            Ok(fitted) => {
                for message in &fitted.messages {
                    ctx.out.json(&line(message));
                }
                ctx.out.note(summary(&fitted, self.budget));
            }
            Err(refusal) => {
                if self.json {
                    ctx.out.json(&refused(&refusal));
                }
                return Err(failure(&refusal));
            }
        }
        Ok(Exit::Good)
    }
}

fn line(message: &Message) -> Value {
    json!({"role": message.role, "content": message.content})
}

fn document(fitted: &Fitted, budget: u64) -> Value {
    json!({
        "ok": true,
        "budget_tokens": budget,
        "original_tokens": fitted.original_tokens,
        "tokens": fitted.tokens,
        "protected_section_tokens": fitted.protected_section_tokens,
        "stages": names(&fitted.stages),
        "messages": fitted.messages.iter().map(line).collect::<Vec<_>>(),
    })
}

fn refused(refusal: &BudgetExceeded) -> Value {
    json!({
        "ok": false,
        "code": "budget_exceeded",
        "message": refusal.to_string(),
        "budget_tokens": refusal.budget_tokens,
        "estimated_tokens": refusal.estimated_tokens,
        "protected_section_tokens": refusal.protected_section_tokens,
        "stages_tried": names(&refusal.stages_tried),
    })
}

fn names(stages: &[Stage]) -> Vec<&'static str> {
    stages.iter().map(|stage| stage.as_str()).collect()
}

fn summary(fitted: &Fitted, budget: u64) -> String {
    let Fitted { tokens, original_tokens, protected_section_tokens, .. } = fitted;
    if fitted.stages.is_empty() {
        return format!("It fits as it is: about {tokens} of {budget} tokens.");
    }
    let stages = names(&fitted.stages).join(", ");
    let protected = format!("{protected_section_tokens} of them in protected sections");
    format!("Shortened from about {original_tokens} to {tokens} of {budget} tokens, {protected}: {stages}.")
}

fn failure(refusal: &BudgetExceeded) -> Failure {
    let failure = Failure::new(Exit::NotGood, format!("budget_exceeded: {refusal}"));
    let failure = match refusal.stages_tried.as_slice() {
        [] => failure.hint("instructions and protected sections alone are more than the budget"),
        stages => failure.hint(format!("tried in vain: {}", names(stages).join(", "))),
    };
    failure.hint("send the conversation as it is, or allow more tokens with `--budget`")
}
