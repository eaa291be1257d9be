//! The queue before the journal's thread: bounded by rows and by bytes, in order, and never waited for unless asked.

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A row on its way.
pub(super) struct Row {
    /// With its line feed.
    pub(super) line: String,
    /// Told what became of the row; room for one answer.
    pub(super) confirm: Option<SyncSender<Result<(), String>>>,
}

/// There was no room.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

pub(super) struct Queue {
    state: Mutex<State>,
    /// A row came, or the end.
    came: Condvar,
    /// A row was taken or finished.
    went: Condvar,
    most_rows: usize,
    most_bytes: usize,
}

#[derive(Default)]
struct State {
    rows: VecDeque<Row>,
    bytes: usize,
    /// The thread works on a row that it has taken.
    busy: bool,
    closed: bool,
}

impl Queue {
    pub(super) fn new(most_rows: usize, most_bytes: usize) -> Self {
        Self { state: Mutex::default(), came: Condvar::new(), went: Condvar::new(), most_rows, most_bytes }
    }

    /// Takes `row` if there is room now, without waking the thread; [`Queue::wake`] follows.
    pub(super) fn push_quietly(&self, row: Row) -> Result<(), Full> {
        self.put_quietly(self.lock(), row)
    }

    /// Wakes the thread if a row waits.
    pub(super) fn wake(&self) {
        let waits = !self.lock().rows.is_empty();
        if waits {
            self.came.notify_one();
        }
    }

    /// Takes `row` as soon as there is room, until `deadline`.
    pub(super) fn push_by(&self, row: Row, deadline: Instant) -> Result<(), Full> {
        let patience = deadline.saturating_duration_since(Instant::now());
        let is_full = |state: &mut State| !state.closed && !self.has_room(state, &row);
        let waited = self.went.wait_timeout_while(self.lock(), patience, is_full);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        self.put(state, row)
    }

    /// For the thread: the next row, or `None` after the end. Call [`Queue::done`] when it was dealt with.
    pub(super) fn pop(&self) -> Option<Row> {
        let nothing = |state: &mut State| state.rows.is_empty() && !state.closed;
        let mut state = self.came.wait_while(self.lock(), nothing).unwrap_or_else(PoisonError::into_inner);
        let row = state.rows.pop_front()?;
        state.bytes -= row.line.len();
        state.busy = true;
        if state.rows.is_empty() {
            // The daemon idles for days; a burst must not keep its memory.
            state.rows.shrink_to(16);
        }
        self.went.notify_all();
        Some(row)
    }

    pub(super) fn done(&self) {
        self.lock().busy = false;
        self.went.notify_all();
    }

    /// Lets the thread end after what waits.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.came.notify_all();
        self.went.notify_all();
    }

    /// Waits until nothing waits or is worked on, until `deadline`. Returns whether that is so.
    pub(super) fn wait_until_empty(&self, deadline: Instant) -> bool {
        let patience = deadline.saturating_duration_since(Instant::now());
        let at_work = |state: &mut State| state.busy || !state.rows.is_empty();
        let waited = self.went.wait_timeout_while(self.lock(), patience, at_work);
        let (_state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        !timeout.timed_out()
    }

    fn put(&self, state: MutexGuard<'_, State>, row: Row) -> Result<(), Full> {
        self.put_quietly(state, row)?;
        // Whoever is woken wants the lock at once, so it has been given back.
        self.came.notify_one();
        Ok(())
    }

    fn put_quietly(&self, mut state: MutexGuard<'_, State>, row: Row) -> Result<(), Full> {
        if state.closed || !self.has_room(&state, &row) {
            return Err(Full);
        }
        state.bytes += row.line.len();
        state.rows.push_back(row);
        Ok(())
    }

    fn has_room(&self, state: &State, row: &Row) -> bool {
        let bytes_fit = state.rows.is_empty() || state.bytes + row.line.len() <= self.most_bytes;
        state.rows.len() < self.most_rows && bytes_fit
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
