//! Where everything lies: one order of places for the daemon and for every client (D77, F102).
//!
//! Paths are computed here from the environment and the configuration, and nothing is opened. Folders are made in
//! [`folder`]; the name of the host as a path component is [`host`]; socket addresses are [`socket`].

pub mod folder;
pub mod host;
pub mod socket;

use std::path::{Path, PathBuf};

use self::folder::{FolderError, make_for_socket, make_private};
use self::socket::{SocketOrigin, SocketPathTooLong, SocketPlace};
use crate::config::Config;
use crate::env::Env;

/// A place cannot be named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacesError {
    /// Neither a variable nor a home says where.
    #[error("no home folder is known: set HOME or {variable}")]
    NoHome {
        /// The variable that would do instead.
        variable: &'static str,
    },
    /// A path that must not depend on the working folder.
    #[error("{variable} must be an absolute path, not {}", path.display())]
    Relative {
        /// The variable or option.
        variable: &'static str,
        /// Its value.
        path: PathBuf,
    },
    /// The socket's address does not fit (F100).
    #[error(transparent)]
    SocketPath(#[from] SocketPathTooLong),
}

/// All places of one daemon and its clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The state folder (D77).
    pub state_dir: PathBuf,
    /// This host as a part of file names (F084).
    pub host: String,
    /// The socket that a daemon binds and a client tries first; its length is checked.
    pub socket: SocketPlace,
    /// The folder of the daemon's log files.
    pub log_dir: PathBuf,
    /// The home of team packets (D36).
    pub team_home: PathBuf,
    runtime_dir: Option<PathBuf>,
}

/// The configuration file: the given one, else `$XDG_CONFIG_HOME/handoffd/config.toml`, else below `~/.config` (D77).
///
/// A given path may be relative to the working folder, as a person types it; it is made absolute.
///
/// # Errors
/// [`PlacesError::NoHome`], or [`PlacesError::Relative`] if the working folder is gone.
pub fn config_file(env: &Env, given: Option<&Path>) -> Result<PathBuf, PlacesError> {
    if let Some(path) = given {
        return std::path::absolute(path)
            .map_err(|_| PlacesError::Relative { variable: "--config", path: path.to_path_buf() });
    }
    let folder = below(env.xdg_config_home.as_deref(), env, ".config", "XDG_CONFIG_HOME")?;
    Ok(folder.join("handoffd/config.toml"))
}

impl Places {
    /// Names all places for this host.
    ///
    /// # Errors
    /// [`PlacesError`]: no home, a relative path in a variable, or a socket path over the system's limit.
    pub fn find(env: &Env, config: &Config) -> Result<Self, PlacesError> {
        Self::find_on(host::host_part(), env, config)
    }

    /// As [`Places::find`], for a host part that the caller knows.
    ///
    /// # Errors
    /// As [`Places::find`].
    pub fn find_on(host: String, env: &Env, config: &Config) -> Result<Self, PlacesError> {
        let state_dir = state_dir(env, config)?;
        let socket = socket_place(env, config, &state_dir, &host)?;
        socket.check_length()?;
        let log_dir = config.log.dir.clone().unwrap_or_else(|| state_dir.join(format!("log-{host}")));
        let team_home = team_home(env, config)?;
        Ok(Self { state_dir, host, socket, log_dir, team_home, runtime_dir: env.xdg_runtime_dir.clone() })
    }

    /// `projects.json`, shared by all hosts (D77).
    #[must_use]
    pub fn projects_file(&self) -> PathBuf {
        self.state_dir.join("projects.json")
    }

    /// `owned-<host>.json` (D71).
    #[must_use]
    pub fn owned_file(&self) -> PathBuf {
        self.state_dir.join(format!("owned-{}.json", self.host))
    }

    /// `handoffd-<host>.lock` (D77).
    #[must_use]
    pub fn instance_lock(&self) -> PathBuf {
        self.state_dir.join(format!("handoffd-{}.lock", self.host))
    }

    /// `journal-<host>.jsonl`.
    #[must_use]
    pub fn journal_file(&self) -> PathBuf {
        self.state_dir.join(format!("journal-{}.jsonl", self.host))
    }

