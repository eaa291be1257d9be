//! A process that plays the host of sessions: it owns the connections, so that their peer is a process with its own id,
//! which a test can stop, continue and kill. It passes lines on in both directions and decides nothing.
//!
//! Standard input: `open N SOCKET<tab>QUEUE`, `send N TEXT`, `close N`. Standard output: `opened N`, `failed N WHY`,
//! `line N TEXT`, `closed N`, and before a `task.dispatch`, `seen N HEX`: the queue file as it was when the line came.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

type Out = Arc<Mutex<std::io::Stdout>>;

fn main() {
    let out: Out = Arc::new(Mutex::new(std::io::stdout()));
    let mut open: HashMap<String, UnixStream> = HashMap::new();
    for line in std::io::stdin().lines() {
        let Ok(line) = line else { return };
        let mut words = line.splitn(3, ' ');
        let (Some(verb), Some(channel)) = (words.next(), words.next()) else { continue };
        let rest = words.next().unwrap_or_default();
        match verb {
            "open" => {
                if let Some(stream) = connect(&out, channel, rest) {
                    open.insert(channel.to_owned(), stream);
                }
            }
            "send" => {
                if let Some(stream) = open.get_mut(channel) {
                    // A connection that is gone is told by its reader.
                    drop(stream.write_all(format!("{rest}\n").as_bytes()));
                }
            }
            _ => {
                if let Some(stream) = open.remove(channel) {
                    drop(stream.shutdown(Shutdown::Both));
                }
            }
        }
    }
}

fn connect(out: &Out, channel: &str, places: &str) -> Option<UnixStream> {
    let (socket, queue) = places.split_once('\t')?;
    let pair = UnixStream::connect(socket).and_then(|stream| Ok((stream.try_clone()?, stream)));
    match pair {
        Ok((reader, writer)) => {
            say(out, &format!("opened {channel}"));
            let (out, channel, queue) = (Arc::clone(out), channel.to_owned(), queue.to_owned());
            std::thread::spawn(move || pass_on(&out, &channel, &queue, reader));
            Some(writer)
        }
        Err(error) => {
            say(out, &format!("failed {channel} {error}"));
            None
        }
    }
}

fn pass_on(out: &Out, channel: &str, queue: &str, reader: UnixStream) {
    for line in BufReader::new(reader).lines() {
        let Ok(line) = line else { break };
        if line.contains("\"task.dispatch\"") {
            let bytes = std::fs::read(queue).unwrap_or_default();
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            say(out, &format!("seen {channel} {hex}"));
        }
        say(out, &format!("line {channel} {line}"));
    }
    say(out, &format!("closed {channel}"));
}

fn say(out: &Out, line: &str) {
    let Ok(mut out) = out.lock() else { return };
    // A test that is gone needs no answer.
    drop(out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()));
}
