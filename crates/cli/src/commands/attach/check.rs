//! What can be known of COMMAND before a task is spent on it: that the shell can read it, and that its first word, if it is a
//! plain one, is something that can be run. What only a run can show is left to the first run.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::failure::Failure;
use crate::shell::quoted;
use crate::spawn;

/// The shell that runs COMMAND.
pub(super) const SHELL: &str = "/bin/sh";
/// A folder of PATH may lie on a file system that does not answer; then the question stays open.
const ASKED: Duration = Duration::from_secs(3);

/// Refuses what could not be run in `root` anyway.
pub(super) fn check(command: &str, root: &Path) -> Result<(), Failure> {
    if command.trim().is_empty() {
        return Err(Failure::usage("the command of --exec is empty"));
    }
    if let Err(error) = spawn::told(SHELL, &["-n", "-c", command], None, ASKED)
        && error.kind() == ErrorKind::Other
    {
        let said = error.to_string();
        let said = said.trim_start_matches(&format!("{SHELL}: "));
        return Err(Failure::usage(format!("the shell cannot read the command of --exec: {said}")));
    }
    match first_word(command) {
        Some(word) if word.contains('/') => check_file(word, &root.join(word)),
        Some(word) => check_name(word, root),
        None => Ok(()),
    }
}

/// The word that names what is run, if nothing in it means more to a shell than itself.
fn first_word(command: &str) -> Option<&str> {
    let text = command.trim_start();
    let end = text.find(|c: char| c.is_ascii_whitespace() || ";&|<>".contains(c)).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let is_plain = |c: char| c.is_alphanumeric() || "_./-+@%:,".contains(c);
    // `2>file …` and `name () …` begin with no program.
    let is_more = rest.trim_start().starts_with(['<', '>', '(']);
    (!word.is_empty() && !is_more && word.chars().all(is_plain)).then_some(word)
}

fn check_file(word: &str, path: &Path) -> Result<(), Failure> {
    let refused = |what: &str| Failure::usage(format!("the command of --exec cannot be run: `{word}` {what}"));
    match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(refused("does not exist")),
        Err(error) => Err(refused(&format!("cannot be looked at: {error}"))),
        Ok(meta) if meta.is_dir() => Err(refused("is a folder")),
        Ok(_) => match accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS) {
            Ok(()) => Ok(()),
            Err(_) => Err(refused("is not executable")
                .hint(format!("run `chmod +x {}`, or name the program that reads it", quoted(word)))),
        },
    }
}

/// Builtins, functions and PATH are the shell's own knowledge, so it is asked.
fn check_name(word: &str, root: &Path) -> Result<(), Failure> {
    let folder = root.to_string_lossy();
    let ask = r#"cd "$1" && command -v -- "$2"; echo "asked""#;
    // Whatever else went wrong shows at the first run.
    let Ok(answer) = spawn::told(SHELL, &["-c", ask, SHELL, &folder, word], None, ASKED) else { return Ok(()) };
    if answer != "asked\n" {
        return Ok(());
    }
    let failure = Failure::usage(format!("the command of --exec cannot be run: there is no program `{word}` in PATH"));
    Err(match root.join(word).is_file() {
        true => failure.hint(format!("the file in this folder is `./{word}`")),
        false => failure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_first_word_is_looked_for() {
        let check = |command: &str, expected: Option<&str>| assert_eq!(first_word(command), expected, "{command}");
        check("sh work.sh", Some("sh"));
        check(" ./run;true", Some("./run"));
        check("agent|tee log", Some("agent"));
        for open in [
            "A=1 agent",
            "$AGENT",
            "~/bin/agent",
            "'my agent'",
            "2>log agent",
            "f () { :; }; f",
            "f() { :; }",
            "(agent)",
            "{ a; }",
            "! a",
            "# no",
        ] {
            check(open, None);
        }
    }

    #[test]
    fn what_the_shell_knows_passes() {
        for command in [
            "if true; then ls; fi",
            "cd src; ls",
            "ls",
            "/bin/sh -c ls",
            ": nothing",
            "exec ls",
            "no-such-program=1 ls",
        ] {
            assert_eq!(check(command, Path::new("/")), Ok(()), "{command}");
        }
    }
}
