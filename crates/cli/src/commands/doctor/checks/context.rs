//! The context files that each task of the project would carry: one that breaks a rule keeps every task from being handed over
//! (D68).

use handoffd::context::{Blocked, Rule, collect};
use store::sys::Sys;
use store::{PiFolder, ProjectDir};

use super::{Finding, Subject, World};

/// As the daemon collects them before each task; what a task names besides is its own.
pub(super) fn check(world: &World, subject: &Subject) -> Vec<Finding> {
    // What cannot be opened is told by `folders`, and settings that are refused by `work-logs`.
    let Ok(project) = ProjectDir::open(&subject.path, &Sys::real(), PiFolder::Require) else { return Vec::new() };
    let (settings, _) = subject.settings(&world.config);
    vec![match collect(&project, &settings.context, None) {
        Ok(_) if settings.context.files.is_empty() => Finding::good("no context file is named"),
        Ok(_) => Finding::good("the context files can be handed over"),
        Err(blocked) => Finding::fault(format!("no task is started: {blocked}"), remedy(&blocked)),
    }]
}

fn remedy(blocked: &Blocked) -> String {
    let command = match &blocked.rule {
        Rule::Unreadable(fault) => fault.remedy(),
        _ => None,
    };
    command.unwrap_or_else(|| "correct the file, or take it out of `context.files`".to_owned())
}
