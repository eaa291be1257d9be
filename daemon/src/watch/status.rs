//! How changes are noticed, as `daemon.status` shows it.

use wire::status::{DaemonWatch, WatchMode};

use super::arm::{How, Why};
use super::watched::Watched;
use super::{Watch, lock};

impl Watch {
    /// How changes are noticed, over all projects.
    #[must_use]
    pub fn status(&self) -> DaemonWatch {
        let (mode, reason) = self.mode();
        DaemonWatch { mode, reason, overflows: self.shared.overflows() }
    }

    fn mode(&self) -> (WatchMode, Option<String>) {
        {
            let events = lock(&self.shared.events);
            if !events.are_wanted() {
                return (WatchMode::Poll, Some(Why::Configured.to_string()));
            }
            if let Some(fault) = &events.fault {
                return (WatchMode::Poll, Some(fault.to_string()));
            }
        }
        let projects = lock(&self.shared.projects);
        let mut polled = projects.iter().filter_map(|watched| match watched.how() {
            How::Poll(why) => Some(why),
            How::NotOpened | How::Events { .. } => None,
        });
        let Some(first) = polled.next() else { return (WatchMode::Events, None) };
        let count = 1 + polled.count();
        (WatchMode::Events, Some(format!("{count} of {} projects polled: {first}", projects.len())))
    }
}

impl Watched {
    /// How this project's changes are noticed, and why not by events.
    #[must_use]
    pub fn mode(&self) -> (WatchMode, Option<String>) {
        match self.how() {
            How::Events { .. } => (WatchMode::Events, None),
            How::NotOpened => (WatchMode::Poll, Some("its folder is not open".to_owned())),
            How::Poll(why) => (WatchMode::Poll, Some(why.to_string())),
        }
    }
}
