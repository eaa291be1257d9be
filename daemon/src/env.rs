//! The process environment, read once at start into a plain value that everything else is given.
//!
//! This is the only module that asks the system for environment variables: code that needs one takes it from
//! [`Env`], so that a test can be hermetic and a reader can see here all that handoffd listens to. Nothing is decided
//! here; which folder follows from which variable is the business of `places`.

use std::ffi::OsString;
use std::path::PathBuf;

/// What handoffd takes from the environment. Names that are empty count as not set. Values may be any bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Env {
    /// `HOME`, else the home of this user in the password database (a service or cron job may have no `HOME`).
    pub home: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`; a relative path is ignored, as the XDG specification asks.
    pub xdg_runtime_dir: Option<PathBuf>,
    /// `XDG_STATE_HOME`; a relative path is ignored.
    pub xdg_state_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`; a relative path is ignored.
    pub xdg_config_home: Option<PathBuf>,
    /// `XDG_DATA_HOME`; a relative path is ignored.
    pub xdg_data_home: Option<PathBuf>,
    /// `HANDOFFD_SOCKET`, as written: a relative path is refused later, with its name.
    pub handoffd_socket: Option<PathBuf>,
    /// `HANDOFFD_SUPERVISOR`: who started the daemon, where that one cannot be told otherwise (`launchd`).
    pub handoffd_supervisor: Option<OsString>,
    /// `HANDOFF_HOME`, the home of team packets (D36), as written.
    pub handoff_home: Option<PathBuf>,
    /// `HANDOFF_AGENT_ID` of an MCP server's process (D36).
    pub handoff_agent_id: Option<OsString>,
    /// `HANDOFF_MCP_KEY`: given at all, the team door refuses (D75).
    pub handoff_mcp_key: Option<OsString>,
    /// `CLAUDE_PROJECT_DIR`, the folder of the Claude Code session that started us; a relative path is ignored.
    pub claude_project_dir: Option<PathBuf>,
    /// `PI_CODING_AGENT_DIR`, as written; [`Env::pi_agent_dir`] adds the default.
    pub pi_coding_agent_dir: Option<PathBuf>,
    /// `PI_SUBAGENT_EXTRA_AGENT_DIRS`, as written: the profile reader splits it as the package does.
    pub pi_subagent_extra_agent_dirs: Option<OsString>,
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `TERM`, to know a terminal that can do nothing (`dumb`).
    pub term: Option<OsString>,
    /// `JOURNAL_STREAM`, `device:inode` of the stderr that the service manager reads.
    pub journal_stream: Option<OsString>,
    /// `PATH`, handed on to notice hooks.
    pub path: Option<OsString>,
    /// `LANG`, handed on to notice hooks.
    pub lang: Option<OsString>,
    /// `USER`, handed on to notice hooks.
    pub user: Option<OsString>,
}

impl Env {
    /// Reads the environment of this process. Never fails and never panics, whatever bytes it holds.
    #[must_use]
    pub fn from_process() -> Self {
        let mut env = Self::from_lookup(|name| std::env::var_os(name));
        if env.home.is_none() {
            env.home = home_in_password_database();
        }
        env
    }

