//! What the service manager is told: ready, reloading, stopping, alive. Outside a service nothing is said.

use sd_notify::NotifyState;

/// The service manager of this process, if it has one and was asked to be spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supervisor {
    /// Nobody: `handoff demo`, tests.
    Nobody,
    /// systemd, when it gave us `NOTIFY_SOCKET`.
    Systemd(Watchdog),
}

/// Whether the service manager wants to hear regularly that we live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watchdog {
    /// `WatchdogSec=` is set for this process.
    On,
    /// It is not.
    Off,
}

impl Supervisor {
    /// As the environment of this process says.
    #[must_use]
    pub fn from_environment() -> Self {
        Self::Systemd(if sd_notify::watchdog_enabled().is_some() { Watchdog::On } else { Watchdog::Off })
    }

    /// The socket accepts connections and every project was begun with.
    pub fn ready(self) {
        self.tell(&[NotifyState::Ready]);
    }

    /// The configuration is read again; [`Supervisor::ready`] follows.
    pub fn reloading(self) {
        match NotifyState::monotonic_usec_now() {
            Ok(now) => self.tell(&[NotifyState::Reloading, now]),
            Err(error) => tracing::debug!(%error, "the service manager was not told of the reload"),
        }
    }

    /// The daemon has begun to stop.
    pub fn stopping(self) {
        self.tell(&[NotifyState::Stopping]);
    }

    /// The loop turns. To be called from the work itself, not by a timer of its own (watchdog).
    pub fn alive(self) {
        if self == Self::Systemd(Watchdog::On) {
            self.tell(&[NotifyState::Watchdog]);
        }
    }

    fn tell(self, states: &[NotifyState<'_>]) {
        if self != Self::Nobody
            && let Err(error) = sd_notify::notify(states)
        {
            tracing::debug!(%error, "the service manager cannot be told anything");
        }
    }
}
