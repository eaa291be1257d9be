//! The only place of the command line that starts programs: `git rm` when the user agreed to it, the COMMAND of
//! `handoff attach --exec`, and the programs that `handoff doctor` asks.

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A program to be started in a folder, with nothing set up yet.
#[expect(clippy::disallowed_methods, reason = "this module is the home of starting programs in the command line")]
pub(crate) fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    command
}

/// Runs a program to its end without input or output; its first error line, if it fails, is the error.
pub(crate) fn quietly(program: &str, arguments: &[&str], folder: &Path) -> io::Result<()> {
    let output = command(program, folder).args(arguments).stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(told.lines().next().unwrap_or("it failed").to_owned()))
}

/// The most of an answer that is read.
const MOST: u64 = 1024 * 1024;

/// Runs a program that answers shortly, and gives its standard output. One that takes longer than `limit` is ended. The
/// variable is set besides the environment of this process.
pub(crate) fn told(
    program: &str,
    arguments: &[&str],
    variable: Option<(&str, &str)>,
    limit: Duration,
) -> io::Result<String> {
    let deadline = Instant::now() + limit;
    let mut command = command(program, Path::new("/"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).envs(variable);
    let mut child = command.spawn().map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))?;
    let answers = [reader(child.stdout.take()), reader(child.stderr.take())];
    // Both streams end with the program, or with the last of its children.
    let [output, errors] =
        answers.map(|answer| answer.recv_timeout(deadline.saturating_duration_since(Instant::now())));
    let (Ok(output), Ok(errors)) = (output, errors) else {
        child.kill().ok();
        child.wait().ok();
        let what = format!("{program} did not answer within {} s", limit.as_secs_f32());
        return Err(io::Error::new(io::ErrorKind::TimedOut, what));
    };
    match child.wait()?.success() {
        true => Ok(output),
        false => Err(io::Error::other(format!("{program}: {}", errors.lines().next().unwrap_or("it failed")))),
    }
}

fn reader(stream: Option<impl io::Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            // What came before a fault is the answer.
            stream.take(MOST).read_to_end(&mut bytes).ok();
        }
        sender.send(String::from_utf8_lossy(&bytes).into_owned()).ok();
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn an_answer_is_given_and_a_failure_told_by_its_first_line() {
        assert_eq!(told("sh", &["-c", "echo $A"], Some(("A", "b")), LONG).unwrap(), "b\n");
        let error = told("sh", &["-c", "echo one >&2; echo two >&2; exit 3"], None, LONG).unwrap_err();
        assert_eq!(error.to_string(), "sh: one");
        let error = told("/no/such/program", &[], None, LONG).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let begun = Instant::now();
        let error = told("sh", &["-c", "exec sleep 600"], None, Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() < LONG);
    }
}
