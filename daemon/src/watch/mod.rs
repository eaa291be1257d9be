//! stub
use crate::actor::mail::Mail;
use std::path::Path;
use std::sync::Arc;
pub struct Watch;
pub struct Watched;
impl Watch {
    pub fn register(&self, _: &Arc<Path>, _: tokio::sync::mpsc::WeakSender<Box<Mail>>) -> Arc<Watched> {
        Arc::new(Watched)
    }
    pub fn unregister(&self, _: &Path) {}
}
impl Watched {
    pub fn note_read(&self, _: Option<store::Stamp>) {}
    pub fn note_write(&self, _: Option<store::Stamp>) {}
    pub fn note_lock(&self, _: &store::ProjectDir) {}
    pub fn note_folder(&self, _: &Arc<store::ProjectDir>) {}
    pub fn mode(&self) -> (wire::status::WatchMode, Option<String>) {
        (wire::status::WatchMode::Poll, None)
    }
}
