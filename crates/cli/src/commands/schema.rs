//! `handoff schema`: the JSON Schemas of what programs exchange with handoffd.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Print a JSON Schema
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Of what
    which: Which,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Which {
    /// One line on the daemon's socket
    Wire,
    /// The queue file `tasks.json`
    Queue,
    /// What the roles of a team hand to each other
    Packet,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let schema = match self.which {
            Which::Wire => wire::schema::wire(),
            Which::Queue => wire::schema::queue(),
            Which::Packet => packet::schema(),
        };
        // Indented: a schema is also read by people, and compared between versions.
        let text = serde_json::to_string_pretty(&schema).map_err(Failure::usage)?;
        ctx.out.raw(format!("{text}\n").as_bytes());
        Ok(Exit::Good)
    }
}
