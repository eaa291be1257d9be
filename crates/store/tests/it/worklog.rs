//! The work log on real files: what is checked, appended, found again and rotated (D30, D67).

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::sync::Arc;

use queue::DispatchId;
use store::sys::{Call, FaultPlan, Pass, Sys};
use store::{LogError, Rotated, WorkLog};

use crate::support::{ENOSPC, EROFS, Meddler, Project, names, write_by_rename};

const START: &str = "# Notes\n\nread me\n\n## Work log\n";

pub(crate) fn log_path(project: &Project) -> PathBuf {
    project.root.join(".pi/handoff-log.md")
}

pub(crate) fn log(project: &Project, sys: &Sys) -> Result<WorkLog, LogError> {
    let dir = store::ProjectDir::open(&project.root, sys, store::PiFolder::Create).map_err(|error| match error {
        store::OpenError::Io(fault) => LogError::Io(fault),
        other => panic!("{other}"),
    })?;
    WorkLog::new(&Arc::new(dir), WorkLog::DEFAULT_PATH, WorkLog::DEFAULT_HEADING)
}

pub(crate) fn with_log(text: &str) -> Project {
    let project = Project::new();
    fs::write(log_path(&project), text).unwrap();
    project
}

fn text(project: &Project) -> String {
    fs::read_to_string(log_path(project)).unwrap()
}

fn real(project: &Project) -> WorkLog {
    log(project, &Sys::real()).unwrap()
}

fn date() -> jiff::civil::Date {
    jiff::civil::date(2026, 11, 30)
}

#[test]
fn lines_are_appended_one_by_one() {
    let project = with_log(START);
    let mut open = real(&project).open().unwrap();
    open.append("- one").unwrap();
    open.append("- two\nlines\tand \u{1b}[31mcolour").unwrap();
    assert_eq!(text(&project), format!("{START}- one\n- two lines and  [31mcolour\n"));
    assert_eq!(fs::metadata(log_path(&project)).unwrap().len(), text(&project).len() as u64, "nothing reserved shows");
}

#[test]
fn a_missing_line_end_is_not_glued() {
    let project = with_log("## Work log\n- by hand");
    real(&project).open().unwrap().append("- ours").unwrap();
    assert_eq!(text(&project), "## Work log\n- by hand\n- ours\n");
}

#[test]
fn an_edit_between_open_and_append_is_seen() {
    let project = with_log(START);
    let mut open = real(&project).open().unwrap();
    fs::write(log_path(&project), format!("{START}- by hand")).unwrap();
    open.append("- ours").unwrap();
    assert_eq!(text(&project), format!("{START}- by hand\n- ours\n"));
    fs::write(log_path(&project), format!("{START}\n# After\n")).unwrap();
    assert!(matches!(open.append("- no"), Err(LogError::HeadingNotLast { .. })));
    write_by_rename(&log_path(&project), b"## Work log\n- saved by an editor\n");
    open.append("- ours").unwrap();
    assert_eq!(text(&project), "## Work log\n- saved by an editor\n- ours\n");
}

/// The name gets another file between the write and the look at it: the line moves to the new file.
#[test]
fn a_log_that_is_replaced_during_the_append_gets_the_line() {
    let project = with_log(START);
    let path = log_path(&project);
    let kept = path.with_extension("old");
    let old = kept.clone();
    let sys = Meddler::sys(Call::Write, move |number| {
        if number == 0 {
            fs::rename(&path, &old).unwrap();
            fs::write(&path, "## Work log\n- new file\n").unwrap();
        }
    });
    log(&project, &sys).unwrap().open().unwrap().append("- ours").unwrap();
    assert_eq!(text(&project), "## Work log\n- new file\n- ours\n");
    assert_eq!(fs::read_to_string(kept).unwrap(), START, "the old file is as it was");
}

