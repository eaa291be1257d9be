//! A small JSON file of ours with a version: read with its faults named, replaced durably, never repaired.
//!
//! A file that cannot be understood is never overwritten: whatever it holds, a person may still want it. What the
//! files mean is not known here.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::files::{FileError, Links, read_bounded, replace_durably};

/// Largest state file in bytes; some ten thousand projects.
const MAX_STATE: u64 = 4 * 1024 * 1024;
/// The version that this program writes, and the newest that it reads.
pub(super) const VERSION: u64 = 1;

/// A state file cannot be used; it was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// The system refused, or the file is not one that we read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content is not what we write.
    #[error(
        "{} is damaged ({reason}) and was left alone: repair it, or move it away and {remedy}",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What the reader stumbled over, with line and column.
        reason: String,
        /// What to do after moving it away.
        remedy: &'static str,
    },
    /// A newer program wrote it.
    #[error("{} was written by a newer handoffd (version {version}, this one knows {VERSION}): update this one", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
}

#[derive(serde::Deserialize)]
struct Versioned {
    version: u64,
    /// Makes the derived reader refuse a list in place of the object.
    #[serde(flatten)]
    _rest: serde::de::IgnoredAny,
}

/// Reads the file; `None` if there is none. `remedy` is for the message about a damaged one.
pub(super) fn read<T: DeserializeOwned>(path: &Path, remedy: &'static str) -> Result<Option<T>, StateFileError> {
    let Some(bytes) = read_bounded(path, MAX_STATE, Links::Refuse)? else { return Ok(None) };
    let corrupt = |error: serde_json::Error| {
        let reason = if bytes.is_empty() { "it is empty".to_owned() } else { error.to_string() };
        StateFileError::Corrupt { path: path.to_path_buf(), reason, remedy }
    };
    let Versioned { version, .. } = serde_json::from_slice(&bytes).map_err(corrupt)?;
    if version > VERSION {
        return Err(StateFileError::Newer { path: path.to_path_buf(), version });
    }
    serde_json::from_slice(&bytes).map(Some).map_err(corrupt)
}

/// Replaces the file durably; one line an entry would be nicer to read, so it is written indented.
pub(super) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), StateFileError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| FileError::io("write", path, error.into()))?;
    bytes.push(b'\n');
    if bytes.len() as u64 > MAX_STATE {
        return Err(FileError::TooLarge { path: path.to_path_buf(), limit: MAX_STATE }.into());
    }
    Ok(replace_durably(path, &bytes)?)
}