    /// Builds the value from any source of variables; tests use it with a table.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let given = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let path = |name: &str| given(name).map(PathBuf::from);
        let absolute = |name: &str| path(name).filter(|path| path.is_absolute());
        Self {
            home: absolute("HOME"),
            xdg_runtime_dir: absolute("XDG_RUNTIME_DIR"),
            xdg_state_home: absolute("XDG_STATE_HOME"),
            xdg_config_home: absolute("XDG_CONFIG_HOME"),
            xdg_data_home: absolute("XDG_DATA_HOME"),
            handoffd_socket: path("HANDOFFD_SOCKET"),
            handoffd_supervisor: given("HANDOFFD_SUPERVISOR"),
            handoff_home: path("HANDOFF_HOME"),
            handoff_agent_id: given("HANDOFF_AGENT_ID"),
            handoff_mcp_key: given("HANDOFF_MCP_KEY"),
            claude_project_dir: absolute("CLAUDE_PROJECT_DIR"),
            pi_coding_agent_dir: path("PI_CODING_AGENT_DIR"),
            pi_subagent_extra_agent_dirs: given("PI_SUBAGENT_EXTRA_AGENT_DIRS"),
            no_color: given("NO_COLOR").is_some(),
            term: given("TERM"),
            journal_stream: given("JOURNAL_STREAM"),
            path: given("PATH"),
            lang: given("LANG"),
            user: given("USER"),
        }
    }

    /// Pi's own folder: `PI_CODING_AGENT_DIR` (a leading `~/` is the home), else `~/.pi/agent`; `None` without a home.
    #[must_use]
    pub fn pi_agent_dir(&self) -> Option<PathBuf> {
        match &self.pi_coding_agent_dir {
            Some(dir) => self.expand_home(dir),
            None => Some(self.home.as_ref()?.join(".pi/agent")),
        }
    }

    /// Replaces a leading `~` component by the home; other paths come back as they are. `None` if there is no home.
    #[must_use]
    pub fn expand_home(&self, path: &std::path::Path) -> Option<PathBuf> {
        match path.strip_prefix("~") {
            Ok(rest) if rest.as_os_str().is_empty() => self.home.clone(),
            Ok(rest) => Some(self.home.as_ref()?.join(rest)),
            Err(_) => Some(path.to_path_buf()),
        }
    }
}

fn home_in_password_database() -> Option<PathBuf> {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten()?;
    Some(user.dir).filter(|dir| dir.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn env(pairs: &[(&str, &[u8])]) -> Env {
        Env::from_lookup(|name| {
            let (_, value) = pairs.iter().find(|(key, _)| *key == name)?;
            Some(OsString::from_vec(value.to_vec()))
        })
    }

    #[test]
    fn empty_and_relative_folders_count_as_not_set() {
        let env = env(&[("HOME", b""), ("XDG_RUNTIME_DIR", b"run"), ("XDG_STATE_HOME", b"/state"), ("NO_COLOR", b"")]);
        let expected = Env { xdg_state_home: Some("/state".into()), ..Env::default() };
        assert_eq!(env, expected);
    }

    #[test]
    fn values_that_are_not_utf8_are_kept() {
        let env = env(&[("HOME", b"/home/\xff"), ("HANDOFF_AGENT_ID", b"\xfe")]);
        let home = PathBuf::from(OsString::from_vec(b"/home/\xff".to_vec()));
        assert_eq!(env.pi_agent_dir(), Some(home.join(".pi/agent")));
        assert_eq!(env.handoff_agent_id, Some(OsString::from_vec(vec![0xfe])));
    }

    #[test]
    fn a_tilde_is_the_home_only_as_first_component() {
        let env = env(&[("HOME", b"/h"), ("PI_CODING_AGENT_DIR", b"~/pi")]);
        let check = |input: &str, expected: &str| assert_eq!(env.expand_home(input.as_ref()), Some(expected.into()));
        check("~", "/h");
        check("~/a", "/h/a");
        check("~a/b", "~a/b");
        check("/x/~", "/x/~");
        assert_eq!(env.pi_agent_dir(), Some("/h/pi".into()));
    }

    #[test]
    fn without_a_home_nothing_is_made_up() {
        let env = env(&[]);
        assert_eq!(env.pi_agent_dir(), None);
        assert_eq!(env.expand_home("~/a".as_ref()), None);
    }

    #[test]
    fn a_process_without_home_has_the_home_of_its_user() {
        assert!(Env::from_process().home.is_some_and(|home| home.is_absolute()));
        assert!(home_in_password_database().is_some_and(|home| home.is_absolute()));
    }
}
