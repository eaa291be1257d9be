//! Where words go: results to stdout, all else to stderr; colour on a terminal only. A reader that went away (`| head`)
//! ends the writing, quietly, and never the program's answer (F117).

use std::io::{self, IsTerminal as _, Write};

use anstyle::{AnsiColor, Style};
use handoffd::env::Env;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::redact::Redaction;
use crate::text::{Line, Tone, escaped_json};

/// Stdout and stderr of this process.
#[derive(Debug)]
pub(crate) struct Output {
    results: Stream,
    remarks: Stream,
    fault: Option<io::Error>,
    redaction: Option<Redaction>,
}

/// What one of the two streams leads to.
#[derive(Debug, Clone, Copy)]
struct Stream {
    terminal: bool,
    colour: bool,
}

/// Whether `Output::screen` has the terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FullScreen {
    /// From now on; what was there comes back at the end.
    Begin,
    /// No longer.
    End,
}

const HOME: &str = "\x1b[H";
const CLEAR_LINE: &str = "\x1b[K\r\n";
const CLEAR_REST: &str = "\x1b[J";

impl Output {
    /// The streams as they are.
    pub(crate) fn of_process(env: &Env) -> Self {
        let dumb = env.term.as_deref().is_some_and(|term| term == "dumb");
        let stream = |terminal| Stream { terminal, colour: terminal && !env.no_color && !dumb };
        let (results, remarks) = (stream(io::stdout().is_terminal()), stream(io::stderr().is_terminal()));
        Self { results, remarks, fault: None, redaction: None }
    }

    /// Remarks go to stderr without colour, results nowhere.
    pub(crate) fn without_results() -> Self {
        let stream = Stream { terminal: false, colour: false };
        let fault = Some(io::ErrorKind::BrokenPipe.into());
        Self { results: stream, remarks: stream, fault, redaction: None }
    }

    /// From now on credentials in results are masked, if `on`.
    pub(crate) fn redact(&mut self, on: bool) {
        self.redaction = on.then(Redaction::default);
    }

    /// Whether stdout is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.results.terminal
    }

    /// The columns of the terminal; `None` when lines should stay whole.
    pub(crate) fn width(&self) -> Option<usize> {
        self.size().map(|(columns, _)| columns)
    }

    /// Columns and rows of the terminal, if stdout is one that tells.
    pub(crate) fn size(&self) -> Option<(usize, usize)> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok().filter(|_| self.results.terminal)?;
        (size.ws_col > 0).then_some((usize::from(size.ws_col), usize::from(size.ws_row)))
    }

    /// Whether nobody reads stdout any more: streams stop then, also when there is nothing to write just now (F117).
    pub(crate) fn is_closed(&self) -> bool {
        let gone = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
        let stdout = io::stdout();
        let mut look = [PollFd::new(&stdout, PollFlags::empty())];
        self.fault.is_some()
            || poll(&mut look, Some(&Timespec::default())).is_ok_and(|told| told > 0)
                && look[0].revents().intersects(gone)
    }

    /// One line of the result.
    pub(crate) fn line(&mut self, line: impl Into<Line>) {
        let line = line.into();
        let line = self.redaction.as_mut().map_or_else(|| line.clone(), |redaction| redaction.line(&line));
        let text = painted(&line, self.results) + "\n";
        self.raw(text.as_bytes());
    }

    /// A whole screen in place of the one before: what does not fit is left out.
    pub(crate) fn screen(&mut self, lines: &[Line]) {
        let (columns, rows) = self.size().unwrap_or((80, 24));
        let mut text = String::from(HOME);
        for line in lines.iter().take(rows.saturating_sub(1)) {
            text += &painted(&line.cut(columns), self.results);
            text += CLEAR_LINE;
        }
        text += CLEAR_REST;
        self.raw(text.as_bytes());
    }

    /// Gives the terminal to `screen`, or back.
    pub(crate) fn full_screen(&mut self, on: FullScreen) {
        self.raw(match on {
            FullScreen::Begin => b"\x1b[?1049h\x1b[?25l",
            FullScreen::End => b"\x1b[?25h\x1b[?1049l",
        });
    }

    /// One JSON value of the result, on one line.
    pub(crate) fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        match serde_json::to_string(value) {
            Ok(text) => self.json_text(&text),
            Err(error) => self.fault = Some(error.into()),
        }
    }

    /// As `json`, for a value that is text already.
    pub(crate) fn json_text(&mut self, text: &str) {
        // A bare line break in JSON is white space.
        let text = text.replace(['\n', '\r'], " ");
        let text = if self.redaction.is_some() { Redaction::json(&text) } else { text };
        let text = if self.results.terminal { escaped_json(&text) } else { text.into() };
        self.raw(format!("{text}\n").as_bytes());
    }

    /// A text of the result, to the letter but for what is masked.
    pub(crate) fn text(&mut self, text: &str) {
        let text = if self.redaction.is_some() { secrets::mask(text) } else { text.into() };
        self.raw(text.as_bytes());
    }

    /// Bytes of the result as they are: only for what we made ourselves.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        if self.fault.is_none() {
            let mut stdout = io::stdout().lock();
            self.fault = stdout.write_all(bytes).and_then(|()| stdout.flush()).err();
        }
    }

    /// A remark for the person.
    pub(crate) fn note(&self, line: impl Into<Line>) {
        let text = painted(&line.into(), self.remarks) + "\n";
        // Without stderr there is nobody to tell.
        io::stderr().write_all(text.as_bytes()).ok();
    }

    /// Something that somebody should look at.
    pub(crate) fn warn(&self, text: &str) {
        self.note(Line::of(Tone::Warning, "Warning:").plain(" ").plain(text));
    }

    /// Why the command failed.
    pub(crate) fn failure(&self, failure: &Failure) {
        self.note(Line::of(Tone::Bad, "Error:").plain(" ").plain(&failure.message));
        for problem in &failure.problems {
            self.note(Line::from("  ").plain(problem));
        }
        for hint in &failure.hints {
            self.note(Line::of(Tone::Strong, "Hint:").plain(" ").plain(hint));
        }
    }

    /// The exit code after all was said: a result that could not be written is a failure, a reader that left is not.
    pub(crate) fn finish(&self, exit: Exit) -> Exit {
        match &self.fault {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.failure(&Failure::new(Exit::NotGood, format!("cannot write to stdout: {error}")));
                if exit == Exit::Good { Exit::NotGood } else { exit }
            }
            _ => exit,
        }
    }
}

fn painted(line: &Line, stream: Stream) -> String {
    let mut text = String::new();
    for (tone, piece) in line.pieces() {
        let style = style(tone);
        match stream.colour && style != Style::new() && !piece.is_empty() {
            true => text.push_str(&format!("{style}{piece}{style:#}")),
            false => text.push_str(piece),
        }
    }
    text.truncate(text.trim_end_matches(' ').len());
    text
}

fn style(tone: Tone) -> Style {
    let colour = |colour: AnsiColor| colour.on_default();
    match tone {
        Tone::Plain => Style::new(),
        Tone::Strong => Style::new().bold(),
        Tone::Dim => Style::new().dimmed(),
        Tone::Good => colour(AnsiColor::Green),
        Tone::Warning => colour(AnsiColor::Yellow),
        Tone::Bad => colour(AnsiColor::Red).bold(),
    }
}
