//! `handoff logs`: the daemon's own log, wherever it goes: its files, the journal of systemd, and what launchd kept of
//! its first words. No daemon is needed.

mod files;
mod journal;
mod line;

use std::ffi::OsString;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use self::files::Files;
use self::journal::Journal;
use self::line::Wanted;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::projects;

/// How often a followed log is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Print the daemon's log
///
/// It is read where it goes: from the files of the log folder and, where the daemon is a service of systemd, from the journal.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Go on with what is written from now on
    #[arg(long, short)]
    follow: bool,
    /// Only lines about this project, a path or a registered name
    #[arg(long, short, value_name = "PROJECT")]
    project: Option<OsString>,
    /// Only lines about this task
    #[arg(long, short, value_name = "ID")]
    task: Option<String>,
    /// How many of the last lines
    #[arg(long, short = 'n', value_name = "LINES", default_value_t = 100)]
    lines: usize,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let project = match &self.project {
            Some(typed) => Some(projects::root(ctx, Some(typed))?),
            None => None,
        };
        let wanted = Wanted { project, task: self.task };
        let dir = ctx.places()?.log_dir;
        let mut files = Files::new(dir.clone(), first_words(ctx));
        let mut journal = Journal::of_service(ctx);
        let from_files = files.last(self.lines, &wanted)?;
        let from_journal = journal.last(self.lines, &wanted);
        if files.are_none() && from_journal.is_empty() && journal.is_silent() {
            let dir = dir.display();
            ctx.out
                .note(format!("there is no log in {dir} and none in the journal; a daemon in a terminal writes there"));
        }
        let all = line::merged(from_files, from_journal);
        for text in all.iter().skip(all.len().saturating_sub(self.lines)) {
            ctx.out.line(line::painted(text));
        }
        if self.follow {
            journal.follow();
        }
        while self.follow && !ctx.out.is_closed() {
            thread::sleep(LOOK);
            for text in files.new_lines(&wanted)?.into_iter().chain(journal.new_lines(&wanted)) {
                ctx.out.line(line::painted(&text));
            }
        }
        Ok(Exit::Good)
    }
}

/// Where launchd puts what the daemon says before it has a log of its own.
fn first_words(ctx: &Context) -> Option<PathBuf> {
    let home = ctx.env.home.as_deref().filter(|_| cfg!(target_os = "macos"))?;
    Some(super::service::launchd_log(home))
}
