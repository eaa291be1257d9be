//! Puts the Pi extension into the program: `handoff init --pi` installs the one that was built with it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What of the package Pi needs, as far as it is there.
const PARTS: [&str; 4] = ["package.json", "README.md", "src", "skills"];

fn main() -> io::Result<()> {
    let folder = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).ok_or_else(|| io::Error::other(format!("{name} is not set")))
    };
    let package = folder("CARGO_MANIFEST_DIR")?.join("../../clients/pi").canonicalize()?;
    let mut files = Vec::new();
    for part in PARTS {
        let path = package.join(part);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
            collect(&path, &mut files)?;
        }
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&package).map_err(io::Error::other)?;
        table += &format!("    ({:?}, include_str!({:?})),\n", text(name)?, text(file)?);
    }
    table += "]\n";
    std::fs::File::create(folder("OUT_DIR")?.join("pi_extension.rs"))?.write_all(table.as_bytes())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in path.read_dir()? {
            collect(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}

fn text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| io::Error::other(format!("{} is not UTF-8", path.display())))
}
