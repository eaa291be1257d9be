//! Every rule of the configuration, through the two functions that the daemon calls.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::env::Env;
use crate::places::Places;

mod file;

fn env() -> Env {
    Env { home: Some("/home/you".into()), xdg_runtime_dir: Some("/run/user/1000".into()), ..Env::default() }
}

fn parse(text: &str) -> Result<(Config, Vec<Warning>), Invalid> {
    Config::parse(text, Path::new("c.toml"), &env())
}

fn good(text: &str) -> Config {
    let (config, warnings) = parse(text).unwrap();
    assert_eq!(warnings, []);
    config
}

fn settings(config: &Config) -> Settings {
    config.settings(config.projects.first(), &ProjectFile::default())
}

#[track_caller]
fn check_problems(text: &str, expected: &[&str]) {
    let problems: Vec<_> = parse(text).unwrap_err().problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, expected);
}

#[track_caller]
fn check_warnings(text: &str, expected: &[&str]) {
    let warnings: Vec<_> = parse(text).unwrap().1.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, expected);
}

#[test]
fn one_key_changes_nothing_else() {
    let config = good("task.accept_timeout = '5m'");
    let mut expected = settings(&Config::default());
    expected.task.accept_timeout = Duration::from_secs(300);
    assert_eq!(settings(&config), expected);
}

#[test]
fn all_problems_are_named_at_once_with_line_and_key() {
    let text = "[task]\naccept_timeout = 120\nasync_grace = 'soon'\n\n[queue]\nallow_tracked = 'yes'\n[watch]\nmode = 'fast'\n";
    check_problems(
        text,
        &[
            "c.toml:2: `task.accept_timeout` must be a duration in quotes, such as \"30s\" or \"1h 30m\", not an integer",
            "c.toml:3: `task.async_grace` is not a duration such as \"30s\" or \"1h 30m\": expected number at 0",
            "c.toml:6: `queue.allow_tracked` must be true or false, not a string",
            "c.toml:8: `watch.mode` must be one of \"auto\", \"poll\", not \"fast\"",
        ],
    );
}

#[test]
fn wrong_types_are_named() {
    check_problems("task = 3", &["c.toml:1: `task` must be a table, `[task]`, not an integer"]);
    check_problems("log.keep = 1.5", &["c.toml:1: `log.keep` must be an integer from 1 to 1000, not a float"]);
    check_problems(
        "log.max_size = '10 MB'",
        &["c.toml:1: `log.max_size` must be a size such as \"10MiB\" or a number of bytes, not \"10 MB\""],
    );
    check_problems(
        "notify.command = 'beep'",
        &[
            "c.toml:1: `notify.command` must be a list, such as [\"notify-send\", \"handoff\"]: it is run without a shell, \
           not a string",
        ],
    );
    check_problems(
        "daemon.socket = 'run/s'",
        &["c.toml:1: `daemon.socket` must be an absolute path or begin with `~/`, not \"run/s\""],
    );
    check_problems("[project]\npath = '/p'", &["c.toml:1: `project` must be written `[[project]]`, once for each"]);
    check_problems("[[project]]\nname = 'x'", &["c.toml:1: `project[0].path` is missing"]);
}

#[test]
fn a_syntax_error_is_named_with_its_line() {
    let invalid = parse("[task]\nmax_runtime = \n").unwrap_err();
    assert_eq!(invalid.problems[0].line, Some(2));
    let twice = parse("[task]\nmax_runtime = 'off'\nmax_runtime = 'off'\n").unwrap_err();
    assert!(twice.problems[0].to_string().starts_with("c.toml:3: duplicate key"), "{twice}");
}

#[test]
fn nesting_as_deep_as_the_limit_allows_is_refused_without_harm() {
    for deep in ["x = ".to_owned() + &"[".repeat(16_000), "x = ".to_owned() + &"{a=".repeat(5_000), "a.".repeat(8_000)]
    {
        assert!(!parse(&deep).unwrap_err().problems.is_empty());
    }
}

#[test]
fn unknown_keys_are_warnings_with_the_nearest_known_one() {
    check_warnings(
        "colour = 1\n[task]\nacept_timeout = '1m'\n[[project]]\npath = '/p'\nwork_log.headline = 'x'\n[secret]\n",
        &[
            "c.toml:1: `colour` is not a known key; known here: daemon, watch, task, queue, context, work_log, notify, \
             log, secrets, team, project",
            "c.toml:3: `task.acept_timeout` is not a known key; did you mean `task.accept_timeout`?",
            "c.toml:6: `project[0].work_log.headline` is not a known key; did you mean `project[0].work_log.heading`?",
            "c.toml:7: `secret` is not a known key; did you mean `secrets`?",
        ],
    );
}

