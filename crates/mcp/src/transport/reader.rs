//! Lines from the input, on a thread of its own: a read of standard input cannot be taken back, and must not keep the
//! server from ending.

use std::io::Read;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::transport::id::{Id, IdFinder};
use crate::transport::limits::{LINE, QUEUE};

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line without its end, or what stood behind the last one.
    Line(Vec<u8>),
    /// A line that was not kept; the id, if it has one.
    TooLong(Option<Id>),
}

/// Reads until the input ends or fails, or nobody listens. `ended` is cancelled then, also while lines are still waiting to
/// be taken.
pub(crate) fn spawn(input: impl Read + Send + 'static, ended: CancellationToken) -> mpsc::Receiver<Input> {
    let (lines, receiver) = mpsc::channel(QUEUE);
    std::thread::spawn(move || {
        read(input, &lines);
        ended.cancel();
    });
    receiver
}

fn read(mut input: impl Read, lines: &mpsc::Sender<Input>) {
    let mut chunk = vec![0; 64 << 10];
    let mut line = Line::default();
    loop {
        let count = match input.read(&mut chunk) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            // A failing input is one that ended.
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        let mut parts = chunk.get(..count).unwrap_or_default().split(|byte| *byte == b'\n');
        line.push(parts.next().unwrap_or_default());
        for part in parts {
            if lines.blocking_send(line.end()).is_err() {
                return;
            }
            line.push(part);
        }
    }
    if !line.is_empty() {
        // When nobody listens any more, the last line is for nobody.
        lines.blocking_send(line.end()).ok();
    }
}

/// A line while it comes in.
#[derive(Default)]
struct Line {
    kept: Vec<u8>,
    too_long: Option<IdFinder>,
}

impl Line {
    fn push(&mut self, part: &[u8]) {
        if let Some(finder) = &mut self.too_long {
            finder.feed(part);
        } else if self.kept.len() + part.len() <= LINE {
            self.kept.extend_from_slice(part);
        } else {
            let mut finder = IdFinder::default();
            finder.feed(&std::mem::take(&mut self.kept));
            finder.feed(part);
            self.too_long = Some(finder);
        }
    }

    fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.too_long.is_none()
    }

    fn end(&mut self) -> Input {
        match self.too_long.take() {
            Some(finder) => Input::TooLong(finder.found()),
            None => Input::Line(std::mem::take(&mut self.kept)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: impl Into<Vec<u8>>, expected: &[Input]) {
        let mut lines = spawn(std::io::Cursor::new(input.into()), CancellationToken::new());
        let mut read = Vec::new();
        while let Some(line) = lines.blocking_recv() {
            read.push(line);
        }
        assert_eq!(read, expected);
    }

    fn line(text: &str) -> Input {
        Input::Line(text.into())
    }

    #[test]
    fn lines_end_with_a_line_feed_or_the_input() {
        check("a\n\nb\r\nc", &[line("a"), line(""), line("b\r"), line("c")]);
        check("a\n", &[line("a")]);
        check("", &[]);
    }

    #[test]
    fn a_line_that_is_too_long_is_counted_and_forgotten() {
        let filling = "x".repeat(LINE);
        check(format!("{filling}\n{filling}x\nb"), &[line(&filling), Input::TooLong(None), line("b")]);
        check(format!("{{\"params\":\"{filling}\",\"id\":7}}\n"), &[Input::TooLong(Some(Id::Number(7)))]);
    }
}
