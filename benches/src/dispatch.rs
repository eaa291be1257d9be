//! `dispatch`: how long a task needs from the planner's rename to the message at the idle session, beside the floor.
//!
//! Daemon and floor take turns, so that whatever else the disk does hits both alike; what is judged is the median of the
//! ratios of the pairs. Before each turn the clock rests, so that each begins from sleep, as in real life.

use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::floor::Floor;
use crate::project::{Project, pending_text};
use crate::session::Session;
use crate::stats::Sample;
use crate::table::Table;
use crate::world::World;

/// The median of the ratios may be so much.
const MOST: f64 = 1.5;
/// Pairs that are not counted: page cache, directory entries and branch predictors warm up.
const WARM_UP: usize = 5;
/// Rest before each turn: the work that follows an answer is over by then.
const REST: Duration = Duration::from_millis(10);

/// Measures and prints.
///
/// # Errors
/// The daemon or the floor fails.
pub(crate) fn measure(world: &World, pairs: usize, table: &mut Table) -> Result<()> {
    let daemon = world.start()?;
    daemon.wait_settled(world.len())?;
    let mut taken = Turns::new(world, Session::attach(daemon.socket(), world.project())?)?;
    let (mut daemons, mut floors) = (Vec::new(), Vec::new());
    for number in 0..WARM_UP + pairs {
        // Who begins alternates, so that an effect of the order cancels out.
        let (ours, floor) = if number % 2 == 0 {
            let ours = taken.daemon(number)?;
            (ours, taken.floor(number)?)
        } else {
            let floor = taken.floor(number)?;
            (taken.daemon(number)?, floor)
        };
        if number >= WARM_UP {
            daemons.push(ours);
            floors.push(floor);
        }
    }
    taken.floor.stop()?;
    let ratios = daemons.iter().zip(&floors).map(|(ours, floor)| ours.as_secs_f64() / floor.as_secs_f64()).collect();
    let (ratios, words) = (Sample::new(ratios), world.words());
    let judged = format!("dispatch, {words}: ratio to the floor");
    table.judge(&judged, ratios.median(), MOST, "x", &ratios.spread())?;
    table.note("  daemon, ms", &Sample::of_millis(&daemons).spread())?;
    table.note("  floor, ms", &Sample::of_millis(&floors).spread())?;
    daemon.stop()
}

struct Turns<'a> {
    project: &'a Project,
    session: Session,
    beside: Project,
    floor: Floor,
    peer: UnixStream,
    message: Vec<u8>,
}

impl<'a> Turns<'a> {
    /// The floor's message is as long as the daemon's.
    fn new(world: &'a World, mut session: Session) -> Result<Self> {
        let project = world.project();
        project.prepare(&pending_text("first"))?.publish()?;
        let arrived = session.wait_dispatch()?;
        session.finish(&arrived)?;
        let (socket, peer) = UnixStream::pair()?;
        let mut message = vec![b'x'; arrived.bytes];
        message[arrived.bytes - 1] = b'\n';
        let beside = world.unregistered("floor")?;
        let floor = Floor::start(&beside, socket, message.clone())?;
        Ok(Self { project, session, beside, floor, peer, message })
    }

    fn daemon(&mut self, number: usize) -> Result<Duration> {
        let prepared = self.project.prepare(&pending_text(&format!("T-{number}")))?;
        std::thread::sleep(REST);
        let start = Instant::now();
        prepared.publish()?;
        let arrived = self.session.wait_dispatch()?;
        let took = arrived.at - start;
        self.session.finish(&arrived)?;
        Ok(took)
    }

    fn floor(&mut self, number: usize) -> Result<Duration> {
        let prepared = self.beside.prepare(&pending_text(&format!("T-{number}")))?;
        std::thread::sleep(REST);
        let start = Instant::now();
        prepared.publish()?;
        self.peer.read_exact(&mut self.message)?;
        Ok(start.elapsed())
    }
}
