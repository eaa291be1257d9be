//! How many tokens a text will be, before anybody has counted them.

use crate::message::Message;

/// Tokens that a message costs beside its text: role and separators.
pub const MESSAGE_OVERHEAD: u64 = 4;

/// Says how many tokens a text is for the model that will read it.
pub trait Estimate {
    /// Tokens of a text. More text is never fewer tokens, and two texts in one are at most as many as apart.
    fn tokens(&self, text: &str) -> u64;
}

/// An estimate without a vocabulary, meant to be too high rather than too low: 3.6 characters a token for ASCII, two for
/// scripts like Greek or Cyrillic, 1.306 tokens a character for Chinese, Japanese and Korean, twice that for what lies
/// beyond (emoji, rare ideographs).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conservative;

/// What one token is in the unit of [`weight`].
const TOKEN: u64 = 18_000;

impl Estimate for Conservative {
    fn tokens(&self, text: &str) -> u64 {
        text.chars().map(weight).sum::<u64>().div_ceil(TOKEN)
    }
}

/// A character's part of a token, by the length of its UTF-8 form, which tells the scripts apart well enough.
fn weight(c: char) -> u64 {
    match c.len_utf8() {
        1 => 5_000,
        2 => 9_000,
        3 => 23_508,
        _ => 47_016,
    }
}

/// Tokens of a whole conversation, with [`MESSAGE_OVERHEAD`] for each message.
pub fn conversation_tokens(messages: &[Message], estimate: &dyn Estimate) -> u64 {
    messages.iter().map(|message| message_tokens(message, estimate)).fold(0, u64::saturating_add)
}

/// Tokens of one message.
pub(crate) fn message_tokens(message: &Message, estimate: &dyn Estimate) -> u64 {
    estimate.tokens(&message.content).saturating_add(MESSAGE_OVERHEAD)
}
