//! The unit files: verified, never lost, with stable paths, from a package or from here.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Test;
use crate::fixture::{Home, SERVICE, SOCKET, put_programs, said};

pub(crate) const TESTS: &[Test] = &[
    ("units_have_no_warnings", units_have_no_warnings),
    ("an_edited_unit_is_kept_and_the_difference_shown", an_edited_unit_is_kept_and_the_difference_shown),
    ("a_unit_that_is_a_link_is_not_lost", a_unit_that_is_a_link_is_not_lost),
    (
        "a_unit_that_leads_to_another_name_is_enabled_by_that_name",
        a_unit_that_leads_to_another_name_is_enabled_by_that_name,
    ),
    ("a_unit_that_was_emptied_is_masked_and_told_so", a_unit_that_was_emptied_is_masked_and_told_so),
    ("a_folder_in_place_of_a_unit_is_told", a_folder_in_place_of_a_unit_is_told),
    ("drop_ins_are_respected", drop_ins_are_respected),
    ("odd_paths_can_be_started", odd_paths_can_be_started),
    ("f134_an_upgrade_behind_a_link_is_found", f134_an_upgrade_behind_a_link_is_found),
    ("a_package_brings_its_own_units", a_package_brings_its_own_units),
];

impl Home {
    /// Names of all files below the folder of units.
    pub(crate) fn written(&self) -> Vec<String> {
        let mut files = Vec::new();
        gather(&self.units(), &mut files);
        let names = files.iter().filter(|path| !path.is_symlink());
        names.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { gather(&path, files) } else { files.push(path) }
    }
}

fn verify(units: &[PathBuf]) {
    let said = said(Command::new("systemd-analyze").args(["--user", "verify"]).args(units));
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "", ""), "{units:?}");
}

fn units_have_no_warnings() {
    let home = Home::installed();
    verify(&[home.units().join(SERVICE), home.units().join(SOCKET)]);
}

fn an_edited_unit_is_kept_and_the_difference_shown() {
    let home = Home::installed();
    let unit = home.units().join(SERVICE);
    let edited = fs::read_to_string(&unit).unwrap().replace("TimeoutStopSec=30s", "TimeoutStopSec=31s");
    fs::write(&unit, &edited).unwrap();
    let said = home.handoff(&["service", "install"]).good();
    assert!(said.err.contains("-TimeoutStopSec=31s") && said.err.contains("+TimeoutStopSec=30s"), "{said:?}");
    assert_eq!(fs::read_to_string(&unit).unwrap(), edited);
    assert_eq!(home.show(SERVICE, "TimeoutStopUSec"), "31s", "it is in force, as the person wanted");
    let said = home.handoff(&["service", "install", "--replace"]).good();
    assert!(said.err.contains("-TimeoutStopSec=31s"), "{said:?}");
    assert_ne!(fs::read_to_string(&unit).unwrap(), edited);
    fs::write(&unit, &edited).unwrap();
    let said = home.handoff(&["service", "uninstall"]).good();
    assert!(said.err.contains("TimeoutStopSec=31s") && !unit.exists(), "{said:?}");
}

fn a_unit_that_is_a_link_is_not_lost() {
    let home = Home::installed();
    let (unit, own) = (home.units().join(SERVICE), home.path("dotfiles/handoffd.service"));
    fs::create_dir(own.parent().unwrap()).unwrap();
    let text = fs::read_to_string(&unit).unwrap();
    fs::write(&own, &text).unwrap();
    fs::remove_file(&unit).unwrap();
    symlink(&own, &unit).unwrap();
    let said = home.handoff(&["service", "install"]).good();
    assert!(said.out.contains(&format!("as it should be: {}", unit.display())), "{said:?}");
    let edited = text.replace("TimeoutStopSec=30s", "TimeoutStopSec=31s");
    fs::write(&own, &edited).unwrap();
    let said = home.handoff(&["service", "install"]).good();
    let words = format!("is a link to {} and stays", own.display());
    assert!(said.err.contains(&words) && said.err.contains("-TimeoutStopSec=31s"), "{said:?}");
    assert_eq!((fs::read_link(&unit).unwrap(), home.show(SERVICE, "TimeoutStopUSec")), (own.clone(), "31s".into()));
    let said = home.handoff(&["service", "status"]).good();
    assert!(said.out.contains("a link that somebody made"), "{said:?}");
    let said = home.handoff(&["service", "install", "--replace"]).good();
    assert!(said.out.contains("in place of the link"), "{said:?}");
    assert_eq!((unit.is_symlink(), fs::read_to_string(&own).unwrap()), (false, edited.clone()));
    fs::remove_file(&unit).unwrap();
    symlink(&own, &unit).unwrap();
    let said = home.handoff(&["service", "uninstall"]).good();
    assert!(said.err.contains("which stays") && !unit.is_symlink(), "{said:?}");
    assert_eq!(fs::read_to_string(&own).unwrap(), edited);
}

