//! Summaries of earlier turns: the trait, and the one that needs no model.

use crate::message::Message;
use crate::section::{is_header, lines};

/// Puts the earlier part of a conversation into few words.
pub trait Summarize {
    /// A summary of `earlier`, which holds no protected section, in about `limit` characters. `None` when there is none:
    /// the turns stay then. The same goes for a summary that is blank or that has the header of a protected section.
    fn summarize(&self, earlier: &[Message], limit: usize) -> Option<String>;
}

/// Takes the beginning of each turn; of very many turns, the first and the last ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extractive;

/// Characters that one turn is worth.
const TURN: usize = 120;
/// Characters of a role's name.
const ROLE: usize = 20;

impl Summarize for Extractive {
    fn summarize(&self, earlier: &[Message], limit: usize) -> Option<String> {
        let turns = earlier.len().min((limit / TURN).max(1));
        let (first, last) = (turns.div_ceil(2), turns / 2);
        let omitted = earlier.len() - turns;
        let mut points: Vec<String> = earlier.iter().take(first).map(point).collect();
        points.extend((omitted > 0).then(|| format!("- ({omitted} more)")));
        points.extend(earlier.iter().skip(earlier.len() - last).map(point));
        Some(points.join("\n"))
    }
}

/// One turn on one line, which no text can leave or turn into a heading.
fn point(message: &Message) -> String {
    let role: String = one_line(&message.role, ROLE);
    let mut text = one_line(&message.content, TURN);
    if text.chars().count() == TURN {
        text.pop();
        text.push('…');
    }
    format!("- {role}: {text}")
}

/// The beginning of a text with every run of white space as one space.
fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for (count, c) in text.split_whitespace().flat_map(|word| std::iter::once(' ').chain(word.chars())).enumerate() {
        if count > most {
            break;
        }
        line.push(c);
    }
    line.trim_start().to_owned()
}

/// Whether a summary may stand in a conversation.
pub(crate) fn is_usable(summary: &str) -> bool {
    !summary.trim().is_empty() && !lines(summary).any(|line| is_header(summary[line].trim()))
}
