//! What the person's own command hears: ends of tasks, and states that need a person. The rest is in the event stream.

use std::time::Duration;

use lifecycle::Level;
use wire::status::{ProjectState, ProjectStatus, StateReason, TaskStatus};

use super::Actor;
use crate::notify::{Kind, Notice};

/// So long after the start of the daemon sessions come back by themselves: that one is missing is no news.
const SESSIONS_COME_BACK: Duration = Duration::from_secs(10);

/// A task that has ended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct About<'a> {
    task_id: &'a str,
    dispatch_id: Option<&'a str>,
    error: Option<&'a str>,
    verdict: Option<&'a str>,
}

impl<'a> About<'a> {
    pub(super) fn task(task_id: &'a str) -> Self {
        Self { task_id, ..Self::default() }
    }

    pub(super) fn dispatch(self, dispatch_id: Option<&'a str>) -> Self {
        Self { dispatch_id, ..self }
    }

    pub(super) fn error(self, error: &'a str) -> Self {
        Self { error: Some(error), ..self }
    }

    pub(super) fn verdict(self, verdict: Option<&'a str>) -> Self {
        Self { verdict, ..self }
    }
}

impl Actor {
    /// A task has ended. To be called where the journal has its row.
    pub(super) fn hook_end(&self, about: About<'_>) {
        if self.settings.notify_command.is_empty() {
            return;
        }
        let kind = if about.error.is_some() { Kind::Failed } else { Kind::Done };
        let task_id = Some(about.task_id.to_owned()).filter(|id| !id.is_empty());
        let show = task_id.as_deref().map(lifecycle::show);
        let shown = self.status();
        self.hook(Notice {
            task_id,
            dispatch_id: about.dispatch_id.map(str::to_owned),
            why: about.error.map(str::to_owned),
            next: show,
            verdict: about.verdict.map(str::to_owned),
            ..notice(kind, &shown)
        });
    }

    /// The project's state has changed.
    pub(super) fn hook_state(&self, shown: &ProjectStatus) {
        let started_lately = self.hub.uptime() < SESSIONS_COME_BACK;
        if let Some(kind) = kind_of(shown.state, shown.reason)
            && !(started_lately && shown.reason == Some(StateReason::NoSession))
        {
            self.hook(Notice { task_id: self.open_task(), ..notice(kind, shown) });
        }
    }

    /// Whether what the session is told is also told as a state that needs a person, or with the end of its task.
    pub(super) fn is_told_otherwise(&self, text: &str) -> bool {
        let of_a_task = self.queue.task_id.as_ref().is_some_and(|id| text.starts_with(id.as_str()));
        let shown = self.status();
        of_a_task || kind_of(shown.state, shown.reason).is_some()
    }

    /// What was told to the session and is told nowhere else.
    pub(super) fn hook_notice(&self, urgency: Level, text: &str) {
        if urgency == Level::Info {
            return;
        }
        let (shown, why) = (self.status(), Some(text.to_owned()));
        self.hook(Notice { task_id: self.open_task(), why, ..notice(Kind::NeedsYou, &shown) });
    }

    /// The task that waits or runs: one that has ended is not what a state is about.
    fn open_task(&self) -> Option<String> {
        let is_open = matches!(self.queue.status, Some(TaskStatus::Pending | TaskStatus::Running));
        self.queue.task_id.clone().filter(|_| is_open)
    }

    fn hook(&self, notice: Notice) {
        let mask = |text: Option<String>| text.map(|text| secrets::mask(&text).into_owned());
        // The person who reads it is not in the project's folder.
        let next = notice.next.map(|next| lifecycle::elsewhere(&next, &notice.project, &notice.project));
        let notice = Notice { why: mask(notice.why), next, verdict: mask(notice.verdict), ..notice };
        self.hub.notifier.send(&self.settings.notify_command, self.settings.notify_timeout, notice);
    }
}

fn notice(kind: Kind, shown: &ProjectStatus) -> Notice {
    Notice {
        kind,
        project: shown.path.clone(),
        task_id: None,
        dispatch_id: shown.task.as_ref().map(|task| task.dispatch_id.clone()),
        state: shown.state.as_str(),
        reason: shown.reason.map(StateReason::as_str),
        why: shown.why.clone(),
        next: shown.next.clone(),
        verdict: None,
    }
}

/// Which states need a person. A state that passes by itself is none.
fn kind_of(state: ProjectState, reason: Option<StateReason>) -> Option<Kind> {
    match (state, reason) {
        (ProjectState::Blocked, _) => Some(Kind::Blocked),
        (ProjectState::Halted, _) => Some(Kind::Halted),
        (ProjectState::Held, _) => Some(Kind::Held),
        (ProjectState::Unreadable | ProjectState::Missing | ProjectState::Stuck, _)
        | (ProjectState::Waiting, Some(StateReason::NoSession | StateReason::Stopped)) => Some(Kind::NeedsYou),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_states_that_need_a_person_are_told() {
        let check = |state, reason, expected| assert_eq!(kind_of(state, reason), expected, "{state:?} {reason:?}");
        check(ProjectState::Blocked, Some(StateReason::LockLive), Some(Kind::Blocked));
        check(ProjectState::Halted, Some(StateReason::Replaced), Some(Kind::Halted));
        check(ProjectState::Held, Some(StateReason::Repeating), Some(Kind::Held));
        check(ProjectState::Unreadable, Some(StateReason::InvalidJson), Some(Kind::NeedsYou));
        check(ProjectState::Waiting, Some(StateReason::NoSession), Some(Kind::NeedsYou));
        for (state, reason) in [
            (ProjectState::Waiting, Some(StateReason::Busy)),
            (ProjectState::Running, None),
            (ProjectState::Idle, None),
            (ProjectState::Paused, None),
            (ProjectState::Disabled, None),
        ] {
            check(state, reason, None);
        }
    }
}
