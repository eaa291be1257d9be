//! One file of a staged folder: check sums, one date for everything, and dpkg-deb.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::{output, run, stage};

/// Makes the package in `out`, and names it.
pub(crate) fn pack(staged: &Path, out: &Path, version: &str, epoch: i64) -> io::Result<PathBuf> {
    let files = sums(staged)?;
    stage::write(&staged.join("DEBIAN/md5sums"), files.as_bytes())?;
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(epoch.try_into().unwrap_or_default());
    settle(staged, time)?;
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(staged).arg(out);
    build.env("SOURCE_DATE_EPOCH", epoch.to_string()).stdout(std::process::Stdio::null());
    run(&mut build)?;
    let architecture = output(Command::new("dpkg").arg("--print-architecture"))?;
    Ok(out.join(format!("handoffd_{version}_{}.deb", architecture.trim())))
}

/// As `md5sum` writes them, sorted, with paths as they will be.
fn sums(staged: &Path) -> io::Result<String> {
    let mut paths = Vec::new();
    files(staged, Path::new(""), &mut paths)?;
    paths.retain(|path| !path.starts_with("DEBIAN"));
    paths.sort();
    output(Command::new("md5sum").current_dir(staged).args(paths))
}

fn files(root: &Path, below: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in root.join(below).read_dir()? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() { files(root, &path, paths)? } else { paths.push(path) }
    }
    Ok(())
}

/// One date for every file and folder, and folders that everybody may enter.
fn settle(path: &Path, time: SystemTime) -> io::Result<()> {
    if path.is_dir() {
        for entry in path.read_dir()? {
            settle(&entry?.path(), time)?;
        }
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    std::fs::File::open(path)?.set_modified(time)
}
