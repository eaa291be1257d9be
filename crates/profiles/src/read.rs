//! Bounded reads of files that somebody else wrote. Never follow a link at the end of a path here: links are resolved
//! and judged by the walk before.

use std::io::Read;
use std::path::Path;

use crate::disk::Disk;
use crate::note::{Note, Reason};

/// The most bytes of a profile (queue protocol, "Limits").
pub const MAX_PROFILE: usize = 64 * 1024;

/// The most bytes of a settings file (D27) or package manifest.
pub const MAX_SETTINGS: usize = 1024 * 1024;

/// The text of a file, with what is not UTF-8 replaced as Node does it.
pub(crate) struct Text {
    pub(crate) text: String,
    /// There is more than the limit; `text` is what came before.
    pub(crate) cut: bool,
}

/// Reads at most `limit` + 1 bytes of a regular file. Never waits for a pipe or a device.
pub(crate) fn read(disk: &Disk, path: &Path, limit: usize) -> Result<Text, Note> {
    let (file, meta) = disk.open(path).map_err(|error| Note::unreadable(path, "open it", &error))?;
    if !meta.is_file() {
        return Err(Note::new(path, Reason::NotRegular));
    }
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    // One more than there is, so that one read finds the end, too.
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len().min(most)).unwrap_or(0).saturating_add(1));
    file.take(most).read_to_end(&mut bytes).map_err(|error| {
        disk.is_vague();
        Note::unreadable(path, "read it", &error)
    })?;
    let cut = bytes.len() > limit;
    bytes.truncate(limit);
    Ok(Text { text: String::from_utf8_lossy(&bytes).into_owned(), cut })
}
