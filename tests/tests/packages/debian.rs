//! The Debian package: made by one command, the same twice, installed, used, removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use handoffd_tests::binaries::binaries;
use tempfile::TempDir;

use crate::root::Root;
use crate::{cargo, good, repository, slow};

/// Makes the package in `out`, of the programs under test.
fn make(out: &Path) -> PathBuf {
    let mut command = cargo();
    command.args(["run", "--quiet", "--locked", "-p", "cli", "--example", "deb", "--", "--out"]).arg(out);
    command.arg("--programs").arg(binaries().handoff.parent().unwrap()).env("SOURCE_DATE_EPOCH", "1767225600");
    // Programs for tests are large and need not be small here.
    command.env("DPKG_DEB_COMPRESSOR_LEVEL", "1");
    if binaries().handoff.parent().unwrap().ends_with("release") {
        command.arg("--release");
    }
    let told = good(&mut command);
    PathBuf::from(told.lines().last().unwrap())
}

/// The package that most tests install.
fn package() -> &'static Path {
    static MADE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let out = tempfile::tempdir().unwrap();
        let package = make(out.path());
        (out, package)
    });
    &made.1
}

#[test]
fn lintian_has_nothing_to_say_but_that_programs_for_tests_have_symbols() {
    if !possible() || !has("lintian") {
        return;
    }
    let mut lintian = Command::new("lintian");
    lintian.args(["--no-cfg", "--allow-root", "--fail-on", "none", "--suppress-tags", "unstripped-binary-or-object"]);
    let told = good(lintian.arg(package()));
    assert_eq!(told.trim(), "");
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Where dpkg is not, no Debian package is made either.
fn possible() -> bool {
    let possible = slow() && has("dpkg-deb") && (nix::unistd::getuid().is_root() || has("fakeroot"));
    assert!(possible || !slow() || std::env::var_os("CI").is_none(), "CI needs dpkg-deb, and root or fakeroot");
    possible
}

#[test]
fn the_package_is_the_same_twice_and_holds_what_it_should() {
    if !possible() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let again = make(out.path());
    assert!(fs::read(package()).unwrap() == fs::read(again).unwrap(), "the same sources make other bytes");

    let root = Root::new();
    root.dpkg("-i", package());
    let files = root.files();
    for name in [
        "usr/bin/handoff",
        "usr/bin/handoffd",
        "usr/lib/systemd/user/handoffd.service",
        "usr/lib/systemd/user/handoffd.socket",
        "usr/share/bash-completion/completions/handoff",
        "usr/share/zsh/vendor-completions/_handoff",
        "usr/share/fish/vendor_completions.d/handoff.fish",
        "usr/share/man/man1/handoff.1.gz",
        "usr/share/man/man1/handoffd.1.gz",
        "usr/share/man/man1/handoff-doctor.1.gz",
        "usr/share/man/man1/handoff-packet-list.1.gz",
        "usr/share/doc/handoffd/copyright",
        "usr/share/doc/handoffd/changelog.gz",
        "usr/share/doc/handoffd/CHANGELOG.md.gz",
        "usr/share/doc/handoffd/README.md",
        "usr/share/doc/handoffd/docs/operations.md",
        "usr/share/handoffd/clients/pi/package.json",
        "usr/share/handoffd/clients/pi/src/handoffd/index.ts",
        "usr/share/handoffd/clients/claude-code/.claude-plugin/plugin.json",
    ] {
        assert!(files.iter().any(|file| file == name), "{name} is missing: {files:?}");
    }
    let foreign = files
        .iter()
        .filter(|file| ["/node_modules/", "/test/", "/lab/", "/.npmrc"].iter().any(|part| file.contains(part)));
    assert_eq!(foreign.count(), 0, "what is for developers is not shipped: {files:?}");
    let here = repository().display().to_string();
    for file in files.iter().filter(|file| !file.starts_with("usr/bin/")) {
        let text = String::from_utf8_lossy(&fs::read(root.path(file)).unwrap()).into_owned();
        assert!(!text.contains(&here), "{file} names the folder that it was made in");
    }
    assert_eq!(dead_links(&root), [""; 0]);
    // Each file has the check sum that the package says.
    good(Command::new("md5sum").current_dir(root.path("")).args([
        "--quiet",
        "-c",
        "var/lib/dpkg/info/handoffd.md5sums",
    ]));
}

/// Links of the documents that lead to no file, but to those that have another form in a package.
fn dead_links(root: &Root) -> Vec<String> {
    let elsewhere = ["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE-APACHE", "LICENSE-MIT"];
    let mut dead = Vec::new();
    for file in root.files().iter().filter(|file| file.starts_with("usr/share/doc/") && file.ends_with(".md")) {
        let (path, text) = (root.path(file), fs::read_to_string(root.path(file)).unwrap());
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let leads_nowhere = |link: &&str| !link.contains("://") && !elsewhere.contains(link);
        let gone = links.filter(leads_nowhere).filter(|link| !path.parent().unwrap().join(link).exists());
        dead.extend(gone.map(|link| format!("{file}: {link}")));
    }
    dead
}

#[test]
fn a_package_of_a_clone_is_newer_than_the_release_before_it() {
    if !possible() {
        return;
    }
    let mut field = Command::new("dpkg-deb");
    let version = good(field.arg("--field").arg(package()).arg("Version"));
    let (version, sources) = (version.trim(), env!("CARGO_PKG_VERSION"));
    assert!(package().file_name().unwrap().to_str().unwrap().starts_with(&format!("handoffd_{version}_")));
    if version != sources {
        assert!(version.starts_with(&format!("{sources}+git")), "{version}");
        good(Command::new("dpkg").args(["--compare-versions", version, "gt", sources]));
    }
}

#[test]
fn what_is_installed_works_from_where_it_lies_and_goes_without_a_trace() {
    if !possible() {
        return;
    }
    let root = Root::new();
    root.dpkg("-i", package());
    let version = format!("handoff {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(good(root.program("handoff").arg("--version")), version);
    assert!(good(root.program("handoffd").arg("--version")).starts_with("handoffd "));
    good(root.program("handoffd").arg("--check"));
    let told = good(root.program("handoff").arg("demo"));
    assert!(told.contains("COMPLETE"), "{told}");

    // The extension is taken from the package, not copied.
    fs::create_dir(root.path("home/app")).unwrap();
    good(root.program("handoff").args(["init", "--pi", "--yes"]).current_dir(root.path("home/app")));
    let settings = fs::read_to_string(root.path("home/.pi/agent/settings.json")).unwrap();
    let shared = root.path("usr/share/handoffd/clients/pi").canonicalize().unwrap();
    assert!(settings.contains(&shared.display().to_string()), "{settings}");
    assert!(!root.path("home/.local/share/handoffd/clients").exists());

    good(Command::new("bash").arg("-n").arg(root.path("usr/share/bash-completion/completions/handoff")));
    if has("man") {
        for page in root.files().iter().filter(|file| file.starts_with("usr/share/man/")) {
            let mut man = Command::new("man");
            man.args(["--warnings", "-l"]).arg(root.path(page)).env("MANPAGER", "cat").env("LC_ALL", "C.UTF-8");
            let output = man.output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && told.is_empty() && !output.stdout.is_empty(), "{page}: {told}");
        }
    }
    root.dpkg("-r", Path::new("handoffd"));
    assert_eq!(root.files(), Vec::<String>::new());
}

#[test]
fn every_command_has_a_manual_page_and_help() {
    if !possible() {
        return;
    }
    let root = Root::new();
    root.dpkg("-i", package());
    let help = good(root.program("handoff").arg("help"));
    let commands = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    let names: Vec<&str> = commands.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 25, "{help}");
    for name in names.into_iter().filter(|name| *name != "help") {
        good(root.program("handoff").args(["help", name]));
        let page = root.path(&format!("usr/share/man/man1/handoff-{name}.1.gz"));
        assert!(page.exists(), "there is no page of {name}");
    }
}
