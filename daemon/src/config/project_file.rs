//! A project's own `.pi/handoff.toml`: `context.files` and `work_log`, nothing else.
//!
//! It may come with a stranger's repository: it is bounded, no link on the way is followed, it cannot start a
//! program, lift a hold or widen a limit, and every other key is told and ignored.

use std::path::Path;

use super::MAX_CONFIG;
use super::overrides::read_project_keys;
use super::problem::{Finding, Warning};
use super::read::Invalid;
use super::reader::{Findings, Section};
use crate::files::{FileError, Links, read_bounded};

/// The file, relative to the project's root.
pub const PROJECT_FILE: &str = ".pi/handoff.toml";

/// What the file says; `Default` is a file that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectFile {
    /// `context.files` (D68)
    pub context_files: Option<Vec<String>>,
    /// `work_log.path` (D30)
    pub work_log_path: Option<String>,
    /// `work_log.heading` (D30)
    pub work_log_heading: Option<String>,
}

impl ProjectFile {
    /// Reads the file below a project's root; one that does not exist is an empty one.
    ///
    /// # Errors
    /// [`Invalid`]: a link in place of `.pi` or of the file, not a regular file, over 16 KiB, or what
    /// [`ProjectFile::parse`] refuses.
    pub fn load(root: &Path) -> Result<(Self, Vec<Warning>), Invalid> {
        let path = root.join(PROJECT_FILE);
        let invalid = |message: String| {
            let problem = Finding { file: path.clone(), line: None, key: None, message };
            Invalid { problems: vec![problem], warnings: Vec::new() }
        };
        let folder_is_link = root.join(".pi").symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        if folder_is_link {
            return Err(invalid("is reached through a link in place of `.pi`, which is not followed".to_owned()));
        }
        match read_bounded(&path, MAX_CONFIG, Links::Refuse) {
            Ok(bytes) => Self::parse(&bytes.unwrap_or_default(), &path),
            Err(FileError::TooLarge { .. }) => Err(invalid("is larger than the limit of 16 KiB".to_owned())),
            Err(FileError::NotRegular(_)) => Err(invalid("is not a regular file".to_owned())),
            Err(error) => Err(invalid(error.to_string())),
        }
    }

    /// Reads the bytes of the file; `path` is for messages.
    ///
    /// # Errors
    /// [`Invalid`]: not UTF-8, not TOML, or a value that its key does not take.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<(Self, Vec<Warning>), Invalid> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            let message = "is not UTF-8".to_owned();
            let problem = Finding { file: path.to_path_buf(), line: None, key: None, message };
            return Err(Invalid { problems: vec![problem], warnings: Vec::new() });
        };
        let mut findings = Findings::new(path, text);
        let table = findings.parse();
        let mut root = Section::root(&table);
        let (context_files, [work_log_path, work_log_heading]) = read_project_keys(&mut root, &mut findings);
        root.finish(&mut findings);
        findings.conclude(Self { context_files, work_log_path, work_log_heading })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write as _;

    fn parse(text: &str) -> Result<(ProjectFile, Vec<Warning>), Invalid> {
        ProjectFile::parse(text.as_bytes(), Path::new("/p/.pi/handoff.toml"))
    }

    #[test]
    fn its_three_keys_are_read() {
        let (file, warnings) =
            parse("context.files = ['docs/a.md']\n[work_log]\npath = 'LOG.md'\nheading = '# Done'").unwrap();
        assert_eq!(warnings, []);
        let expected = ProjectFile {
            context_files: Some(vec!["docs/a.md".to_owned()]),
            work_log_path: Some("LOG.md".to_owned()),
            work_log_heading: Some("# Done".to_owned()),
        };
        assert_eq!(file, expected);
    }

    #[test]
    fn a_repository_cannot_start_programs_or_lift_a_hold() {
        let (file, warnings) =
            parse("queue.allow_tracked = true\nnotify.command = ['rm']\ntask.accept_timeout = '1h'").unwrap();
        assert_eq!(file, ProjectFile::default());
        let keys: Vec<_> = warnings.iter().filter_map(|warning| warning.key.as_deref()).collect();
        assert_eq!(keys, ["queue", "notify", "task"]);
    }

    #[test]
    fn paths_out_of_the_project_and_files_of_git_are_refused() {
        for line in [
            "context.files = ['../secret']",
            "context.files = ['/etc/passwd']",
            "context.files = ['~/.ssh/id_rsa']",
            "context.files = ['a\\u0000b']".replace('\'', "\"").as_str(),
            "work_log.path = '.git/config'",
            "work_log.path = 'sub/.GIT/hooks/post-commit'",
            "work_log.path = 'tasks.json'",
            "work_log.path = '.pi/pi-claude-handoff.lock.guard'",
            "work_log.path = 'a/'",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn links_and_large_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("p");
        std::fs::create_dir_all(root.join(".pi")).unwrap();
        assert_eq!(ProjectFile::load(&root).unwrap().0, ProjectFile::default());
        let secret = dir.path().join("secret.toml");
        std::fs::File::create(&secret).unwrap().write_all(b"work_log.path = 'x'").unwrap();
        let file = root.join(PROJECT_FILE);
        std::os::unix::fs::symlink(&secret, &file).unwrap();
        assert!(ProjectFile::load(&root).unwrap_err().to_string().ends_with("is not a regular file"));
        std::fs::remove_file(&file).unwrap();
        std::fs::File::create(&file).unwrap().write_all(&vec![b'#'; 17 * 1024]).unwrap();
        assert!(ProjectFile::load(&root).unwrap_err().to_string().contains("16 KiB"));
        std::fs::remove_dir_all(root.join(".pi")).unwrap();
        std::os::unix::fs::symlink(dir.path(), root.join(".pi")).unwrap();
        assert!(ProjectFile::load(&root).unwrap_err().to_string().contains("link in place of `.pi`"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let result = ProjectFile::parse(&bytes, Path::new("x"));
            prop_assert!(result.is_ok() || !result.unwrap_err().problems.is_empty());
        }
    }
}
