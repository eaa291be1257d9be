//! What the service manager is told: ready, reloading, stopping, alive, and why it failed. Outside a service nothing is
//! said.
//!
//! The words of `STATUS=` are kept by systemd when the process has ended: `systemctl status` and `handoff service` show
//! them, with and without a journal (F133, F137).

use std::time::{Duration, Instant};

use sd_notify::NotifyState;

use crate::env::Env;
use crate::logging::sanitize;

/// systemd cuts longer texts, or refuses the whole message.
const LONGEST_STATUS: usize = 1024;

/// The service manager of this process, if it has one and was asked to be spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supervisor {
    /// Nobody: `handoff demo`, tests.
    Nobody,
    /// systemd, when it gave us `NOTIFY_SOCKET`.
    Systemd(Watchdog),
    /// launchd. It hears nothing, and starts everything again that does not end with 0.
    Launchd,
}

/// Whether the service manager wants to hear regularly that we live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watchdog {
    /// `WatchdogSec=` is set for this process: it must hear from us in this time.
    Within(Duration),
    /// It is not.
    Off,
}

impl Supervisor {
    /// As the environment of this process says.
    #[must_use]
    pub fn of(env: &Env) -> Self {
        if env.handoffd_supervisor.as_ref().is_some_and(|name| name == "launchd") {
            return Self::Launchd;
        }
        Self::Systemd(sd_notify::watchdog_enabled().map_or(Watchdog::Off, Watchdog::Within))
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

    /// One sentence for the person who asks the service manager; empty: nothing is to be said.
    pub fn says(self, text: &str) {
        let line = sanitize::one_line(text);
        let end = line.floor_char_boundary(LONGEST_STATUS);
        self.tell(&[NotifyState::Status(&line[..end])]);
    }

    /// The work goes on (watchdog): called from the loop, when a [`Pulse`] says that the threads do, too.
    pub fn alive(self) {
        if matches!(self, Self::Systemd(Watchdog::Within(_))) {
            self.tell(&[NotifyState::Watchdog]);
        }
    }

    /// How often [`Supervisor::alive`] must be called at least; `usual` if nobody waits for it.
    #[must_use]
    pub fn beat(self, usual: Duration) -> Duration {
        match self {
            Self::Systemd(Watchdog::Within(limit)) => usual.min(limit / 3).max(Duration::from_millis(1)),
            _ => usual,
        }
    }

    fn tell(self, states: &[NotifyState<'_>]) {
        if matches!(self, Self::Systemd(_))
            && let Err(error) = sd_notify::notify(states)
        {
            tracing::debug!(%error, "the service manager cannot be told anything");
        }
    }
}

/// Whether a number that counts somebody's work still grows.
#[derive(Debug)]
pub struct Pulse {
    seen: u64,
    since: Instant,
    patience: Duration,
}

impl Pulse {
    /// It may stay the same for `patience`.
    #[must_use]
    pub fn new(patience: Duration, now: Instant) -> Self {
        Self { seen: 0, since: now, patience }
    }

    /// The number is this now.
    pub fn beats(&mut self, count: u64, now: Instant) -> bool {
        let was_beating = now.duration_since(self.since) <= self.patience;
        if count != self.seen {
            (self.seen, self.since) = (count, now);
        }
        let is_beating = now.duration_since(self.since) <= self.patience;
        if was_beating && !is_beating {
            tracing::error!("the sweep over the projects stands still; the service manager's watchdog is told no more");
        }
        is_beating
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watchdog_hears_three_times_as_often_as_it_asks_for() {
        let check = |supervisor: Supervisor, expected| {
            assert_eq!(supervisor.beat(Duration::from_secs(1)), Duration::from_millis(expected));
        };
        check(Supervisor::Nobody, 1000);
        check(Supervisor::Systemd(Watchdog::Off), 1000);
        check(Supervisor::Systemd(Watchdog::Within(Duration::from_secs(30))), 1000);
        check(Supervisor::Systemd(Watchdog::Within(Duration::from_millis(900))), 300);
        check(Supervisor::Systemd(Watchdog::Within(Duration::ZERO)), 1);
    }

    #[test]
    fn a_number_that_stays_the_same_for_too_long_has_no_pulse() {
        let start = Instant::now();
        let mut pulse = Pulse::new(Duration::from_secs(16), start);
        let mut beats = |count, secs| pulse.beats(count, start + Duration::from_secs(secs));
        assert!(beats(0, 16) && !beats(0, 17), "it never began");
        assert!(beats(5, 30) && beats(5, 46) && !beats(5, 47) && !beats(5, 90));
        assert!(beats(6, 91), "it goes on");
    }

    #[test]
    fn launchd_is_known_by_the_variable_of_its_plist() {
        let env = |value: &str| Env { handoffd_supervisor: Some(value.into()), ..Env::default() };
        assert_eq!(Supervisor::of(&env("launchd")), Supervisor::Launchd);
        assert!(matches!(Supervisor::of(&env("other")), Supervisor::Systemd(_)));
    }
}
