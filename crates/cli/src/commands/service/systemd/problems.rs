//! What is wrong with the service, in the words of `handoff service status`, and what helps.

use super::manager::Manager;
use super::variables;
use crate::commands::service::started::Answer;
use crate::context::Context;
use crate::failure::Failure;
use crate::systemctl::judge::{AGAIN, Seen, judge};

/// One sentence for each thing that somebody should look at, with its remedy.
pub(super) fn problems(
    ctx: &Context,
    manager: &Manager,
    seen: Seen<'_>,
    answer: &Result<Answer, Failure>,
) -> Vec<String> {
    let troubles = judge(seen).into_iter();
    let mut problems: Vec<String> = troubles.map(|trouble| format!("{}: `{}`", trouble.what, trouble.remedy)).collect();
    if seen.service.unmask().is_some() {
        // Nothing else helps.
        return problems;
    }
    let mut again = |what: String| problems.push(format!("{what}: `{AGAIN}`"));
    match answer {
        // Told already.
        Ok(answer) if Some(answer.pid) != seen.service.main_pid() => {}
        Ok(answer) if answer.outdated => again("the program on disk is newer than the one that runs".to_owned()),
        Ok(answer) if answer.version != crate::VERSION => {
            again(format!("it is {}, this is handoff {}", answer.version, crate::VERSION));
        }
        Err(failure) if seen.service.is_active() => again(failure.message.clone()),
        Ok(_) | Err(_) => {}
    }
    problems.extend(variables::differences(ctx, manager));
    problems
}
