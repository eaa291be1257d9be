//! Every place, from tables of variables.

use super::*;

fn env(pairs: &[(&str, &str)]) -> Env {
    Env::from_lookup(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into()))
}

fn find(pairs: &[(&str, &str)], config: &str) -> Result<Places, PlacesError> {
    let env = env(pairs);
    let (config, _) = Config::parse(config, Path::new("c"), &env).unwrap();
    Places::find_on("h1".to_owned(), &env, &config)
}

#[test]
fn the_state_folder_has_three_sources_in_order() {
    let check = |pairs: &[(&str, &str)], config: &str, expected: &str| {
        assert_eq!(find(pairs, config).unwrap().state_dir, Path::new(expected));
    };
    let all = [("HOME", "/h"), ("XDG_STATE_HOME", "/st")];
    check(&all, "daemon.state_dir = '/own'", "/own");
    check(&all, "", "/st/handoffd");
    let usual =
        if cfg!(target_os = "macos") { "/h/Library/Application Support/handoffd" } else { "/h/.local/state/handoffd" };
    check(&all[..1], "", usual);
}

#[test]
fn the_socket_has_four_sources_in_order() {
    let check = |pairs: &[(&str, &str)], config: &str, expected: &str, origin| {
        let expected = SocketPlace { path: expected.into(), origin };
        assert_eq!(find(pairs, config).unwrap().socket, expected);
    };
    let all = [("HOME", "/h"), ("XDG_STATE_HOME", "/st"), ("XDG_RUNTIME_DIR", "/run/u"), ("HANDOFFD_SOCKET", "/v/s")];
    let config = "daemon.socket = '/c/s'";
    check(&all, config, "/v/s", SocketOrigin::Variable);
    check(&all[..3], config, "/c/s", SocketOrigin::Config);
    check(&all[..3], "", "/run/u/handoffd/handoffd.sock", SocketOrigin::RuntimeDir);
    check(&all[..2], "", "/st/handoffd/run-h1/handoffd.sock", SocketOrigin::StateDir);
}

#[test]
fn what_belongs_to_one_machine_carries_its_name() {
    let places = find(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s")], "").unwrap();
    let own = [places.owned_file(), places.instance_lock(), places.journal_file(), places.log_dir.clone()];
    for path in own {
        assert!(path.starts_with("/s/handoffd") && path.to_string_lossy().contains("-h1"), "{path:?}");
    }
    assert_eq!(places.projects_file(), Path::new("/s/handoffd/projects.json"));
}

#[test]
fn a_socket_path_that_is_too_long_is_refused_at_once() {
    let deep = format!("/{}", "r".repeat(120));
    let error = find(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", &deep)], "").unwrap_err();
    assert!(matches!(error, PlacesError::SocketPath(_)), "{error}");
}

#[test]
fn missing_homes_and_relative_paths_are_named() {
    let check = |pairs: &[(&str, &str)], expected: &str| {
        assert_eq!(find(pairs, "").unwrap_err().to_string(), expected);
    };
    check(&[], "no home folder is known: set HOME or XDG_STATE_HOME");
    check(&[("HOME", "/h"), ("HANDOFFD_SOCKET", "s")], "HANDOFFD_SOCKET must be an absolute path, not s");
    check(&[("HOME", "/h"), ("HANDOFF_HOME", "t")], "HANDOFF_HOME must be an absolute path, not t");
}

#[test]
fn the_configuration_file_is_given_or_found() {
    let check = |pairs: &[(&str, &str)], given: Option<&str>, expected: &str| {
        let found = config_file(&env(pairs), given.map(Path::new)).unwrap();
        assert_eq!(found, Path::new(expected));
    };
    let all = [("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")];
    check(&all, Some("/x.toml"), "/x.toml");
    check(&all, None, "/c/handoffd/config.toml");
    check(&all[..1], None, "/h/.config/handoffd/config.toml");
    assert!(config_file(&env(&all), Some(Path::new("x.toml"))).unwrap().is_absolute());
    assert!(config_file(&env(&[]), None).is_err());
}

#[test]
fn the_team_home_is_the_variable_then_the_configuration_then_the_data_folder() {
    let check = |pairs: &[(&str, &str)], config: &str, expected: &str| {
        assert_eq!(find(pairs, config).unwrap().team_home, Path::new(expected));
    };
    let all = [("HOME", "/h"), ("XDG_DATA_HOME", "/d"), ("HANDOFF_HOME", "~/t")];
    check(&all, "team.home = '/c'", "/h/t");
    check(&all[..2], "team.home = '/c'", "/c");
    check(&all[..2], "", "/d/handoffd");
    check(&all[..1], "", "/h/.local/share/handoffd");
}

#[test]
fn a_client_without_the_runtime_variable_tries_the_other_places_too() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().to_str().unwrap();
    let places = find(&[("HOME", "/h")], &format!("daemon.state_dir = '{state}'")).unwrap();
    let lock = crate::instance::Instance::acquire(&places.instance_lock(), Path::new("/run/u/s")).unwrap();
    let candidates = places.socket_candidates();
    let origins: Vec<_> = candidates.iter().map(|place| place.origin).collect();
    let mut expected = vec![SocketOrigin::StateDir, SocketOrigin::InstanceLock];
    if cfg!(target_os = "linux") {
        expected.push(SocketOrigin::UsualRuntimeDir);
    }
    assert_eq!(origins, expected);
    assert_eq!(candidates[1].path, Path::new("/run/u/s"));
    drop(lock);
}

#[test]
fn a_socket_that_the_user_named_is_the_only_place() {
    let places = find(&[("HOME", "/h"), ("HANDOFFD_SOCKET", "/v/s")], "").unwrap();
    assert_eq!(places.socket_candidates(), [places.socket]);
}

#[test]
fn preparing_makes_private_folders() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (state, run) = (dir.path().join("st"), dir.path().join("run"));
    let pairs =
        [("HOME", "/h"), ("XDG_STATE_HOME", state.to_str().unwrap()), ("XDG_RUNTIME_DIR", run.to_str().unwrap())];
    find(&pairs, "").unwrap().prepare().unwrap();
    for made in [state.join("handoffd"), run.join("handoffd")] {
        assert_eq!(std::fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
