//! What the package holds, and where each file is installed.

use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap_complete::Shell;

use crate::told;

pub(crate) const DOC: &str = "usr/share/doc/handoffd";
const SHARE: &str = "usr/share/handoffd";
/// What of a client is not for its users.
const NOT_SHIPPED: [&str; 12] = [
    "test",
    "lab",
    "scripts",
    "node_modules",
    "target",
    ".gitignore",
    ".npmrc",
    "package-lock.json",
    "tsconfig.json",
    "dist",
    "coverage",
    ".git",
];

/// Puts everything into `to`.
pub(crate) fn all(root: &Path, programs: &Path, to: &Path) -> io::Result<()> {
    for name in ["handoff", "handoffd"] {
        let program = to.join("usr/bin").join(name);
        copy(&programs.join(name), &program)?;
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    }
    for name in ["handoffd.service", "handoffd.socket"] {
        copy(&root.join("systemd").join(name), &to.join("usr/lib/systemd/user").join(name))?;
    }
    completions(to)?;
    manual(to)?;
    for client in ["pi", "claude-code"] {
        tree(&root.join("clients").join(client), &to.join(SHARE).join("clients").join(client))?;
    }
    // Placed as in the repository: they lead to each other.
    for name in ["README.md", "config.example.toml"] {
        copy(&root.join(name), &to.join(DOC).join(name))?;
    }
    tree(&root.join("docs"), &to.join(DOC).join("docs"))?;
    zipped(&std::fs::read(root.join("CHANGELOG.md"))?, &to.join(DOC).join("CHANGELOG.md.gz"))?;
    copyright(root, &to.join(DOC).join("copyright"))
}

fn completions(to: &Path) -> io::Result<()> {
    for (shell, path) in [
        (Shell::Bash, "usr/share/bash-completion/completions/handoff"),
        (Shell::Zsh, "usr/share/zsh/vendor-completions/_handoff"),
        (Shell::Fish, "usr/share/fish/vendor_completions.d/handoff.fish"),
    ] {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut cli::command(), "handoff", &mut script);
        write(&to.join(path), &script)?;
    }
    Ok(())
}

/// A page for each command.
fn manual(to: &Path) -> io::Result<()> {
    let made = tempfile::tempdir()?;
    clap_mangen::generate_to(cli::command(), made.path())?;
    clap_mangen::generate_to(handoffd::program::command(), made.path())?;
    for page in made.path().read_dir()? {
        let page = page?;
        let name = format!("{}.gz", page.file_name().to_string_lossy());
        zipped(&std::fs::read(page.path())?, &to.join("usr/share/man/man1").join(name))?;
    }
    Ok(())
}

/// The files of a folder, without what is for developers.
fn tree(from: &Path, to: &Path) -> io::Result<()> {
    for entry in from.read_dir()? {
        let entry = entry?;
        let name = entry.file_name();
        if NOT_SHIPPED.iter().any(|not| name == *not) {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => tree(&entry.path(), &to.join(name))?,
            false => copy(&entry.path(), &to.join(name))?,
        }
    }
    Ok(())
}

/// Both licences in the form that Debian asks for. Apache's text lies on every Debian.
fn copyright(root: &Path, to: &Path) -> io::Result<()> {
    let mit = std::fs::read_to_string(root.join("LICENSE-MIT"))?;
    let indented = |text: &str| {
        text.trim()
            .lines()
            .map(|line| if line.is_empty() { " .\n".to_owned() } else { format!(" {line}\n") })
            .collect::<String>()
    };
    let source = env!("CARGO_PKG_REPOSITORY");
    let text = format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: handoffd\nSource: {source}\n\n\
         Files: *\nCopyright: the handoffd contributors\nLicense: MIT or Apache-2.0\n\nLicense: MIT\n{}\n\
         License: Apache-2.0\n On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.\n",
        indented(&mit)
    );
    write(to, text.as_bytes())
}

/// As `gzip -9n` makes it: without a name or a date.
pub(crate) fn zipped(bytes: &[u8], to: &Path) -> io::Result<()> {
    let mut gzip = Command::new("gzip");
    gzip.args(["-9n", "-c"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = gzip.spawn().map_err(|error| told(&gzip, &error.to_string()))?;
    let mut input = child.stdin.take().ok_or_else(|| told(&gzip, "has no input"))?;
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| told(&gzip, "was not written to"))??;
    if output.status.success() { write(to, &output.stdout) } else { Err(told(&gzip, "failed")) }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let bytes =
        std::fs::read(from).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", from.display())))?;
    write(to, &bytes)
}

/// Readable for everybody, whatever the mask of whoever builds.
pub(crate) fn write(to: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder: PathBuf = to.parent().unwrap_or(Path::new("/")).to_owned();
    std::fs::create_dir_all(&folder)?;
    std::fs::write(to, bytes)?;
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o644))
}
