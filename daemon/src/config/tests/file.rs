//! The file itself: missing, too large, not text, a link, writable by everyone.

use std::io::Write as _;

use super::*;

fn load(bytes: Option<&[u8]>) -> Result<(Config, Vec<Warning>), Invalid> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    if let Some(bytes) = bytes {
        File::create(&path).unwrap().write_all(bytes).unwrap();
    }
    Config::load(&path, &env())
}

#[test]
fn a_missing_file_and_an_empty_one_are_the_defaults() {
    for bytes in [None, Some(&b""[..]), Some(b"# nothing\n"), Some(b"[task]\n")] {
        assert_eq!(load(bytes).unwrap(), (Config::default(), Vec::new()));
    }
}

#[test]
fn a_given_file_that_is_missing_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("confg.toml");
    let (config, warnings) = Config::load_given(&path, &env()).unwrap();
    assert_eq!(config, Config::default());
    let told: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(told, [format!("{}: does not exist; the defaults are used", path.display())]);
    File::create(&path).unwrap();
    assert_eq!(Config::load_given(&path, &env()).unwrap(), (Config::default(), Vec::new()));
}

#[test]
fn a_file_that_everyone_can_write_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let file = tempfile::NamedTempFile::new().unwrap();
    let set = |mode| std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    for (mode, warned) in [(0o600, 0), (0o644, 0), (0o664, 0), (0o666, 1)] {
        set(mode);
        assert_eq!(Config::load(file.path(), &env()).unwrap().1.len(), warned, "{mode:o}");
    }
}

#[test]
fn sixteen_kib_are_read_and_one_byte_more_is_refused() {
    let comment = vec![b'#'; 16 * 1024];
    assert!(load(Some(&comment)).is_ok());
    for size in [16 * 1024 + 1, 17 * 1024] {
        let error = load(Some(&vec![b'#'; size])).unwrap_err().to_string();
        assert!(error.ends_with("config.toml: is larger than the limit of 16 KiB"), "{error}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_named_with_their_line() {
    let error = load(Some(b"# a\n# \xff\n")).unwrap_err().to_string();
    assert!(error.ends_with("config.toml:2: is not UTF-8 from here on"), "{error}");
}

#[test]
fn a_link_to_the_file_is_followed_and_a_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real"), dir.path().join("config.toml"));
    File::create(&real).unwrap().write_all(b"log.level = 'warn'").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert_eq!(Config::load(&link, &env()).unwrap().0.log.level, LogLevel::Warn);
    assert!(Config::load(dir.path(), &env()).unwrap_err().to_string().ends_with("is not a regular file"));
}

/// Its defaults would be another daemon: with other projects, limits, places.
#[test]
fn a_link_that_leads_nowhere_is_not_the_defaults() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("config.toml");
    std::os::unix::fs::symlink("../dotfiles/handoff.toml", &link).unwrap();
    let expected = format!("{}: is a link to ../dotfiles/handoff.toml, where nothing is", link.display());
    assert_eq!(Config::load(&link, &env()).unwrap_err().to_string(), expected);
    assert_eq!(Config::load_given(&link, &env()).unwrap_err().to_string(), expected);
    let folder = dir.path().join("handoffd");
    std::os::unix::fs::symlink("/nowhere", &folder).unwrap();
    let error = Config::load(&folder.join("config.toml"), &env()).unwrap_err().to_string();
    assert!(error.ends_with(&format!("{} is a link to /nowhere, where nothing is", folder.display())), "{error}");
}
