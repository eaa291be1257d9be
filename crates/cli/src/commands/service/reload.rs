//! `handoff service reload`: what the unit's `ExecReload` runs, so that a reload has a result (F280).

use wire::control::DaemonReload;

use crate::context::Context;
use crate::daemon;
use crate::exit::Exit;
use crate::failure::Failure;

pub(super) fn run(ctx: &mut Context) -> Result<Exit, Failure> {
    // What is wrong with it is the answer.
    ctx.config_untold();
    let answer = ctx.block_on(async {
        let (daemon, _) = daemon::connect(ctx).await?;
        daemon.call(&DaemonReload {}).await
    });
    // An invalid configuration is the thing asked about, not a quarrel with the daemon.
    let answer = answer.map_err(|failure| match failure.code {
        Some("invalid_config") => Failure { exit: Exit::NotGood, ..failure },
        _ => failure,
    })?;
    for warning in &answer.warnings {
        ctx.out.warn(warning);
    }
    ctx.out.line("the configuration was read again");
    Ok(Exit::Good)
}
