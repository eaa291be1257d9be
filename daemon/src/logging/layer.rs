//! From an event of `tracing` to a line in the queue, without ever waiting for whoever writes it.
//!
//! Nothing in here may log: a fact about the log would feed the log (F272). Lines that found the queue full are told by one
//! line when there is room again; those that could not be written, by the sink.

use std::cell::Cell;
use std::io::Write as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing::field::Visit;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::fact::{Fact, Said};
use super::fold::{Folds, Verdict};
use super::form::Form;
use super::sink::Progress;
use crate::clock::{self, Wall};

/// How often lost lines are told at most, in ms.
pub(super) const TELL_LOSSES_MS: u64 = 10_000;

/// What the layer, the thread that ends windows and the guard share.
pub(super) struct Pipe {
    state: Mutex<State>,
    /// Told when the first repeat is counted, and at the end.
    wake: Condvar,
    form: Form,
    dropped: ErrorCounter,
    progress: Arc<Progress>,
}

struct State {
    folds: Folds,
    out: NonBlocking,
    /// Lines handed to `out`, dropped ones included.
    sent: u64,
    losses_told: u64,
    tell_losses_at: u64,
    /// The log has ended: nothing more is counted or written.
    closed: bool,
}

impl Pipe {
    pub(super) fn new(out: NonBlocking, form: Form, folds: Folds, progress: Arc<Progress>) -> Self {
        let dropped = out.error_counter();
        let state = State { folds, out, sent: 0, losses_told: 0, tell_losses_at: 0, closed: false };
        Self { state: Mutex::new(state), wake: Condvar::new(), form, dropped, progress }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lines that found the queue full.
    pub(super) fn dropped(&self) -> u64 {
        u64::try_from(self.dropped.dropped_lines()).unwrap_or(u64::MAX)
    }

    /// Waits until every line so far was handed to the system, at most `limit`.
    pub(super) fn flush(&self, limit: Duration) {
        let sent = self.lock().sent;
        self.progress.wait_for(sent.saturating_sub(self.dropped()), limit);
    }

    /// The work of the thread that writes counts when their window is over, even if nothing else happens: returns when
    /// the log is closed, and sleeps unless something was counted.
    pub(super) fn watch_windows(&self) {
        let mut state = self.lock();
        while !state.closed {
            let due = self.end_windows(&mut state);
            let forever = Duration::from_secs(24 * 3600);
            let pause = due.map_or(forever, |due| Duration::from_millis(due.saturating_sub(clock::monotonic_ms())));
            let woken = self.wake.wait_timeout(state, pause);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Writes the counts whose window is over. Returns when the next one is, in monotonic ms.
    fn end_windows(&self, state: &mut State) -> Option<u64> {
        let due = state.folds.due(clock::monotonic_ms());
        self.tell_counts(state, due);
        state.folds.next_due()
    }

    /// Writes all counts and takes nothing more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.tell_losses_at = 0;
        self.tell_losses(&mut state);
        let rest = state.folds.drain(clock::monotonic_ms());
        self.tell_counts(&mut state, rest);
        state.closed = true;
        self.wake.notify_all();
    }

    /// Whether the log has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn take(&self, fact: &Fact) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        let next = self.end_windows(&mut state);
        self.tell_losses(&mut state);
        match state.folds.admit(fact, clock::monotonic_ms()) {
            Verdict::Write => {
                let before = state.folds.ahead_of(fact, clock::monotonic_ms());
                self.tell_counts(&mut state, before);
                state.send(&self.form.line(fact));
            }
            // The thread that ends windows sleeps until `next`, or for good: it must hear of an earlier end.
            Verdict::Counted if next != state.folds.next_due() => self.wake.notify_all(),
            Verdict::Counted => {}
        }
    }

    /// A count is a fact of the moment when it is told: `(4 more in 10 s)` are the 10 s before the time of the line.
    fn tell_counts(&self, state: &mut State, counts: Vec<Fact>) {
        for mut count in counts {
            count.at = Wall::now();
            state.send(&self.form.line(&count));
        }
    }

    fn tell_losses(&self, state: &mut State) {
        let now = clock::monotonic_ms();
        let dropped = self.dropped();
        if dropped == state.losses_told || now < state.tell_losses_at {
            return;
        }
        state.losses_told = dropped;
        state.tell_losses_at = now + TELL_LOSSES_MS;
        state.send(&self.form.line(&losses(dropped, 0, None)));
    }
}

impl State {
    fn send(&mut self, line: &str) {
        self.sent += 1;
        // A full queue is no error here: it is counted by the queue and told later.
        self.out.write_all(line.as_bytes()).ok();
    }
}

/// That lines were lost: those that found the queue full, those that could not be written and why.
pub(super) fn losses(dropped: u64, failed: u64, error: Option<&str>) -> Fact {
    let mut fields = vec![("dropped", dropped.into()), ("failed", failed.into())];
    fields.extend(error.map(|error| ("error", error.into())));
    let mut fact = about_the_log("log lines were lost".to_owned());
    fact.said.fields = fields;
    fact
}

/// A warning about the log itself.
pub(super) fn about_the_log(message: String) -> Fact {
    let said = Said { message, ..Said::default() };
    Fact { at: Wall::now(), level: Level::WARN, target: module_path!(), site: None, said, repeated: None }
}

/// The layer of `tracing-subscriber`.
pub(super) struct FactLayer {
    pub(super) pipe: Arc<Pipe>,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for FactLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        outside_log(|| {
            let mut said = Said::default();
            attributes.record(&mut said as &mut dyn Visit);
            span.extensions_mut().insert(said);
        });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        outside_log(|| {
            let mut said = span.extensions_mut().remove::<Said>().unwrap_or_default();
            values.record(&mut said);
            span.extensions_mut().insert(said);
        });
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        outside_log(|| {
            let mut said = Said::default();
            event.record(&mut said);
            for span in context.event_scope(event).into_iter().flatten() {
                if let Some(outer) = span.extensions().get::<Said>() {
                    said.within(outer);
                }
            }
            let meta = event.metadata();
            let (level, target, site) = (*meta.level(), meta.target(), Some(meta.callsite()));
            self.pipe.take(&Fact { at: Wall::now(), level, target, site, said, repeated: None });
        });
    }
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is writing a fact at this moment.
pub(super) fn is_inside() -> bool {
    INSIDE.get()
}

/// Runs `work` unless this thread is inside already: a value that logs while it is shown, or a panic in here that the
/// panic hook wants to log, would otherwise wait for a lock that its own thread holds.
fn outside_log(work: impl FnOnce()) {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            INSIDE.set(false);
        }
    }
    if !INSIDE.replace(true) {
        let _leave = Leave;
        work();
    }
}
