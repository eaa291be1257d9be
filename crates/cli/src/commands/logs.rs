//! `handoff logs`: the daemon's own log, from its files. No daemon is needed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use handoffd::logging::{files, project_of_line};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::projects;

/// How often a followed log is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Print the daemon's log
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Go on with what is written from now on
    #[arg(long, short)]
    follow: bool,
    /// Only lines about this project, a path or a registered name
    #[arg(long, short, value_name = "PROJECT")]
    project: Option<OsString>,
    /// How many of the last lines
    #[arg(long, short = 'n', value_name = "LINES", default_value_t = 100)]
    lines: usize,
}

/// A place in the log up to which everything was read.
struct Reached {
    file: PathBuf,
    offset: u64,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let dir = ctx.places()?.log_dir;
        let only = match &self.project {
            Some(typed) => Some(projects::root(ctx, Some(typed))?),
            None => None,
        };
        let mut reached = self.print_last(ctx, &dir, only.as_deref())?;
        if reached.is_none() {
            ctx.out.note(format!(
                "there is no log in {}: a daemon in a terminal writes there, under systemd see also `journalctl --user -u handoffd`",
                dir.display()
            ));
        }
        while self.follow && !ctx.out.is_closed() {
            thread::sleep(LOOK);
            reached = print_new(ctx, &dir, only.as_deref(), reached.as_ref())?;
        }
        Ok(Exit::Good)
    }

    fn print_last(&self, ctx: &mut Context, dir: &Path, only: Option<&Path>) -> Result<Option<Reached>, Failure> {
        let mut last: VecDeque<String> = VecDeque::new();
        let files = list(dir)?;
        for file in files.iter().rev() {
            let mut lines = lines(file, 0)?.0;
            lines.retain(|line| is_about(line, only));
            while last.len() < self.lines
                && let Some(line) = lines.pop()
            {
                last.push_front(line);
            }
            if last.len() >= self.lines {
                break;
            }
        }
        for line in last {
            ctx.out.line(line);
        }
        let Some(file) = files.last() else { return Ok(None) };
        let offset = file.metadata().map_or(0, |meta| meta.len());
        Ok(Some(Reached { file: file.clone(), offset }))
    }
}

/// Prints what was written since, in the same file and in newer ones.
fn print_new(
    ctx: &mut Context,
    dir: &Path,
    only: Option<&Path>,
    reached: Option<&Reached>,
) -> Result<Option<Reached>, Failure> {
    let files = list(dir)?;
    let known = reached.and_then(|reached| files.iter().position(|file| *file == reached.file));
    let start = known.unwrap_or(0);
    let mut now = None;
    for (at, file) in files.into_iter().enumerate().skip(start) {
        let from = reached.filter(|_| known == Some(at)).map_or(0, |reached| reached.offset);
        let (lines, offset) = lines(&file, from)?;
        for line in lines.into_iter().filter(|line| is_about(line, only)) {
            ctx.out.line(line);
        }
        now = Some(Reached { file, offset });
    }
    Ok(now)
}

/// The log's files, oldest first.
fn list(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = files(dir).map_err(|error| Failure::usage(format!("cannot list {}: {error}", dir.display())))?;
    files.reverse();
    Ok(files)
}

/// The whole lines of a file from an offset on, and where the next one begins. A file that was pruned has none.
fn lines(path: &Path, from: u64) -> Result<(Vec<String>, u64), Failure> {
    let fault = |error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((Vec::new(), from)),
        Err(error) => return Err(fault(error)),
    };
    file.seek(SeekFrom::Start(from)).map_err(fault)?;
    let mut reader = BufReader::new(file.take(1 << 30));
    let (mut lines, mut offset, mut bytes) = (Vec::new(), from, Vec::new());
    while reader.read_until(b'\n', &mut bytes).map_err(fault)? > 0 {
        if bytes.pop() != Some(b'\n') {
            break;
        }
        offset += bytes.len() as u64 + 1;
        lines.push(String::from_utf8_lossy(&bytes).into_owned());
        bytes.clear();
    }
    Ok((lines, offset))
}

fn is_about(line: &str, only: Option<&Path>) -> bool {
    let Some(only) = only else { return true };
    let name = only.file_name().and_then(|name| name.to_str());
    project_of_line(line).is_some_and(|project| Path::new(&project) == only || Some(project.as_str()) == name)
}
