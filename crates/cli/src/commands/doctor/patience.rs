//! Asking file systems and programs that may never answer. A thread that hangs in the kernel cannot be ended, so it is left
//! behind; what is waited for is bounded, for one question and for all of them together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// How long a file system may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How long all that is asked at once may take.
pub(super) const ALL: Duration = Duration::from_secs(20);
/// How many are asked at a time: one that hangs holds up no other until so many do.
const AT_A_TIME: usize = 16;

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer<T> {
    /// The answer.
    Given(T),
    /// None came in time.
    Silent,
    /// The time was over before it was asked.
    NotAsked,
}

impl<T> Answer<T> {
    pub(super) fn given(self) -> Option<T> {
        match self {
            Self::Given(answer) => Some(answer),
            Self::Silent | Self::NotAsked => None,
        }
    }
}

/// Something to ask, and how long that may take.
pub(super) struct Question<T> {
    limit: Duration,
    ask: Box<dyn FnOnce() -> T + Send>,
}

impl<T> Question<T> {
    pub(super) fn new(limit: Duration, ask: impl FnOnce() -> T + Send + 'static) -> Self {
        Self { limit, ask: Box::new(ask) }
    }
}

/// Asks several at a time, the first ones first. The answers come in the order of the questions.
pub(super) fn ask_all<T: Send + 'static>(questions: Vec<Question<T>>, all: Duration) -> Vec<Answer<T>> {
    let deadline = Instant::now() + all;
    let next = AtomicUsize::new(0);
    let count = questions.len();
    let slots: Vec<_> = questions.into_iter().map(|question| Mutex::new((Some(question), Answer::NotAsked))).collect();
    let work = || {
        while let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(question) = slot.0.take_if(|_| !left.is_zero()) {
                slot.1 = within(question.limit.min(left), question.ask).map_or(Answer::Silent, Answer::Given);
            }
        }
    };
    std::thread::scope(|scope| {
        // Without threads this one does it all; a question has a thread of its own in any case.
        for _ in 1..AT_A_TIME.min(count) {
            std::thread::Builder::new().spawn_scoped(scope, work).ok();
        }
        work();
    });
    let answer = |slot: Mutex<(_, Answer<T>)>| slot.into_inner().unwrap_or_else(PoisonError::into_inner).1;
    slots.into_iter().map(answer).collect()
}

/// Does it on a thread of its own, which is left behind if it takes too long.
fn within<T: Send + 'static>(limit: Duration, act: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::Builder::new().name("doctor".to_owned());
    thread.spawn(move || sender.send(act()).ok()).ok()?;
    receiver.recv_timeout(limit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(100);
    /// Enough for threads to begin on a busy machine.
    const SOME: Duration = Duration::from_secs(3);

    /// `G`iven, `S`ilent or `N`ot asked; those of `hang` answer when the test is over, and have `limit` for it.
    #[track_caller]
    fn check(count: usize, hang: &[usize], limit: Duration, all: Duration, expected: &str) {
        let (release, gate) = mpsc::channel::<()>();
        let gate = std::sync::Arc::new(Mutex::new(gate));
        let question = |number: usize| {
            let gate = hang.contains(&number).then(|| std::sync::Arc::clone(&gate));
            Question::new(if gate.is_some() { limit } else { LONG }, move || {
                // All that hang wait for the same end.
                if let Some(gate) = gate {
                    gate.lock().unwrap().recv().ok();
                }
                number
            })
        };
        let begun = Instant::now();
        let answers = ask_all((0..count).map(question).collect(), all);
        assert!(begun.elapsed() < LONG);
        let word = |(number, answer): (usize, &Answer<usize>)| match answer {
            Answer::Given(given) => {
                assert_eq!(*given, number);
                'G'
            }
            Answer::Silent => 'S',
            Answer::NotAsked => 'N',
        };
        assert_eq!(answers.iter().enumerate().map(word).collect::<String>(), expected);
        drop(release);
    }

    #[test]
    fn answers_come_in_the_order_of_the_questions() {
        check(0, &[], LONG, LONG, "");
        check(40, &[], LONG, LONG, &"G".repeat(40));
    }

    #[test]
    fn what_hangs_is_left_behind_and_holds_up_nothing_else() {
        check(5, &[0, 3], SHORT, LONG, "SGGSG");
        // More than are asked at a time.
        let hang: Vec<usize> = (0..40).collect();
        check(42, &hang, SHORT, LONG, &format!("{}GG", "S".repeat(40)));
    }

    #[test]
    fn all_together_end_in_time_and_what_was_not_asked_is_said() {
        let hang: Vec<usize> = (0..AT_A_TIME).collect();
        check(AT_A_TIME + 2, &hang, LONG, SOME, &format!("{}NN", "S".repeat(AT_A_TIME)));
    }
}