#[test]
fn durations_are_moved_into_their_range() {
    check_warnings(
        "task.accept_timeout = '0s'\nwatch.sweep_interval = '1ms'\ntask.async_grace = '100000000y'",
        &[
            "c.toml:1: `task.accept_timeout` must be from 1s to 1h; 1s is used",
            "c.toml:2: `watch.sweep_interval` must be from 100ms to 1m; 100ms is used",
            "c.toml:3: `task.async_grace` must be from 1s to 30days; 30days is used",
        ],
    );
    let (config, _) = parse("task.max_runtime = '1000000y'\nlog.keep = 0\nlog.max_size = 1").unwrap();
    assert_eq!(settings(&config).task.max_runtime.duration(), Some(Duration::from_secs(30 * 24 * 3_600)));
    assert_eq!((config.log.keep, config.log.max_size), (1, 64 * 1024));
}

#[test]
fn values_are_read_as_they_are_meant() {
    let config = good(
        "daemon.socket = '~/s'\nlog.max_size = '2 MiB'\nlog.max_total = 0x1_0000_000\nlog.level = 'trace'\n\
         log.format = 'json'\ntask.silence_timeout = '15m 30s'\nnotify.command = ['~/bin/n', '-x']\n\
         context.files = ['./a.md', 'b/./c.md', 'a.md']\nteam.language = 'en'\nwatch.mode = 'poll'",
    );
    assert_eq!(config.daemon.socket.as_deref(), Some(Path::new("/home/you/s")));
    assert_eq!((config.log.max_size, config.log.max_total), (2 << 20, 1 << 28));
    assert_eq!((config.log.level, config.log.format), (LogLevel::Trace, LogFormat::Json));
    assert_eq!((config.team.language, config.watch.mode), (TeamLanguage::English, WatchMode::Poll));
    let settings = settings(&config);
    assert_eq!(settings.task.silence_timeout, TimeLimit::After(Duration::from_secs(930)));
    assert_eq!(settings.notify_command, ["/home/you/bin/n", "-x"]);
    assert_eq!(settings.context.files, ["a.md", "b/c.md"]);
}

#[test]
fn texts_that_could_do_harm_are_refused() {
    for line in [
        "context.files = ['../x']",
        "context.files = ['a/../../x']",
        "context.files = ['/x']",
        "context.files = ['']",
        "context.files = ['d/']",
        "context.files = [\"a\\nb\"]",
        "work_log.path = '.git/log'",
        "work_log.heading = 'Work log'",
        "work_log.heading = '##'",
        "work_log.heading = '####### x'",
        "work_log.heading = \"## a\\n## b\"",
        "notify.command = ['']",
        "notify.command = ['a', 1]",
        "daemon.state_dir = ''",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
    let seventeen = format!("context.files = [{}]", (0..17).map(|n| format!("'{n}',")).collect::<String>());
    check_problems(&seventeen, &["c.toml:1: `context.files` has 17 entries, at most 16 are allowed"]);
}

#[test]
fn one_folder_is_one_project_however_it_is_spelled() {
    check_problems(
        "[[project]]\npath = '/p/a'\n\n[[project]]\npath = '/p//a/'\n",
        &["c.toml:4: `project[1].path` is the folder of line 1 again"],
    );
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let text = format!("[[project]]\npath = '{}'\n[[project]]\npath = '{}'\n", real.display(), link.display());
    check_problems(&text, &["c.toml:3: `project[1].path` is the folder of line 1 again"]);
}

#[test]
fn a_project_comes_before_the_rest_and_the_rest_before_its_own_file() {
    let own = ProjectFile {
        context_files: Some(vec!["own.md".to_owned()]),
        work_log_path: Some("OWN.md".to_owned()),
        work_log_heading: Some("# Own".to_owned()),
    };
    let text = "[task]\nmax_runtime = '1h'\nasync_grace = '2h'\n[work_log]\npath = 'ALL.md'\n\
                [[project]]\npath = '/p'\nname = 'p'\ntask.max_runtime = 'off'\n";
    let config = good(text);
    let settings = config.settings(config.projects.first(), &own);
    assert_eq!(settings.task.max_runtime, TimeLimit::Off);
    assert_eq!(settings.task.async_grace, Duration::from_secs(7_200));
    let expected = WorkLogSettings { path: "ALL.md".to_owned(), heading: "# Own".to_owned() };
    assert_eq!(settings.work_log, expected);
    assert_eq!(settings.context, ContextFiles { files: vec!["own.md".to_owned()], named_by: NamedBy::Project });
    let silenced = good("context.files = []").settings(None, &own);
    assert_eq!(silenced.context, ContextFiles { files: Vec::new(), named_by: NamedBy::User });
}

#[test]
fn names_of_projects_cannot_pass_for_paths_or_options() {
    let check = |name: &str, expected: bool| assert_eq!(check_name(name).is_ok(), expected, "{name:?}");
    for name in ["shop", "Büro 2", "a.b_c-d"] {
        check(name, true);
    }
    for name in ["", "a/b", "-x", ".", "..", "~x", " a", "a\tb", &"x".repeat(65)] {
        check(name, false);
    }
}

/// A value other than the default for each key: `(key, default or another, different)`.
const OTHER: [(&str, &str); 25] = [
    ("daemon.socket", "'/s'"),
    ("daemon.state_dir", "'/s'"),
    ("watch.mode", "'poll'"),
    ("watch.sweep_interval", "'2s'"),
    ("task.accept_timeout", "'3s'"),
    ("task.reconnect_grace", "'3s'"),
    ("task.async_grace", "'3s'"),
    ("task.silence_timeout", "'3s'"),
    ("task.max_runtime", "'3s'"),
    ("queue.allow_tracked", "true"),
    ("context.files", "['x']"),
    ("work_log.path", "'x'"),
    ("work_log.heading", "'# x'"),
    ("notify.command", "['x']"),
    ("notify.timeout", "'3s'"),
    ("log.dir", "'/x'"),
    ("log.level", "'warn'"),
    ("log.format", "'json'"),
    ("log.max_size", "'1MiB'"),
    ("log.max_total", "'1MiB'"),
    ("log.keep", "3"),
    ("secrets.check", "false"),
    ("team.home", "'/x'"),
    ("team.language", "'en'"),
    ("project.enabled", "false"),
];

#[test]
fn a_reload_sees_the_change_of_every_key() {
    let keys: Vec<String> = known_keys().into_iter().filter(|key| !key.starts_with("project.")).collect();
    for key in &keys {
        let (_, value) = OTHER.iter().find(|(other, _)| other == key).unwrap_or_else(|| panic!("no value for {key}"));
        let changes = Changes::between(&Config::default(), &good(&format!("{key} = {value}")));
        let told: Vec<_> = changes.restart.iter().chain(&changes.live).copied().collect();
        assert_eq!(told, [key]);
        assert!(!changes.is_empty() && changes.projects.is_empty());
    }
}

#[test]
fn a_reload_sees_which_projects_are_new_gone_or_different() {
    let all = "[[project]]\npath = '/a'\n[[project]]\npath = '/b'\n[[project]]\npath = '/c'\n";
    let other =
        "# moved\n[[project]]\npath = '/c'\nenabled = false\n[[project]]\npath = '/d'\n[[project]]\npath = '/a'\n";
    let changes = Changes::between(&good(all), &good(other));
    assert_eq!(changes.projects, ["/b", "/c", "/d"].map(PathBuf::from));
    assert!(changes.restart.is_empty() && changes.live.is_empty());
    assert!(Changes::between(&good(all), &good(&format!("\n\n{all}"))).is_empty());
}

const EXAMPLE: &str = include_str!("../../../config.example.toml");

/// The example with every key switched on: a `#` right before a key or a table is taken away.
fn example_switched_on() -> String {
    let on = |line: &str| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '[') => rest.to_owned(),
        _ => line.to_owned(),
    };
    EXAMPLE.lines().map(on).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_as_shipped_changes_nothing() {
    assert_eq!(good(EXAMPLE), Config::default());
}