#[test]
fn what_cannot_take_a_line_is_told_before_the_task() {
    let check = |prepare: fn(&Project), expected: &str| {
        let project = Project::new();
        prepare(&project);
        let log = real(&project);
        for error in [log.check().unwrap_err(), log.open().unwrap_err()] {
            assert!(error.to_string().contains(expected), "{error}, not {expected}");
        }
    };
    check(|_| {}, "there is no work log");
    check(|p| fs::write(log_path(p), "text").unwrap(), "no line `## Work log`");
    check(|p| fs::write(log_path(p), "## Work log\n\n## Work log\n").unwrap(), "2 times");
    check(|p| fs::write(log_path(p), "## Work log\n\n# Z\n").unwrap(), "`# Z` follows");
    check(|p| fs::write(log_path(p), b"## Work log\n\xff\n").unwrap(), "not UTF-8");
    check(|p| fs::create_dir(log_path(p)).unwrap(), "not a regular file");
    check(|p| fs::write(log_path(p), vec![b'x'; (4 << 20) + 1]).unwrap(), "full");
    check(
        |p| {
            fs::write(p.root.join("real.md"), START).unwrap();
            symlink(p.root.join("real.md"), log_path(p)).unwrap();
        },
        "without links",
    );
    check(
        |p| {
            fs::write(log_path(p), START).unwrap();
            fs::hard_link(log_path(p), p.root.with_file_name("outside.md")).unwrap();
        },
        "2 hard links",
    );
}

#[test]
fn a_log_that_cannot_be_written_is_told_before_the_task() {
    let project = with_log(START);
    let sys = Sys::gated(Arc::new(FaultPlan::every(Call::Access, Pass::Fail(EROFS))));
    let error = log(&project, &sys).unwrap().check().unwrap_err();
    assert!(matches!(&error, LogError::Io(fault) if fault.raw_os_error() == EROFS), "{error}");
}

#[test]
fn a_hard_link_made_after_the_check_is_refused() {
    let project = with_log(START);
    let mut open = real(&project).open().unwrap();
    fs::hard_link(log_path(&project), project.root.join("second.md")).unwrap();
    assert!(matches!(open.append("- no"), Err(LogError::HardLinked { links: 2, .. })));
    assert_eq!(text(&project), START);
}

#[test]
fn places_outside_and_headings_that_are_none_are_refused() {
    let project = Project::new();
    let dir = Arc::new(project.open());
    for path in ["/etc/x.md", "../x.md", "a/../x.md", "", ".pi/", "./x.md", "a\0b"] {
        assert!(matches!(WorkLog::new(&dir, path, "## X"), Err(LogError::BadPlace { .. })), "{path:?}");
    }
    assert!(matches!(WorkLog::new(&dir, "x.md", "X"), Err(LogError::BadPlace { .. })));
    symlink("/tmp", project.root.join("docs")).unwrap();
    let error = WorkLog::new(&dir, "docs/x.md", "## X").unwrap().check().unwrap_err();
    assert!(matches!(error, LogError::NotRegular(_)), "{error}");
    assert!(WorkLog::new(&dir, "x.md", "## X").unwrap().create().unwrap());
    assert_eq!(fs::read(project.root.join("x.md")).unwrap(), b"## X\n");
}

#[test]
fn creating_makes_the_heading_and_replaces_nothing() {
    let project = Project::new();
    let log = real(&project);
    assert!(log.create().unwrap());
    assert_eq!(text(&project), "## Work log\n");
    log.open().unwrap().append("- line").unwrap();
    assert!(!log.create().unwrap());
    assert_eq!(text(&project), "## Work log\n- line\n");
}

#[test]
fn creating_makes_the_folders_on_the_way_and_follows_no_link() {
    let project = Project::new();
    let dir = Arc::new(project.open());
    let log = |path: &str| WorkLog::new(&dir, path, "## X").unwrap();
    assert!(matches!(log("docs/notes/x.md").check(), Err(LogError::Missing(_))));
    assert!(log("docs/notes/x.md").create().unwrap() && log("docs/notes/x.md").check().is_ok());
    symlink("docs", project.root.join("link")).unwrap();
    assert!(matches!(log("link/new/x.md").create(), Err(LogError::NotRegular(_))));
    assert!(!project.root.join("docs/new").exists());
}

