//! Marks: what a scenario reached. Without them nobody knows whether random scenarios test anything.

use lifecycle::{Effect, Fact, Outgoing, Reply};

use super::world::World;

impl World {
    pub(crate) fn mark(&mut self, what: impl Into<String>) {
        self.marks.insert(what.into());
    }

    pub(crate) fn mark_effect(&mut self, effect: &Effect) {
        let mark = match effect {
            Effect::Record(Fact::Ended(ended)) => match &ended.error {
                Some(text) => text.chars().take(60).collect(),
                None => format!("report complete {} {:?}", ended.complete, ended.log),
            },
            Effect::Record(Fact::LockTaken { recovered }) => format!("lock recovered {recovered}"),
            Effect::Record(Fact::Started { again, .. }) => format!("started again {again}"),
            Effect::Record(Fact::Abandoned { .. }) => "abandoned".into(),
            Effect::Record(Fact::Demoted { .. }) => "demoted".into(),
            Effect::Record(Fact::NotAccepted(_)) => "not accepted".into(),
            Effect::Send { message: Outgoing::Remind(_), .. } => "reminded".into(),
            Effect::Send { message: Outgoing::Cancel { .. }, .. } => "told to cancel".into(),
            Effect::Reply { reply: Reply::Attached { owner, task, .. }, .. } => {
                format!("attached owner {owner} task {}", task.is_some())
            }
            Effect::Reply { reply: Reply::Cancelled { was, now, session, .. }, .. } => {
                format!("cancelled {was} {now} {session:?}")
            }
            Effect::Reply { reply: Reply::Refused(refusal), .. } => {
                let text = format!("{refusal:?}");
                format!("refused {}", text.split(['(', ' ']).next().unwrap_or_default())
            }
            _ => return,
        };
        self.mark(mark);
    }
}
