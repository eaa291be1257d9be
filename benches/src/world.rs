//! A throw-away home with a number of registered projects, and starting the daemon in it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::client::Client;
use crate::daemon::Daemon;
use crate::project::Project;

/// A home with registered projects.
pub(crate) struct World {
    folder: tempfile::TempDir,
    program: PathBuf,
    projects: Vec<Project>,
}

impl World {
    /// Makes the projects and registers them the way a client does.
    ///
    /// # Errors
    /// Folders cannot be made, or the daemon refuses a project.
    pub(crate) fn create(program: &Path, beneath: &Path, count: usize) -> Result<Self> {
        // Short: the path of a socket has little room.
        let folder = tempfile::Builder::new().prefix("hb").tempdir_in(beneath)?;
        for name in ["run", "state", "config"] {
            std::fs::create_dir(folder.path().join(name))?;
        }
        let make = |number| Project::create(&folder.path().join(format!("p{number}")));
        let projects = (0..count).map(make).collect::<Result<Vec<_>>>()?;
        let world = Self { folder, program: program.to_path_buf(), projects };
        world.register()?;
        Ok(world)
    }

    fn register(&self) -> Result<()> {
        let daemon = self.start()?;
        let mut client = Client::connect(daemon.socket())?;
        for project in &self.projects {
            let path = project.root();
            client.call("project.add", &json!({"path": path})).with_context(|| format!("{}", path.display()))?;
        }
        daemon.wait_settled(self.projects.len())?;
        daemon.stop()
    }

    /// Starts a daemon.
    pub(crate) fn start(&self) -> Result<Daemon> {
        Daemon::start(&self.program, self.folder.path())
    }

    /// How many projects are registered.
    pub(crate) fn len(&self) -> usize {
        self.projects.len()
    }

    /// `1 project`, `1000 projects`.
    pub(crate) fn words(&self) -> String {
        match self.len() {
            1 => "1 project".to_owned(),
            count => format!("{count} projects"),
        }
    }

    /// The project that work is done in: one from the middle, so that no order favours it.
    pub(crate) fn project(&self) -> &Project {
        &self.projects[self.len() / 2]
    }

    /// Makes a folder like a project that no daemon knows.
    pub(crate) fn unregistered(&self, name: &str) -> Result<Project> {
        Project::create(&self.folder.path().join(name))
    }

    /// Removes it from the disk.
    pub(crate) fn remove(self) -> Result<()> {
        Ok(self.folder.close()?)
    }
}