#[test]
fn a_short_append_is_cut_back() {
    let project = with_log(START);
    let sys = Sys::gated(Arc::new(FaultPlan::every(Call::Write, Pass::Short(3))));
    let error = log(&project, &sys).unwrap().open().unwrap().append("- ours").unwrap_err();
    assert!(matches!(error, LogError::ShortWrite(_)), "{error}");
    assert_eq!(text(&project), START);
}

/// Cutting back must never take what somebody else appended meanwhile.
#[test]
fn a_strangers_line_is_not_cut_away() {
    let project = with_log(START);
    let path = log_path(&project);
    let strange = Meddler::sys(Call::Sync, move |_| {
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, b"- a stranger's\n").unwrap();
        fs::hard_link(&path, path.with_extension("second")).unwrap();
    });
    let error = log(&project, &strange).unwrap().open().unwrap().append("- ours").unwrap_err();
    assert!(matches!(error, LogError::NotCutBack { .. }), "{error}");
    assert_eq!(text(&project), format!("{START}- ours\n- a stranger's\n"));
}

#[test]
fn a_full_disk_is_noticed_before_anything_is_complete() {
    let project = with_log(START);
    let sys = Sys::gated(Arc::new(FaultPlan::every(Call::Reserve, Pass::Fail(ENOSPC))));
    assert!(matches!(log(&project, &sys).unwrap().open(), Err(LogError::Io(_))));
}

#[test]
fn a_long_log_warns_and_one_without_room_for_a_line_is_told_before_the_task() {
    let project = with_log(&format!("{START}{}", "- x\n".repeat(3 << 18)));
    let log = real(&project);
    assert!(log.check().unwrap().warning.unwrap().contains("handoff log rotate"));
    fs::write(log_path(&project), format!("## Work log\n{}\n", "x".repeat((4 << 20) - 14))).unwrap();
    assert!(matches!(log.check(), Err(LogError::Full(_))));
    assert!(matches!(log.open().unwrap().append("- one more"), Err(LogError::Full(_))));
}

#[test]
fn a_rotation_helps_wherever_it_is_advised_and_elsewhere_another_way_is() {
    // Filled beyond its limit by somebody else: what the daemon refuses to read is still rotated.
    let project = with_log(&format!("# Notes\n\n## Work log\n{}\n", "- x\n".repeat(5 << 18)));
    let log = real(&project);
    let error = log.check().unwrap_err();
    assert_eq!(log.remedy(&error).as_deref(), Some("handoff log rotate"), "{error}");
    assert!(matches!(log.rotate(date()).unwrap(), Rotated::Moved(_)));
    assert!(log.check().unwrap().warning.is_none());
    assert_eq!(text(&project), "# Notes\n\n## Work log\n");

    for size in [None, Some((64 << 20) + 1)] {
        fs::write(log_path(&project), format!("{}\n## Work log\n- x\n", "x\n".repeat(2 << 20))).unwrap();
        if let Some(size) = size {
            fs::File::options().write(true).open(log_path(&project)).unwrap().set_len(size).unwrap();
        }
        let error = log.check().unwrap_err();
        assert!(matches!(error, LogError::FullOfOther(_)), "{error}");
        let path = log_path(&project).canonicalize().unwrap().display().to_string();
        let remedy = log.remedy(&error).unwrap();
        assert!(remedy.starts_with(&format!("mv {path} {path}.old && handoff init ")), "{remedy}");
        assert!(matches!(log.rotate(date()), Err(LogError::FullOfOther(_))));
    }
    fs::write(log_path(&project), format!("{}\n## Work log\n- x\n", "x\n".repeat(3 << 19))).unwrap();
    let warning = log.check().unwrap().warning.unwrap();
    assert!(warning.contains("above its heading") && !warning.contains("rotate"), "{warning}");
}

