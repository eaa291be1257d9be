//! `prompt_fit`: any conversation brought within any budget.

use budget::{Conservative, Extractive, Message, conversation_tokens, fit, protected_sections};

use super::texts;

/// More would make an execution slow and find nothing else.
const MOST_MESSAGES: usize = 12;

/// What is said to fit does; every protected section is there, byte for byte, in order, said by the same role; and what
/// fits stays as it is.
pub fn check(bytes: &[u8]) {
    let Some((share, bytes)) = bytes.split_first() else { return };
    let messages: Vec<Message> = texts(bytes).take(MOST_MESSAGES).map(|text| message(&text)).collect();
    let budget = conversation_tokens(&messages, &Conservative) * u64::from(*share) / 200;
    match fit(&messages, budget, &Conservative, &Extractive) {
        Ok(fitted) => {
            assert_eq!(fitted.tokens, conversation_tokens(&fitted.messages, &Conservative));
            assert!(fitted.tokens <= budget);
            assert_eq!(sections(&fitted.messages), sections(&messages));
            let again = fit(&fitted.messages, budget, &Conservative, &Extractive);
            assert_eq!(again.map(|again| again.messages), Ok(fitted.messages));
        }
        Err(exceeded) => assert!(exceeded.estimated_tokens > budget),
    }
}

/// The first character chooses the role. Every third text is repeated, since only turns of 800 characters are cut.
fn message(text: &str) -> Message {
    let first = text.chars().next().map_or(0, u32::from);
    let role = ["user", "assistant", "tool", "system", "function"][first as usize % 5];
    let times = if first.is_multiple_of(3) { 1 + 1000 / text.chars().count().max(1) } else { 1 };
    Message::new(role, text.repeat(times))
}

fn sections(messages: &[Message]) -> Vec<(&str, &str)> {
    let each = messages.iter().flat_map(|message| {
        protected_sections(&message.content).into_iter().map(|section| (message.role.as_str(), section))
    });
    each.collect()
}
