//! `handoff mcp team`: the door of packets for one member of a team. It needs no daemon.

use std::ffi::OsString;

use mcp::Caller;
use team::Door;

use crate::VERSION;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::packets;
use crate::time;

/// Serve `team_handoff`, the tool that files a packet to the next role
///
/// Who calls is fixed here, by `--agent-id` or HANDOFF_AGENT_ID, and no call can change it: `handoff team add` makes a member
/// record and prints its id. Packets are filed below HANDOFF_HOME, else `team.home` of the configuration, else the user's data
/// folder. With HANDOFF_MCP_KEY in the environment every call is refused: no client key opens this door.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The member who calls [default: HANDOFF_AGENT_ID]
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    agent_id: Option<OsString>,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let Some(agent_id) = self.agent_id.or_else(|| ctx.env.handoff_agent_id.clone()) else {
            return Err(Failure::usage("who calls is not known: neither `--agent-id` nor HANDOFF_AGENT_ID is given")
                .hint("`handoff team add ROLE --goal ID --round N` makes a member and prints its id"));
        };
        let caller = if ctx.env.handoff_mcp_key.is_some() { Caller::External } else { Caller::Local };
        // Packets go where the configuration says, or nowhere.
        ctx.valid_config()?;
        // What is not UTF-8 becomes an id that the door refuses.
        let door = Door::new(packets::home(ctx)?, agent_id.to_string_lossy());
        super::serve(ctx, mcp::team::toolbox(door, caller, time::now, VERSION))
    }
}