fn a_unit_that_leads_to_another_name_is_enabled_by_that_name() {
    let home = Home::installed();
    let (unit, own) = (home.units().join(SERVICE), home.units().join("mine.service"));
    home.systemctl(&["disable", "--now", SERVICE]).good();
    fs::rename(&unit, &own).unwrap();
    symlink("mine.service", &unit).unwrap();
    home.systemctl(&["daemon-reload"]).good();
    let words = "it does not start when you log in, only when a client connects: `handoff service install`";
    home.handoff(&["service", "status"]).failed_with(1, words);
    let said = home.handoff(&["service", "install"]).good();
    assert!(said.out.contains("enabled mine.service and handoffd.socket"), "{said:?}");
    let said = home.handoff(&["service", "status"]).good();
    assert!(said.out.contains("mine.service (a link that somebody made)"), "{said:?}");
    assert!(home.handoff(&["doctor", "--json"]).good().out.contains("mine.service is active"));
    home.handoff(&["service", "uninstall"]).good();
    assert!(own.exists() && !unit.is_symlink());
    assert_eq!((home.state().as_str(), home.show("mine.service", "UnitFileState").as_str()), ("inactive", "disabled"));
    fs::remove_file(own).unwrap();
}

/// As by a full disk. To systemd it is the same as masked.
fn a_unit_that_was_emptied_is_masked_and_told_so() {
    let home = Home::installed();
    let unit = home.units().join(SERVICE);
    fs::write(&unit, "").unwrap();
    let words = format!("{} is empty, which is masked to systemd", unit.display());
    home.handoff(&["service", "status"]).failed_with(1, &words);
    assert!(home.handoff(&["doctor", "--json"]).out.contains(&words));
    home.handoff(&["service", "restart"]).failed_with(4, "systemctl --user unmask handoffd.service");
    home.handoff(&["service", "status"]).failed_with(1, "it runs on until it is stopped");
    home.handoff(&["service", "install"]).failed_with(4, "unmask");
    home.systemctl(&["unmask", SERVICE, SOCKET]).good();
    home.handoff(&["service", "install"]).good();
    home.handoff(&["service", "status"]).good();
}

fn a_folder_in_place_of_a_unit_is_told() {
    let home = Home::installed();
    let unit = home.units().join(SERVICE);
    fs::remove_file(&unit).unwrap();
    fs::create_dir(&unit).unwrap();
    home.systemctl(&["daemon-reload"]).good();
    home.handoff(&["service", "status"]).failed_with(1, "the file of handoffd.service is gone; it runs on");
    assert!(home.handoff(&["doctor", "--json"]).out.contains("the file of handoffd.service is gone"));
    home.handoff(&["service", "install"]).failed_with(4, &format!("`mv {0} {0}.old`, then again", unit.display()));
    let said = home.handoff(&["service", "uninstall"]).good();
    assert!(said.out.contains(&format!("left: {} is no file", unit.display())), "{said:?}");
    assert_eq!(home.state(), "inactive");
    fs::remove_dir(&unit).unwrap();
    home.handoff(&["service", "install"]).good();
}

