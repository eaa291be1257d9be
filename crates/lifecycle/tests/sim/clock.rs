//! Time and processes: what the daemon's shell looks after between events.

use lifecycle::{Event, Process, Stopped};

use super::mutant::Mutant;
use super::world::World;

impl World {
    /// Lets `ms` pass, ticking at each deadline; with `busy`, everything in flight arrives meanwhile.
    pub(crate) fn pass(&mut self, ms: u64, busy: bool) {
        let until = self.awake.plus(ms);
        let mut ticks = 0;
        while self.awake < until && self.violation.is_none() {
            let next = self.deadline.map_or(until, |at| at.min(until));
            while self.awake < next {
                let hop = (next.0 - self.awake.0).min(59_000);
                self.mono += hop;
                self.wall += i64::try_from(hop).unwrap_or(0);
                self.awake = self.clock.read(self.mono).0;
            }
            if self.mutant != Mutant::NoTick {
                self.step(Event::Tick);
            } else if self.awake < until {
                return;
            }
            if busy {
                self.drain(0);
            }
            ticks += 1;
            if ticks > 100 + 4 * ms / 1_000 {
                self.fail("it spins: too many deadlines for the time that passed");
            }
        }
    }

    pub(crate) fn sleep(&mut self, ms: u64) {
        self.mono += ms;
        self.wall += i64::try_from(ms).unwrap_or(0);
        let (awake, gap) = self.clock.read(self.mono);
        self.awake = awake;
        self.step(if gap.is_some() { Event::Woke } else { Event::Tick });
    }

    pub(crate) fn is_alive(&self, process: Process) -> bool {
        self.processes.get(&process.pid).is_some_and(|proc| proc.alive)
    }

    pub(crate) fn is_stopped(&self, process: Process) -> bool {
        self.processes.get(&process.pid).is_some_and(|proc| proc.stopped)
    }

    /// The shell looks after the processes and runs that the machine cares about.
    pub(crate) fn reap(&mut self) -> bool {
        let Some(project) = &self.daemon else { return false };
        let (processes, lingering) = (project.processes(), project.lingering());
        let mut any = false;
        for process in processes {
            let proc = self.processes.get(&process.pid).copied().unwrap_or_default();
            if !proc.alive {
                self.step(Event::ProcessGone(process));
                any = true;
            } else if proc.stopped != proc.told_stopped {
                if let Some(proc) = self.processes.get_mut(&process.pid) {
                    proc.told_stopped = proc.stopped;
                }
                let stopped = if proc.stopped { Stopped::Yes } else { Stopped::No };
                self.step(Event::ProcessStopped { process, stopped });
                any = true;
            }
        }
        let dead: Vec<String> =
            lingering.into_iter().map(|(id, _)| id).filter(|id| self.runs.get(id) == Some(&false)).collect();
        if !dead.is_empty() {
            self.step(Event::RunsGone(dead));
            any = true;
        }
        any
    }
}
