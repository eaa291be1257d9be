//! The unit files: the texts from `systemd/` with the paths of these programs in place of the package's.

use std::path::{Path, PathBuf};

use handoffd::places::Places;

use super::manager::Manager;
use crate::commands::service::file::ServiceFile;
use crate::commands::service::programs::Programs;
use crate::context::Context;
use crate::failure::Failure;
use crate::systemctl::{SERVICE, SOCKET};

const SERVICE_TEXT: &str = include_str!("../../../../../../systemd/handoffd.service");
const SOCKET_TEXT: &str = include_str!("../../../../../../systemd/handoffd.socket");
/// What the texts name in place of the programs and the socket.
const HANDOFFD: &str = "/usr/bin/handoffd";
const HANDOFF: &str = "/usr/bin/handoff";
const LISTEN: &str = "%t/handoffd/handoffd.sock";
/// Older versions know only a fixed pause, and warn about these lines.
const STEPS_SINCE: u32 = 254;
const STEPS: &str = "# A fault that lasts is tried again ever more rarely.\n[Service]\nRestartSec=1s\nRestartSteps=8\nRestartMaxDelaySec=60s\n";

/// What belongs to this installation.
#[derive(Debug)]
pub(super) struct Units {
    /// The package's service file, if it starts this very program.
    pub(super) package: Option<PathBuf>,
    /// The files to be written.
    pub(super) wanted: Vec<ServiceFile>,
    /// Files of an earlier installation that are not wanted now.
    pub(super) surplus: Vec<PathBuf>,
}

impl Units {
    /// What should be there.
    pub(super) fn plan(ctx: &Context, manager: &Manager, programs: &Programs) -> Result<Self, Failure> {
        let folder = manager.user_folder(ctx)?;
        let others: Vec<PathBuf> = manager.other_folders(&folder).cloned().collect();
        let package = others.into_iter().map(|other| other.join(SERVICE)).find(|file| starts(file, &programs.handoffd));
        let address = own_address(&ctx.places()?);
        let mut wanted = Vec::new();
        if package.is_none() {
            wanted.push(unit(folder.join(SERVICE), &service(programs)?));
        }
        match (&package, address) {
            (Some(_), None) => {}
            (Some(_), Some(address)) => {
                let text = format!(
                    "# `daemon.socket` of the configuration.\n[Socket]\nListenStream=\nListenStream={address}\n"
                );
                wanted.push(unit(drop_in(&folder, SOCKET), &text));
            }
            (None, None) => wanted.push(unit(folder.join(SOCKET), SOCKET_TEXT)),
            (None, Some(address)) => wanted.push(unit(folder.join(SOCKET), &SOCKET_TEXT.replace(LISTEN, &address))),
        }
        if manager.version >= STEPS_SINCE {
            wanted.push(unit(drop_in(&folder, SERVICE), STEPS));
        }
        let surplus =
            possible(&folder).into_iter().filter(|path| wanted.iter().all(|file| file.path != *path)).collect();
        Ok(Self { package, wanted, surplus })
    }
}

/// All files that an installation may have made.
pub(super) fn possible(folder: &Path) -> Vec<PathBuf> {
    vec![folder.join(SERVICE), folder.join(SOCKET), drop_in(folder, SERVICE), drop_in(folder, SOCKET)]
}

fn unit(path: PathBuf, text: &str) -> ServiceFile {
    ServiceFile::new(path, text, ("# ", ""), None)
}

fn drop_in(folder: &Path, unit: &str) -> PathBuf {
    folder.join(format!("{unit}.d/10-handoff.conf"))
}

fn service(programs: &Programs) -> Result<String, Failure> {
    let (handoffd, handoff) = (word(&programs.handoffd)?, word(&programs.handoff)?);
    let replace = |line: &str| match line.split_once('=') {
        Some((key @ ("ExecStart" | "ExecReload"), command)) => {
            let (program, rest) = command.split_once(' ').map_or((command, ""), |(program, rest)| (program, rest));
            let program = if program == HANDOFFD {
                &handoffd
            } else {
                debug_assert_eq!(program, HANDOFF);
                &handoff
            };
            format!("{key}={program} {rest}").trim_end().to_owned()
        }
        _ => line.to_owned(),
    };
    Ok(SERVICE_TEXT.lines().map(replace).map(|line| line + "\n").collect())
}

/// A path as one word of a command line in a unit. systemd refuses programs with quotes and backslashes in their path.
fn word(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.chars().any(|c| c.is_control() || "\"'\\".contains(c)));
    let Some(text) = text else {
        let message = format!("systemd does not start a program with this path: {}", path.display());
        return Err(Failure::usage(message).hint("move the programs to a folder without quotes and backslashes"));
    };
    let text = text.replace('%', "%%");
    let plain = |c: char| c.is_alphanumeric() || "/._-+@:,%".contains(c);
    Ok(if text.chars().all(plain) { text } else { format!("\"{text}\"") })
}

/// The socket, where the configuration names one: then the service manager must listen there.
fn own_address(places: &Places) -> Option<String> {
    let named = places.socket.origin == handoffd::places::socket::SocketOrigin::Config;
    named.then(|| places.socket.path.display().to_string().replace('%', "%%"))
}

/// Whether a unit file starts this program.
fn starts(file: &Path, program: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(file) else { return false };
    let Ok(word) = word(program) else { return false };
    text.lines().any(|line| line.strip_prefix("ExecStart=") == Some(word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(folder: &str) -> Programs {
        Programs { handoffd: format!("{folder}/handoffd").into(), handoff: format!("{folder}/handoff").into() }
    }

    #[test]
    fn the_package_path_is_the_text_itself() {
        assert_eq!(service(&programs("/usr/bin")).unwrap(), SERVICE_TEXT);
    }

    #[test]
    fn other_paths_are_words_of_the_unit() {
        let lines = |folder: &str| {
            let text = service(&programs(folder)).unwrap();
            text.lines().filter(|line| line.starts_with("Exec")).map(str::to_owned).collect::<Vec<_>>()
        };
        let check = |folder: &str, start: &str, reload: &str| {
            assert_eq!(lines(folder), [format!("ExecStart={start}"), format!("ExecReload={reload} service reload")]);
        };
        check("/home/you/.cargo/bin", "/home/you/.cargo/bin/handoffd", "/home/you/.cargo/bin/handoff");
        check("/a b", "\"/a b/handoffd\"", "\"/a b/handoff\"");
        check("/50%/$HOME", "\"/50%%/$HOME/handoffd\"", "\"/50%%/$HOME/handoff\"");
        for refused in ["/a\nb", "/a\"b", "/a'b", "/a\\b"] {
            assert!(service(&programs(refused)).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn a_unit_of_a_package_is_known_by_the_program_it_starts() {
        let folder = tempfile::tempdir().unwrap();
        let file = unit(folder.path().join(SERVICE), SERVICE_TEXT);
        file.write().unwrap();
        assert!(starts(&file.path, Path::new("/usr/bin/handoffd")));
        assert!(!starts(&file.path, Path::new("/usr/bin/handoff")));
        assert!(!starts(Path::new("/nowhere"), Path::new("/usr/bin/handoffd")));
        assert!(SOCKET_TEXT.contains(LISTEN));
    }
}
