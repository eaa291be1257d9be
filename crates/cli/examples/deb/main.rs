//! Makes the Debian package: `cargo run --release -p cli --example deb -- [--out DIR] [--programs DIR]`.
//!
//! `stage` puts the files into a folder as they will be installed, `control` says what the package is,
//! `version` which one, and `pack` makes one file of it. The same sources make the same bytes (`SOURCE_DATE_EPOCH`, else the date of the last commit). It needs
//! dpkg-deb, gzip and md5sum, which every Debian has.
#![expect(
    clippy::disallowed_methods,
    reason = "a tool of the build starts cargo and dpkg-deb and writes files of its own"
)]

mod control;
mod pack;
mod stage;
mod version;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser as _;

/// Make the Debian package of handoffd
#[derive(Debug, clap::Parser)]
struct Args {
    /// Where the package goes
    #[arg(long, value_name = "DIR", default_value = "target/debian")]
    out: PathBuf,
    /// Where `handoff` and `handoffd` lie, built already [default: they are built now, for release]
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let programs = match &args.programs {
        Some(folder) => std::path::absolute(folder)?,
        None => build(&root)?,
    };
    let out = root.join(&args.out);
    std::fs::create_dir_all(&out)?;
    let staged = tempfile::Builder::new().prefix("handoffd-deb-").tempdir()?;
    stage::all(&root, &programs, staged.path())?;
    let epoch = epoch(&root);
    let version = version::of(&root, env!("CARGO_PKG_VERSION"));
    control::write(&programs, staged.path(), &version, epoch)?;
    let package = pack::pack(staged.path(), &out, &version, epoch)?;
    writeln!(io::stdout(), "{}", package.display())
}

/// Both programs, for release.
fn build(root: &Path) -> io::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["build", "--release", "--locked", "-p", "handoffd", "-p", "cli", "--bins"]);
    run(&mut command)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(root.join(target).join("release"))
}

/// The time of every file in the package, in seconds.
fn epoch(root: &Path) -> i64 {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.trim().parse().ok());
    // A tree without a history is dated with the beginning of this project's first year.
    given.or_else(|| Some(version::head(root)?.0)).unwrap_or(1_767_225_600)
}

/// Runs a program to its end.
fn run(command: &mut Command) -> io::Result<()> {
    let status = command.status().map_err(|error| told(command, &error.to_string()))?;
    if status.success() { Ok(()) } else { Err(told(command, &status.to_string())) }
}

/// What a program says.
fn output(command: &mut Command) -> io::Result<String> {
    let output = command.output().map_err(|error| told(command, &error.to_string()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(told(command, String::from_utf8_lossy(&output.stderr).trim())),
    }
}

fn told(command: &Command, why: &str) -> io::Error {
    io::Error::other(format!("{}: {why}", command.get_program().display()))
}