fn drop_ins_are_respected() {
    let home = Home::installed();
    home.drop_in("[Service]\nNice=7\n");
    home.handoff(&["service", "install"]).good();
    assert_eq!(home.show(SERVICE, "Nice"), "7");
    let said = home.handoff(&["service", "uninstall"]).good();
    assert!(said.out.contains("left: your own settings in"), "{said:?}");
    assert_eq!(home.written(), ["50-own.conf"]);
}

fn odd_paths_can_be_started() {
    let home = Home::with_programs_in("app $HOME 50% ü ; #/bin");
    home.handoff(&["service", "install"]).good();
    let running = fs::read_link(format!("/proc/{}/exe", home.pid())).unwrap();
    assert_eq!(running, home.program("handoffd"));
    home.systemctl(&["reload", SERVICE]).good();
    home.handoff(&["service", "status"]).good();
    let refused = Home::with_programs_in("app 'q'/bin");
    refused.handoff(&["service", "install"]).failed_with(2, "systemd does not start a program with this path");
    assert_eq!(refused.written(), [""; 0]);
}

fn f134_an_upgrade_behind_a_link_is_found() {
    let home = Home::new();
    let (one, two, link) = (home.path("app-1"), home.path("app-2"), home.path("current"));
    put_programs(&one);
    symlink(&one, &link).unwrap();
    said(Command::new(link.join("handoff")).args(["service", "install"])).good();
    put_programs(&two);
    fs::remove_file(&link).unwrap();
    symlink(&two, &link).unwrap();
    fs::remove_dir_all(&one).unwrap();
    said(Command::new(link.join("handoff")).args(["service", "restart"])).good();
    let running = fs::read_link(format!("/proc/{}/exe", home.pid())).unwrap();
    assert_eq!(running, two.join("handoffd"));
}

/// Files laid over a folder of the system until dropped, in this namespace only.
struct Over(&'static str);

impl Over {
    fn new(folder: &'static str, files: &Path) -> Self {
        let work = files.with_extension("work");
        fs::create_dir_all(&work).unwrap();
        let options = format!("lowerdir={folder},upperdir={},workdir={}", files.display(), work.display());
        let mounted = said(Command::new("mount").args(["-t", "overlay", "overlay", "-o", &options, folder]));
        mounted.good();
        Self(folder)
    }
}

impl Drop for Over {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.0).status());
    }
}

fn a_package_brings_its_own_units() {
    let scratch = tempfile::tempdir_in("/run").unwrap();
    let (programs, units) = (scratch.path().join("bin"), scratch.path().join("units"));
    put_programs(&programs);
    fs::create_dir(&units).unwrap();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("systemd");
    for unit in [SERVICE, SOCKET] {
        fs::copy(shipped.join(unit), units.join(unit)).unwrap();
    }
    // An earlier installation from source is in the way of the package's unit, and goes.
    let home = Home::installed();
    let _bin = Over::new("/usr/bin", &programs);
    let _lib = Over::new("/usr/lib/systemd/user", &units);
    verify(&[Path::new("/usr/lib/systemd/user").join(SERVICE), Path::new("/usr/lib/systemd/user").join(SOCKET)]);
    let run = |arguments: &[&str]| said(Command::new("/usr/bin/handoff").args(arguments));
    let told = run(&["service", "install"]).good();
    assert!(told.out.contains("comes with the package") && told.out.contains("removed "), "{told:?}");
    assert!(!home.written().iter().any(|name| name.starts_with("handoffd.")), "{:?}", home.written());
    assert_eq!(home.show(SERVICE, "FragmentPath"), "/usr/lib/systemd/user/handoffd.service");
    assert_eq!(fs::read_link(format!("/proc/{}/exe", home.pid())).unwrap(), Path::new("/usr/bin/handoffd"));
    run(&["service", "status"]).good();
    run(&["service", "install"]).good();
    let told = run(&["service", "uninstall"]).good();
    assert!(told.out.contains("belongs to a package"), "{told:?}");
    assert_eq!((home.state().as_str(), home.show(SERVICE, "UnitFileState").as_str()), ("inactive", "disabled"));
}
