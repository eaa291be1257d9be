//! What the package says of itself: `DEBIAN/control`, with what the programs need to run, its changelog in Debian's form, and what
//! is run before its removal (`prerm` beside this file).

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use jiff::Timestamp;

use crate::{output, stage};

const MAINTAINER: &str = "handoffd contributors <handoffd@users.noreply.github.com>";

/// Writes them.
pub(crate) fn write(programs: &Path, to: &Path, version: &str, epoch: i64) -> io::Result<()> {
    changelog(to, version, epoch)?;
    let prerm = to.join("DEBIAN/prerm");
    stage::write(&prerm, include_bytes!("prerm"))?;
    std::fs::set_permissions(&prerm, std::fs::Permissions::from_mode(0o755))?;
    let architecture = output(Command::new("dpkg").arg("--print-architecture"))?;
    let text = format!(
        "Package: handoffd\nVersion: {version}\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {}\nDepends: libc6 (>= {}), libgcc-s1\nSuggests: nodejs\nSection: devel\nPriority: optional\nHomepage: {}\n\
         Description: hands tasks from one coding agent to another through a file\n \
         A planner writes one task into a project's tasks.json; when the worker's\n \
         session is idle, handoffd gives it the task, checks its report and writes\n \
         the end of the task into the same file. One daemon for each user.\n .\n \
         Nothing is started by installing it: \"handoff service install\" does that.\n",
        architecture.trim(),
        installed_kib(to)?,
        glibc(programs)?,
        env!("CARGO_PKG_REPOSITORY"),
    );
    stage::write(&to.join("DEBIAN/control"), text.as_bytes())
}

/// One entry, which names the document with all of them.
fn changelog(to: &Path, version: &str, epoch: i64) -> io::Result<()> {
    let date = Timestamp::from_second(epoch).map_err(io::Error::other)?.strftime("%a, %d %b %Y %H:%M:%S +0000");
    let text = format!(
        "handoffd ({version}) unstable; urgency=medium\n\n  * See /usr/share/doc/handoffd/CHANGELOG.md.gz.\n\n -- {MAINTAINER}  {date}\n"
    );
    stage::zipped(text.as_bytes(), &to.join(stage::DOC).join("changelog.gz"))
}

/// The size of all files, each rounded up to KiB.
fn installed_kib(folder: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in folder.read_dir()? {
        let entry = entry?;
        sum += match entry.file_type()?.is_dir() {
            true => 1 + installed_kib(&entry.path())?,
            false => entry.metadata()?.len().div_ceil(1024),
        };
    }
    Ok(sum)
}

/// The newest version of the C library that one of the programs asks for. Its names stand as text in the program.
fn glibc(programs: &Path) -> io::Result<String> {
    let mut newest = (2, 17);
    for name in ["handoff", "handoffd"] {
        let bytes = std::fs::read(programs.join(name))?;
        let needle = b"GLIBC_2.";
        for at in bytes.windows(needle.len()).enumerate().filter(|(_, part)| part == needle).map(|(at, _)| at) {
            let digits: String = bytes[at + needle.len()..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .map(|byte| char::from(*byte))
                .collect();
            newest = newest.max((2, digits.parse().unwrap_or(0)));
        }
    }
    Ok(format!("{}.{}", newest.0, newest.1))
}