#[test]
fn the_example_shows_every_key_with_its_default() {
    let text = example_switched_on();
    let config = good(&text);
    let default = Config::default();
    let none = ProjectFile::default();
    assert_eq!(config.settings(None, &none), default.settings(None, &none));
    assert_eq!((&config.watch, &config.secrets), (&default.watch, &default.secrets));
    assert_eq!(LogConfig { dir: None, ..config.log.clone() }, default.log);
    let places = Places::find_on("HOST".to_owned(), &env(), &default).unwrap();
    if cfg!(target_os = "linux") {
        assert_eq!(config.daemon.state_dir, Some(places.state_dir));
        assert_eq!(config.log.dir, Some(places.log_dir));
    }
    assert_eq!(config.daemon.socket, Some(places.socket.path));
    assert_eq!(config.team, TeamConfig { home: Some(places.team_home), ..default.team });
    let shown = shown_keys(&text);
    assert_eq!(shown, known_keys().into_iter().collect());
}

/// The dotted keys that a document holds; `[[project]]` counts as `project`.
fn shown_keys(text: &str) -> std::collections::BTreeSet<String> {
    let mut keys = std::collections::BTreeSet::new();
    let mut table = String::new();
    for line in text.lines() {
        if let Some(name) = line.trim_matches(['[', ']']).split('[').next().filter(|_| line.starts_with('[')) {
            table = format!("{name}.");
        } else if let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
            keys.insert(format!("{table}{key}"));
        }
    }
    keys
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    /// A file that was cut, or in which a line was changed, is read or refused with words, never more.
    #[test]
    fn no_damage_to_a_file_makes_it_panic(line in 0..90_usize, at in 0..60_usize, noise in any::<String>()) {
        let mut lines: Vec<String> = example_switched_on().lines().map(str::to_owned).collect();
        let count = lines.len();
        let chosen = &mut lines[line % count];
        let at = chosen.char_indices().map(|(index, _)| index).nth(at).unwrap_or(chosen.len());
        chosen.insert_str(at, &noise);
        if let Err(invalid) = parse(&lines.join("\n")) {
            prop_assert!(invalid.problems.iter().all(|problem| !problem.message.is_empty()));
            prop_assert!(!invalid.problems.is_empty());
        }
    }
}
