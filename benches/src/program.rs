//! The program under test: where it lies, and building it, so that a stale one is never measured.
#![expect(clippy::disallowed_methods, reason = "the benchmarks start cargo")]

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Builds `handoffd` with the profile of this program, beside it.
///
/// # Errors
/// It does not build.
pub(crate) fn build() -> Result<PathBuf> {
    let ours = std::env::current_exe().context("cannot tell where this program lies")?;
    let folder = ours.parent().context("this program lies in no folder")?;
    let target = folder.parent().context("this program lies in no target folder")?;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet", "-p", "handoffd", "--bin", "handoffd"]);
    command.arg("--target-dir").arg(target);
    if folder.ends_with("release") {
        command.arg("--release");
    }
    let status = command.status().context("cannot start cargo")?;
    ensure!(status.success(), "handoffd does not build");
    Ok(folder.join("handoffd"))
}
