//! Which notice is handed over next: a few at a time, a bounded number waiting, the same ones folded.
//!
//! Pure bookkeeping; time is given in.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::Notice;
use crate::clock;

/// Commands that run side by side.
const AT_A_TIME: usize = 2;
/// Notices that wait; one more drops the oldest.
const MOST_WAITING: usize = 64;
/// The same notice again within this time is counted, not handed over.
const SAME: Duration = Duration::from_secs(30);
/// So many are remembered to know the same one again.
const REMEMBERED: usize = 64;

/// One run of the command, to be.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) command: Vec<String>,
    pub(super) timeout: Duration,
    pub(super) notice: Notice,
    /// When it was noticed, RFC 3339.
    pub(super) at: String,
    /// How many more of the same came.
    pub(super) repeated: u64,
}

impl Order {
    pub(super) fn new(command: Vec<String>, timeout: Duration, notice: Notice) -> Self {
        Self { command, timeout, notice, at: clock::Wall::now().to_string(), repeated: 0 }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.notice == other.notice && self.command == other.command
    }
}

/// What became of an order.
#[derive(Debug)]
pub(super) enum Put {
    /// It waits.
    Queued,
    /// The same one was handed over lately, or waits.
    Folded,
    /// It waits, and this one had to make room.
    Dropped(Box<Order>),
}

#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<Order>,
    running: usize,
    /// Handed over lately, oldest first, each with how often it came again.
    lately: VecDeque<(Instant, Order)>,
}

impl Queue {
    pub(super) fn put(&mut self, mut order: Order, now: Instant) -> Put {
        if let Some(same) = self.waiting.iter_mut().find(|waiting| waiting.is_same(&order)) {
            same.repeated += 1;
            return Put::Folded;
        }
        if let Some(at) = self.lately.iter().position(|(_, known)| known.is_same(&order)) {
            let (since, known) = &mut self.lately[at];
            if now.saturating_duration_since(*since) < SAME {
                known.repeated += 1;
                return Put::Folded;
            }
            order.repeated = known.repeated;
            self.lately.remove(at);
        }
        if self.lately.len() == REMEMBERED {
            self.lately.pop_front();
        }
        self.lately.push_back((now, Order { repeated: 0, ..order.clone() }));
        self.waiting.push_back(order);
        if self.waiting.len() > MOST_WAITING
            && let Some(oldest) = self.waiting.pop_front()
        {
            return Put::Dropped(Box::new(oldest));
        }
        Put::Queued
    }

    /// The next to run, if there is a place.
    pub(super) fn next(&mut self) -> Option<Order> {
        if self.running == AT_A_TIME {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.running += 1;
        Some(next)
    }

    /// One has ended; the next takes its place.
    pub(super) fn ended(&mut self) -> Option<Order> {
        self.running = self.running.saturating_sub(1);
        self.next()
    }

    /// How many wait or run.
    pub(super) fn open(&self) -> usize {
        self.waiting.len() + self.running
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    fn order(text: &str) -> Order {
        let notice = Notice {
            kind: Kind::Blocked,
            project: "/p".into(),
            task_id: None,
            dispatch_id: None,
            state: "blocked",
            reason: Some("lock_live"),
            why: Some(text.into()),
            next: None,
            verdict: None,
        };
        Order::new(vec!["beep".into()], Duration::from_secs(1), notice)
    }

    fn handed_over(queue: &mut Queue) -> Vec<(String, u64)> {
        let mut all = Vec::new();
        while let Some(order) = queue.next() {
            all.push((order.notice.why.unwrap(), order.repeated));
            queue.running -= 1;
        }
        all
    }

    #[test]
    fn the_same_notice_is_folded_for_a_while() {
        let (mut queue, start) = (Queue::default(), Instant::now());
        for _ in 0..3 {
            queue.put(order("a"), start);
        }
        assert_eq!(handed_over(&mut queue), [("a".to_owned(), 2)]);
        for _ in 0..4 {
            assert!(matches!(queue.put(order("a"), start + SAME / 2), Put::Folded));
        }
        assert!(matches!(queue.put(order("b"), start), Put::Queued));
        assert_eq!(handed_over(&mut queue), [("b".to_owned(), 0)]);
        assert!(matches!(queue.put(order("a"), start + SAME), Put::Queued));
        assert_eq!(handed_over(&mut queue), [("a".to_owned(), 4)]);
    }

    #[test]
    fn few_run_and_few_wait() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for number in 0..AT_A_TIME {
            queue.put(order(&number.to_string()), now);
            assert!(queue.next().is_some());
        }
        for number in 100..100 + MOST_WAITING {
            assert!(matches!(queue.put(order(&number.to_string()), now), Put::Queued));
        }
        let Put::Dropped(dropped) = queue.put(order("last"), now) else { panic!("the oldest makes room") };
        assert_eq!(dropped.notice.why.unwrap(), "100");
        assert!(queue.next().is_none());
        assert_eq!(queue.ended().unwrap().notice.why.unwrap(), "101");
        assert_eq!(queue.open(), AT_A_TIME + MOST_WAITING - 1);
        assert!(queue.lately.len() <= REMEMBERED);
    }
}
