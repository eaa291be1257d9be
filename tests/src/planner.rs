//! The ways in which planners and editors write `tasks.json`.
#![expect(clippy::disallowed_methods, reason = "the harness plays the planner, who writes files as they like")]

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::project::Project;
use crate::task::Task;

static SERIAL: AtomicU64 = AtomicU64::new(0);

impl Project {
    /// The usual way: a private file beside it, then a rename.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn plan(&self, task: &Task) {
        self.replace(task.text().as_bytes());
    }

    /// Replaces the queue by a rename.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn replace(&self, bytes: &[u8]) {
        let temporary = self.planner_file();
        fs::write(&temporary, bytes).unwrap();
        fs::rename(temporary, self.queue()).unwrap();
    }

    /// Truncates and writes the same file.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn write_in_place(&self, bytes: &[u8]) {
        fs::write(self.queue(), bytes).unwrap();
    }

    /// As vim does it: the old file becomes a backup, a new one is made, the backup is deleted.
    ///
    /// # Panics
    /// When the files cannot be written.
    pub fn save_with_backup(&self, bytes: &[u8]) {
        let backup = self.root().join("tasks.json~");
        fs::rename(self.queue(), &backup).unwrap();
        fs::write(self.queue(), bytes).unwrap();
        fs::remove_file(backup).unwrap();
    }

    /// In place and piece by piece; `between` runs after each piece.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn write_in_chunks(&self, bytes: &[u8], size: usize, mut between: impl FnMut()) {
        let mut file = File::create(self.queue()).unwrap();
        for chunk in bytes.chunks(size) {
            file.write_all(chunk).unwrap();
            between();
        }
    }

    /// Overwrites the beginning of the same inode, without truncating.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn overwrite(&self, bytes: &[u8]) {
        let mut file = File::options().write(true).open(self.queue()).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(bytes).unwrap();
    }

    fn planner_file(&self) -> PathBuf {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        self.root().join(format!(".planner-{}-{serial}", std::process::id()))
    }
}
