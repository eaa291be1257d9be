//! Sessions that were refused because their folder is no project: they are told when it becomes one (D72).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use wire::daemon_calls::AttachAgain;

use crate::folder_id::FolderId;
use crate::peer::Peer;

/// The refused sessions that are still connected, one entry a connection.
#[derive(Debug, Default)]
pub struct Refused {
    waiting: Mutex<Vec<Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    peer: Weak<Peer>,
    path: PathBuf,
    folder: Option<FolderId>,
}

impl Refused {
    /// Remembers a refused session by its folder.
    pub(super) fn add(&self, peer: &Arc<Peer>, path: PathBuf, folder: Option<FolderId>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|one| one.peer.upgrade().is_some_and(|known| known.conn() != peer.conn()));
        waiting.push(Waiting { peer: Arc::downgrade(peer), path, folder });
    }

    /// A project appeared, or takes part again: whoever asked for its folder may ask again.
    pub fn appeared(&self, root: &Path, folder: Option<FolderId>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|one| {
            let Some(peer) = one.peer.upgrade() else { return false };
            let same = one.path == root || (folder.is_some() && one.folder == folder);
            if same {
                peer.notify(&AttachAgain { project: root.to_string_lossy().into_owned() });
            }
            !same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lifecycle::Conn;

    #[test]
    fn only_the_session_of_that_folder_is_told_and_only_once() {
        let refused = Refused::default();
        let (here, mut here_lines) = Peer::new(Conn(1));
        let (there, mut there_lines) = Peer::new(Conn(2));
        let id = FolderId { device: 1, inode: 2 };
        refused.add(&here, "/first".into(), None);
        refused.add(&here, "/link".into(), Some(id));
        refused.add(&there, "/b".into(), None);
        refused.appeared(Path::new("/first"), None);
        assert!(here_lines.try_recv().is_err(), "the newest question of a connection counts");
        refused.appeared(Path::new("/a"), Some(id));
        refused.appeared(Path::new("/a"), Some(id));
        let line = String::from_utf8(here_lines.try_recv().unwrap().line).unwrap();
        assert!(line.contains(r#""method":"session.attach_again","params":{"project":"/a"}"#), "{line}");
        assert!(here_lines.try_recv().is_err());
        assert!(there_lines.try_recv().is_err());
    }

    #[test]
    fn sessions_that_went_away_are_forgotten() {
        let refused = Refused::default();
        let (peer, _lines) = Peer::new(Conn(1));
        refused.add(&peer, "/a".into(), None);
        drop(peer);
        let (other, _lines) = Peer::new(Conn(2));
        refused.add(&other, "/b".into(), None);
        assert_eq!(refused.waiting.lock().unwrap().len(), 1);
    }
}