    /// Every socket that a client should try, best first, none twice.
    ///
    /// A daemon that the service manager started knows `XDG_RUNTIME_DIR`; a client under cron, ssh or sudo may not, and
    /// the reverse (F102). So unless the user named the socket, the one that the instance lock names and the other
    /// usual places are tried as well. Places whose path is too long are left out.
    #[must_use]
    pub fn socket_candidates(&self) -> Vec<SocketPlace> {
        let mut places = vec![self.socket.clone()];
        if self.socket.origin.is_explicit() {
            return places;
        }
        let named = crate::instance::read_holder(&self.instance_lock()).and_then(|holder| holder.socket);
        let more = [
            named.map(|path| (path, SocketOrigin::InstanceLock)),
            Some((self.fallback_socket(), SocketOrigin::StateDir)),
            usual_socket(self.runtime_dir.as_deref()).map(|path| (path, SocketOrigin::UsualRuntimeDir)),
        ];
        for (path, origin) in more.into_iter().flatten() {
            let place = SocketPlace { path, origin };
            if place.check_length().is_ok() && !places.iter().any(|known| known.path == place.path) {
                places.push(place);
            }
        }
        places
    }

    /// Folders for what belongs to processes of this user on this host, best first; they may have to be made.
    #[must_use]
    pub fn run_dirs(&self) -> Vec<PathBuf> {
        let socket = self.runtime_dir.as_deref().map(socket::in_runtime_dir);
        let sockets = socket.into_iter().chain([self.fallback_socket()]);
        sockets.filter_map(|socket| socket.parent().map(Path::to_path_buf)).collect()
    }

    /// Makes the folders that the daemon needs before it takes the instance lock: state folder and socket folder.
    ///
    /// # Errors
    /// [`FolderError`] with owner and remedy where a folder belongs to somebody else (F159).
    pub fn prepare(&self) -> Result<(), FolderError> {
        make_private(&self.state_dir)?;
        let folder = self.socket.path.parent().unwrap_or(Path::new("/"));
        if self.socket.origin.is_explicit() { make_for_socket(folder) } else { make_private(folder) }
    }

    fn fallback_socket(&self) -> PathBuf {
        fallback_socket(&self.state_dir, &self.host)
    }
}

/// `daemon.state_dir`, else `$XDG_STATE_HOME/handoffd`, else `~/.local/state/handoffd` (macOS:
/// `~/Library/Application Support/handoffd`) (D77).
fn state_dir(env: &Env, config: &Config) -> Result<PathBuf, PlacesError> {
    if let Some(dir) = &config.daemon.state_dir {
        return Ok(dir.clone());
    }
    let usual = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/state" };
    Ok(below(env.xdg_state_home.as_deref(), env, usual, "XDG_STATE_HOME")?.join("handoffd"))
}

fn socket_place(env: &Env, config: &Config, state_dir: &Path, host: &str) -> Result<SocketPlace, PlacesError> {
    let place = |path, origin| Ok(SocketPlace { path, origin });
    if let Some(path) = &env.handoffd_socket {
        if !path.is_absolute() {
            return Err(PlacesError::Relative { variable: "HANDOFFD_SOCKET", path: path.clone() });
        }
        return place(path.clone(), SocketOrigin::Variable);
    }
    if let Some(path) = &config.daemon.socket {
        return place(path.clone(), SocketOrigin::Config);
    }
    match &env.xdg_runtime_dir {
        Some(dir) => place(socket::in_runtime_dir(dir), SocketOrigin::RuntimeDir),
        None => place(fallback_socket(state_dir, host), SocketOrigin::StateDir),
    }
}

/// `HANDOFF_HOME`, else `team.home`, else `$XDG_DATA_HOME/handoffd`, else below `~/.local/share` (D36).
pub(crate) fn team_home(env: &Env, config: &Config) -> Result<PathBuf, PlacesError> {
    if let Some(home) = &env.handoff_home {
        let path = env.expand_home(home).filter(|path| path.is_absolute());
        return path.ok_or_else(|| PlacesError::Relative { variable: "HANDOFF_HOME", path: home.clone() });
    }
    if let Some(home) = &config.team.home {
        return Ok(home.clone());
    }
    Ok(below(env.xdg_data_home.as_deref(), env, ".local/share", "XDG_DATA_HOME")?.join("handoffd"))
}

fn fallback_socket(state_dir: &Path, host: &str) -> PathBuf {
    state_dir.join(format!("run-{host}/handoffd.sock"))
}

fn usual_socket(runtime_dir: Option<&Path>) -> Option<PathBuf> {
    let dir = if runtime_dir.is_none() { socket::usual_runtime_dir() } else { None };
    dir.map(|dir| socket::in_runtime_dir(&dir))
}

fn below(given: Option<&Path>, env: &Env, usual: &str, variable: &'static str) -> Result<PathBuf, PlacesError> {
    match (given, &env.home) {
        (Some(dir), _) => Ok(dir.to_path_buf()),
        (None, Some(home)) => Ok(home.join(usual)),
        (None, None) => Err(PlacesError::NoHome { variable }),
    }
}

#[cfg(test)]
mod tests;