#[test]
fn what_is_in_the_way_is_put_aside_under_a_name_that_is_free() {
    let project = with_log("text");
    fs::remove_file(log_path(&project)).unwrap();
    fs::create_dir(log_path(&project)).unwrap();
    let log = real(&project);
    let remedy = || log.remedy(&log.check().unwrap_err()).unwrap();
    assert!(remedy().contains("handoff-log.md.old && handoff init"), "{}", remedy());
    fs::write(log_path(&project).with_file_name("handoff-log.md.old"), "mine").unwrap();
    assert!(remedy().contains("handoff-log.md.old-2 && handoff init"), "{}", remedy());
}

#[test]
fn recovery_finds_the_lines_that_are_missing() {
    let id = DispatchId::from_random;
    let project = with_log(&format!("{START}- early [{}]\n{}", id(1), "- filler line\n".repeat(6000)));
    let log = real(&project);
    log.open().unwrap().append(&format!("- done [{}]", id(2))).unwrap();
    let lines = [1, 2, 3].map(|number| (id(number), format!("- line {number}")));
    let missing: Vec<&str> = log.missing_lines(&lines).unwrap().iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(missing, ["- line 1", "- line 3"], "only the last 64 KiB are looked through");
}

#[test]
fn rotation_moves_the_lines_and_keeps_the_text_above() {
    let project = with_log(&format!("{START}- one\n- two\n"));
    fs::set_permissions(log_path(&project), fs::Permissions::from_mode(0o640)).unwrap();
    let log = real(&project);
    let first = project.root.join(".pi/handoff-log-2026-11-30.md");
    assert_eq!(log.rotate(date()).unwrap(), Rotated::Moved(first.clone()));
    assert_eq!(text(&project), START);
    assert_eq!(fs::read_to_string(&first).unwrap(), "## Work log\n- one\n- two\n");
    assert_eq!(fs::metadata(log_path(&project)).unwrap().mode() & 0o7777, 0o640);
    assert_eq!(log.rotate(date()).unwrap(), Rotated::Nothing);
    log.open().unwrap().append("- three").unwrap();
    let second = project.root.join(".pi/handoff-log-2026-11-30-2.md");
    assert_eq!(log.rotate(date()).unwrap(), Rotated::Moved(second));
    assert_eq!(fs::read_to_string(first).unwrap(), "## Work log\n- one\n- two\n", "an archive is never replaced");
}

#[test]
fn a_save_during_the_rotation_wins() {
    let project = with_log(&format!("{START}- one\n"));
    let path = log_path(&project);
    let saved = format!("{START}- one\n- by hand\n");
    let bytes = saved.clone();
    let sys = Meddler::sys(Call::Exchange, move |number| {
        if number == 0 {
            write_by_rename(&path, bytes.as_bytes());
        }
    });
    let outcome = log(&project, &sys).unwrap().rotate(date());
    assert!(matches!(outcome, Err(LogError::Changed(_))), "{outcome:?}");
    assert_eq!(text(&project), saved);
    assert_eq!(names(&project.root.join(".pi")), ["handoff-log.md"]);
}

/// Lines that are appended while the log is rotated end up in the log or in an archive, each once.
#[test]
fn no_line_is_lost_between_append_and_rotation() {
    let project = with_log("## Work log\n");
    const LINES: usize = 60;
    std::thread::scope(|scope| {
        let appender = scope.spawn(|| {
            let log = real(&project);
            for number in 0..LINES {
                log.open().unwrap().append(&format!("- line {number:03}")).unwrap();
            }
        });
        let log = real(&project);
        while !appender.is_finished() {
            log.rotate(date()).unwrap();
        }
        appender.join().unwrap();
    });
    let folder = project.root.join(".pi");
    let all: String = names(&folder).iter().map(|name| fs::read_to_string(folder.join(name)).unwrap()).collect();
    for number in 0..LINES {
        assert_eq!(all.matches(&format!("- line {number:03}\n")).count(), 1, "line {number}");
    }
}
