//! The arguments of `handoffd`.

use std::path::PathBuf;

/// Watches projects, owns their queues and carries tasks between planner and worker. Runs in the foreground.
#[derive(Debug, clap::Parser)]
#[command(name = "handoffd", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 stopped in order, 1 failed, 2 wrong arguments, invalid configuration or \
                        no file locks in the state folder, 3 another daemon is running.\n\
                        Everything else is done with the program `handoff`.")]
pub(super) struct Args {
    /// Read this configuration file instead of the usual one
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Manage this project as long as the daemon runs; may be given several times
    #[arg(long = "project", value_name = "DIR")]
    pub(super) projects: Vec<PathBuf>,

    /// Read the configuration, print each problem with file, line and key, and start nothing
    #[arg(long)]
    pub(super) check: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn the_definition_is_sound_and_projects_add_up() {
        Args::command().debug_assert();
        let args = Args::try_parse_from(["handoffd", "--project", "a", "--project=/b", "--check"]).unwrap();
        assert_eq!(args.projects, [PathBuf::from("a"), PathBuf::from("/b")]);
        assert!(args.check && args.config.is_none());
    }

    #[test]
    fn what_it_does_not_know_is_refused() {
        assert_eq!(Args::try_parse_from(["handoffd", "--daemon"]).unwrap_err().exit_code(), 2);
        assert_eq!(Args::try_parse_from(["handoffd", "/p"]).unwrap_err().exit_code(), 2);
        assert_eq!(Args::try_parse_from(["handoffd", "--version"]).unwrap_err().exit_code(), 0);
    }
}
