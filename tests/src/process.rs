//! A host process of sessions: several connections, one process id that can be stopped, continued and killed.
#![expect(clippy::disallowed_methods, reason = "the harness starts its relay program")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::peer::{Handler, Peer, Wire};
use crate::wait;

/// Connections by channel, and who waits for the opening of one.
#[derive(Default)]
struct Channels {
    peers: HashMap<u64, Arc<Peer>>,
    opening: HashMap<u64, Sender<Result<(), String>>>,
    /// The process is gone.
    ended: bool,
}

/// The process. Killed when dropped.
pub struct SessionProcess {
    child: Mutex<Child>,
    input: Arc<Mutex<ChildStdin>>,
    channels: Arc<Mutex<Channels>>,
    next: AtomicU64,
    pid: i32,
}

impl SessionProcess {
    /// Starts one.
    ///
    /// # Panics
    /// When the relay cannot be started.
    #[must_use]
    pub fn start(relay: &Path) -> Arc<Self> {
        Self::start_with(Command::new(relay))
    }

    /// Starts one with a command that ends in the relay: for other users and other namespaces.
    ///
    /// # Panics
    /// When the relay cannot be started.
    #[must_use]
    pub fn start_with(mut command: Command) -> Arc<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the relay starts");
        let input = child.stdin.take().expect("its input is ours");
        let output = child.stdout.take().expect("its output is ours");
        let channels = Arc::new(Mutex::new(Channels::default()));
        let known = Arc::clone(&channels);
        std::thread::spawn(move || {
            let mut seen = HashMap::new();
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                sort(&known, &mut seen, &line);
            }
            // The process is gone, and its connections with it.
            let mut channels = known.lock().unwrap();
            channels.ended = true;
            channels.opening.clear();
            channels.peers.values().for_each(|peer| peer.hear_end());
        });
        let pid = i32::try_from(child.id()).expect("process ids are small");
        let input = Arc::new(Mutex::new(input));
        Arc::new(Self { child: Mutex::new(child), input, channels, next: AtomicU64::new(1), pid })
    }

    /// Connects this process to a socket; `queue` is the file to look at when a task comes.
    ///
    /// # Errors
    /// What the system says.
    ///
    /// # Panics
    /// When the process does not answer.
    pub fn connect(&self, socket: &Path, queue: &Path, handler: Handler) -> Result<Arc<Peer>, String> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let wire = Relayed { number, input: Arc::clone(&self.input) };
        let peer = Peer::new(Box::new(wire), handler);
        let (told, opened): (_, Receiver<Result<(), String>>) = channel();
        {
            let mut channels = self.channels.lock().unwrap();
            if channels.ended {
                return Err("the process is gone".to_owned());
            }
            channels.peers.insert(number, Arc::clone(&peer));
            channels.opening.insert(number, told);
        }
        write(&self.input, &format!("open {number} {}\t{}", socket.display(), queue.display()));
        match opened.recv_timeout(wait::PATIENCE) {
            Ok(outcome) => outcome.map(|()| peer),
            Err(RecvTimeoutError::Disconnected) => Err("the process is gone".to_owned()),
            Err(RecvTimeoutError::Timeout) => panic!("the relay does not answer"),
        }
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// When it is gone.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid), signal).expect("the process is there");
    }

    /// Stops it and waits until the system says so.
    ///
    /// # Panics
    /// When it does not stop.
    pub fn stop(&self) {
        self.signal(Signal::SIGSTOP);
        let stat = format!("/proc/{}/stat", self.pid);
        wait::until("the process is stopped", || {
            let text = std::fs::read_to_string(&stat).ok()?;
            text.rsplit_once(") ")?.1.starts_with('T').then_some(())
        });
    }

    /// Continues it.
    pub fn go_on(&self) {
        self.signal(Signal::SIGCONT);
    }

    /// Kills and reaps it.
    pub fn kill(&self) {
        let mut child = self.child.lock().unwrap();
        drop(child.kill());
        drop(child.wait());
    }

    /// Kills it and leaves it as a zombie.
    pub fn kill_unreaped(&self) {
        self.signal(Signal::SIGKILL);
    }
}

impl Drop for SessionProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn sort(channels: &Mutex<Channels>, seen: &mut HashMap<u64, Vec<u8>>, line: &str) {
    let mut words = line.splitn(3, ' ');
    let verb = words.next().unwrap_or_default();
    let number: u64 = words.next().and_then(|word| word.parse().ok()).expect("the relay names a channel");
    let rest = words.next().unwrap_or_default();
    let peer = channels.lock().unwrap().peers.get(&number).cloned();
    let opening = |outcome| {
        if let Some(waiting) = channels.lock().unwrap().opening.remove(&number) {
            drop(waiting.send(outcome));
        }
    };
    match verb {
        "opened" => opening(Ok(())),
        "failed" => opening(Err(rest.to_owned())),
        "seen" => drop(seen.insert(number, from_hex(rest))),
        "line" => {
            let queue = seen.remove(&number).unwrap_or_default();
            peer.expect("a known channel").hear(rest, queue);
        }
        _ => peer.expect("a known channel").hear_end(),
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16).unwrap_or_default()).unwrap_or_default();
    text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

struct Relayed {
    number: u64,
    input: Arc<Mutex<ChildStdin>>,
}

impl Wire for Relayed {
    fn send(&mut self, line: &str) {
        write(&self.input, &format!("send {} {line}", self.number));
    }

    fn close(&mut self) {
        write(&self.input, &format!("close {}", self.number));
    }
}

fn write(input: &Mutex<ChildStdin>, line: &str) {
    let mut input = input.lock().unwrap();
    // A process that was killed on purpose takes nothing more.
    drop(input.write_all(format!("{line}\n").as_bytes()).and_then(|()| input.flush()));
}
