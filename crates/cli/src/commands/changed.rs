//! What `pause`, `resume`, `enable` and `disable` share: one call about a project, whose answer says how it is now.

use std::ffi::OsString;

use wire::Call;
use wire::control::ProjectResult;

use crate::context::Context;
use crate::daemon;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone};

/// The project that is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// The project, a path or a registered name [default: the working folder]
    project: Option<OsString>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Which {
    /// Makes the call and says what was done: `word` is past tense.
    pub(crate) fn change<C>(self, ctx: &mut Context, word: &str, call: impl Fn(String) -> C) -> Result<Exit, Failure>
    where
        C: Call<Result = ProjectResult>,
    {
        let answer = ctx.block_on(async {
            let (daemon, _) = daemon::connect(ctx).await?;
            let project = daemon.project(ctx, self.project.as_deref()).await?;
            daemon.call(&call(project.path)).await
        })?;
        if self.json {
            ctx.out.json(&answer);
        } else {
            print(ctx, word, &answer);
        }
        Ok(Exit::Good)
    }
}

fn print(ctx: &mut Context, word: &str, answer: &ProjectResult) {
    let what = match &answer.lifted {
        Some(lifted) if lifted.is_empty() => ": there was nothing to lift".to_owned(),
        Some(lifted) => format!(", lifted: {}", lifted.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", ")),
        None => String::new(),
    };
    ctx.out.line(Line::of(Tone::Good, word).plain(" ").and(Tone::Strong, &answer.name).plain(&what));
    let why = answer.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    ctx.out.line(format!("it is {} now{why}", answer.state));
}
