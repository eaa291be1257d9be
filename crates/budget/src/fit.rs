//! The pipeline: which stage runs when, and when it is hopeless.

use crate::estimate::{Estimate, conversation_tokens, message_tokens};
use crate::message::Message;
use crate::section::protected_sections;
use crate::stage::{Stage, bisect, tool_echoes, turn_trim};
use crate::summary::Summarize;

/// Characters that a long turn keeps at first.
const LONG_TURN: usize = 800;
/// Characters that a turn keeps when all stages together were not enough.
const SHORT_TURN: usize = 200;

/// A conversation within its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fitted {
    /// What to send.
    pub messages: Vec<Message>,
    /// The estimate for it.
    pub tokens: u64,
    /// The estimate before.
    pub original_tokens: u64,
    /// Tokens of the protected sections, which are all still there.
    pub protected_section_tokens: u64,
    /// What made it shorter, in order; empty when the conversation fitted as it was.
    pub stages: Vec<Stage>,
}

/// The budget cannot be met; the caller sends the conversation as it has it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the conversation is about {estimated_tokens} tokens and cannot be brought within {budget_tokens}: \
     {protected_section_tokens} of them are in protected sections, which are never shortened"
)]
pub struct BudgetExceeded {
    /// The estimate for the conversation as it came.
    pub estimated_tokens: u64,
    /// What was allowed.
    pub budget_tokens: u64,
    /// What ran in vain; empty when instructions and protected sections alone are too much.
    pub stages_tried: Vec<Stage>,
    /// Tokens of the protected sections.
    pub protected_section_tokens: u64,
}

/// Makes a conversation fit into `budget` tokens, with as few of the stages as that takes.
///
/// Messages of the roles `system` and `developer` are instructions and stay as they are. The last message is what is
/// asked now: it is cut only when nothing else is left to cut, and only as far as needed. Every protected section (see
/// [`protected_sections`]) is in the result, byte for byte, in order, said by the same role.
///
/// # Errors
///
/// [`BudgetExceeded`] when that is not enough.
pub fn fit(
    messages: &[Message],
    budget: u64,
    estimate: &dyn Estimate,
    summarize: &dyn Summarize,
) -> Result<Fitted, BudgetExceeded> {
    let mut work = Work::new(messages, budget, estimate);
    if !work.fits() && work.least() <= budget {
        work.run(summarize);
    }
    work.finish()
}

/// A conversation on its way into the budget.
struct Work<'a> {
    messages: Vec<Message>,
    tokens: u64,
    original_tokens: u64,
    budget: u64,
    estimate: &'a dyn Estimate,
    tried: Vec<Stage>,
    helped: Vec<Stage>,
}

impl<'a> Work<'a> {
    fn new(messages: &[Message], budget: u64, estimate: &'a dyn Estimate) -> Self {
        let tokens = conversation_tokens(messages, estimate);
        Self {
            messages: messages.to_vec(),
            tokens,
            original_tokens: tokens,
            budget,
            estimate,
            tried: Vec::new(),
            helped: Vec::new(),
        }
    }

    fn fits(&self) -> bool {
        self.tokens <= self.budget
    }

    /// The stages in order, until one is enough.
    fn run(&mut self, summarize: &dyn Summarize) {
        self.stage(Stage::TurnTrim, |work| work.trim_history(LONG_TURN));
        self.stage(Stage::DropOldestToolEchoes, Self::drop_oldest_tool_echoes);
        self.stage(Stage::BisectAndSummarize, |work| work.bisect(summarize));
        self.stage(Stage::TurnTrim, |work| {
            work.trim_history(SHORT_TURN);
            work.trim_last();
        });
    }

    fn stage(&mut self, stage: Stage, run: impl FnOnce(&mut Self)) {
        if self.fits() {
            return;
        }
        let before = self.tokens;
        run(self);
        self.tried.push(stage);
        if self.tokens < before {
            self.helped.push(stage);
        }
    }

    fn trim_history(&mut self, keep: usize) {
        if let Some((_, history)) = self.messages.split_last_mut() {
            for message in history.iter_mut().filter(|message| !message.is_instruction()) {
                self.tokens -= shorten(message, self.estimate, |text| turn_trim::trimmed(text, keep));
            }
        }
    }

    fn drop_oldest_tool_echoes(&mut self) {
        let echoes = self.messages.iter_mut().filter(|message| message.is_tool_echo());
        for message in echoes.rev().skip(tool_echoes::KEPT) {
            self.tokens -= shorten(message, self.estimate, tool_echoes::stub);
        }
    }

    fn bisect(&mut self, summarize: &dyn Summarize) {
        while let Some(messages) = bisect::bisected(&self.messages, summarize).filter(|_| !self.fits()) {
            let tokens = conversation_tokens(&messages, self.estimate);
            if tokens >= self.tokens {
                return;
            }
            (self.messages, self.tokens) = (messages, tokens);
        }
    }

    /// Cuts the last message as far as needed, but never below what any other turn keeps.
    fn trim_last(&mut self) {
        let (over, estimate) = (self.tokens.saturating_sub(self.budget), self.estimate);
        let Some(last) = self.messages.last_mut().filter(|last| over > 0 && !last.is_instruction()) else { return };
        let most = estimate.tokens(&last.content).saturating_sub(over);
        let cut = turn_trim::Cut::new(&last.content);
        let fits = |keep| estimate.tokens(&cut.after(keep)) <= most;
        let mut keep = SHORT_TURN;
        while keep < cut.open && fits(keep * 2) {
            keep *= 2;
        }
        let mut beyond = cut.open.min(keep * 2);
        while keep + 1 < beyond {
            let middle = keep + (beyond - keep) / 2;
            if fits(middle) { keep = middle } else { beyond = middle }
        }
        let shorter = cut.after(keep);
        self.tokens -= shorten(last, estimate, |_| shorter);
    }

    /// What no stage can take away: instructions, and protected sections where they are.
    fn least(&self) -> u64 {
        let of_message = |message: &Message| match message.is_instruction() {
            true => message_tokens(message, self.estimate),
            false => protected_tokens(message, self.estimate),
        };
        self.messages.iter().map(of_message).fold(0, u64::saturating_add)
    }

    fn finish(self) -> Result<Fitted, BudgetExceeded> {
        let protected = self.messages.iter().map(|message| protected_tokens(message, self.estimate));
        let protected_section_tokens = protected.fold(0, u64::saturating_add);
        if self.fits() {
            let Self { messages, tokens, original_tokens, helped: stages, .. } = self;
            return Ok(Fitted { messages, tokens, original_tokens, protected_section_tokens, stages });
        }
        Err(BudgetExceeded {
            estimated_tokens: self.original_tokens,
            budget_tokens: self.budget,
            stages_tried: self.tried,
            protected_section_tokens,
        })
    }
}

/// Gives a message another text, unless that is no better, and says how many tokens it saved.
fn shorten(message: &mut Message, estimate: &dyn Estimate, shorter: impl FnOnce(&str) -> String) -> u64 {
    let content = shorter(&message.content);
    let saved = estimate.tokens(&message.content).saturating_sub(estimate.tokens(&content));
    if saved > 0 {
        message.content = content;
    }
    saved
}

fn protected_tokens(message: &Message, estimate: &dyn Estimate) -> u64 {
    estimate.tokens(&protected_sections(&message.content).concat())
}
