//! `BisectAndSummarize`: the older half of the turns becomes one turn that says what they were about.

use crate::message::Message;
use crate::section::{Piece, pieces};
use crate::summary::{Summarize, is_usable};

/// Turns at the end that always stay.
const KEPT: usize = 3;
/// Characters of the summary for each turn that it stands for, and in all.
const PER_TURN: usize = 200;
const MOST: usize = 4_000;

/// The conversation with its older half summarized; `None` when there are too few turns, or no usable summary.
///
/// A turn with protected sections stays in its place with nothing but these, so that they keep their role. The summary
/// is said by the assistant: it may quote a tool, and must not gain the weight of the user's word.
pub(crate) fn bisected(messages: &[Message], summarize: &dyn Summarize) -> Option<Vec<Message>> {
    let (_, history) = messages.split_last()?;
    let can_go = history.iter().enumerate().filter(|(_, turn)| can_be_summarized(turn));
    let turns: Vec<usize> = can_go.map(|(at, _)| at).collect();
    let count = turns.len() + 1;
    let older = turns.get(..(count / 2).min(count.saturating_sub(KEPT)))?;
    let first = *older.first()?;
    let is_older = |at: usize| older.binary_search(&at).is_ok();
    let earlier = history.iter().enumerate().filter(|(at, _)| is_older(*at));
    let earlier: Vec<Message> = earlier.map(|(_, turn)| without_sections(turn)).collect();
    let summary = summarize.summarize(&earlier, (older.len() * PER_TURN).min(MOST)).filter(|text| is_usable(text))?;
    let mut out = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        if at == first {
            out.push(Message::new("assistant", format!("[summary of {} earlier messages]\n{summary}", older.len())));
        }
        if is_older(at) {
            out.extend(sections_only(message));
        } else {
            out.push(message.clone());
        }
    }
    Some(out)
}

fn can_be_summarized(message: &Message) -> bool {
    let has_text =
        || pieces(&message.content).iter().any(|piece| matches!(piece, Piece::Open(part) if !part.trim().is_empty()));
    !message.is_instruction() && has_text()
}

fn without_sections(message: &Message) -> Message {
    let open = pieces(&message.content).into_iter().filter_map(|piece| match piece {
        Piece::Open(part) => Some(part),
        Piece::Protected(_) => None,
    });
    Message::new(message.role.as_str(), open.collect::<String>())
}

fn sections_only(message: &Message) -> Option<Message> {
    let sections = pieces(&message.content).into_iter().filter_map(|piece| match piece {
        Piece::Open(_) => None,
        Piece::Protected(section) => Some(section),
    });
    let content: String = sections.collect();
    (!content.is_empty()).then(|| Message::new(message.role.as_str(), content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Extractive;

    fn conversation(turns: &[(&str, &str)]) -> Vec<Message> {
        turns.iter().map(|(role, content)| Message::new(*role, *content)).collect()
    }

    struct Says(Option<&'static str>);

    impl Summarize for Says {
        fn summarize(&self, _: &[Message], _: usize) -> Option<String> {
            self.0.map(str::to_owned)
        }
    }

    #[test]
    fn the_older_half_is_summarized_and_sections_keep_their_role() {
        let before = conversation(&[
            ("system", "be kind"),
            ("user", "do this\n## Constraints\n- c\n"),
            ("tool", "a result"),
            ("assistant", "done"),
            ("user", "and that"),
            ("user", "now"),
        ]);
        let after = conversation(&[
            ("system", "be kind"),
            ("assistant", "[summary of 2 earlier messages]\n- user: do this\n- tool: a result"),
            ("user", "## Constraints\n- c\n"),
            ("assistant", "done"),
            ("user", "and that"),
            ("user", "now"),
        ]);
        assert_eq!(bisected(&before, &Extractive), Some(after));
    }

    #[test]
    fn few_turns_stay() {
        assert_eq!(bisected(&conversation(&[("user", "a"), ("user", "b"), ("user", "c")]), &Extractive), None);
        assert_eq!(bisected(&[], &Extractive), None);
    }

    #[test]
    fn a_summary_that_cannot_stand_is_refused() {
        let turns = conversation(&[("user", "a"), ("user", "b"), ("user", "c"), ("user", "d")]);
        assert!(bisected(&turns, &Says(Some("good"))).is_some());
        for summary in [None, Some(" \n"), Some("x\n ## 受眾 \r\ny")] {
            assert_eq!(bisected(&turns, &Says(summary)), None, "{summary:?}");
        }
    }
}
