//! Which notice is handed over next: a few at a time, a bounded number waiting, the same ones folded, and of one kind only a
//! few in a short time: after a reboot the tasks of fifty projects fail at once, and a person hears of it six times.
//!
//! Pure bookkeeping; time is given in.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use super::{Kind, Notice};
use crate::clock;

/// Commands that run side by side.
const AT_A_TIME: usize = 2;
/// Notices that wait; one more drops the oldest.
const MOST_WAITING: usize = 64;
/// The same notice again within this time is counted, not handed over.
const SAME: Duration = Duration::from_secs(30);
/// Notices of one kind that are handed over within [`CROWD`], whatever they are about.
const FEW: u32 = 5;
/// Those beyond are counted until it is over; then the newest is handed over with their number.
pub(super) const CROWD: Duration = Duration::from_secs(10);
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
    /// How many others of its kind came at the same time.
    pub(super) others: u64,
}

impl Order {
    pub(super) fn new(command: Vec<String>, timeout: Duration, notice: Notice) -> Self {
        Self { command, timeout, notice, at: clock::Wall::now().to_string(), repeated: 0, others: 0 }
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
    /// It is the first beyond the few of its kind: [`Queue::release`] is to be called when [`CROWD`] is over.
    Held,
    /// It waits, and this one had to make room.
    Dropped(Box<Order>),
}

#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<Order>,
    running: usize,
    /// Handed over lately, oldest first, each with how often it came again.
    lately: VecDeque<(Instant, Order)>,
    /// What was handed over of each kind, by command.
    crowds: HashMap<(Kind, Vec<String>), Crowd>,
}

struct Crowd {
    since: Instant,
    handed_over: u32,
    /// The newest of those that are counted.
    held: Option<Order>,
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
        match self.crowd(&order, now) {
            crowd if crowd.handed_over < FEW => crowd.handed_over += 1,
            Crowd { held: Some(held), .. } => {
                *held = Order { others: held.others + 1, ..order };
                return Put::Folded;
            }
            crowd => {
                crowd.held = Some(order);
                return Put::Held;
            }
        }
        self.wait(order)
    }

    /// What was handed over lately of the kind of `order`.
    fn crowd(&mut self, order: &Order, now: Instant) -> &mut Crowd {
        self.crowds.retain(|_, crowd| crowd.held.is_some() || now.saturating_duration_since(crowd.since) < CROWD);
        let fresh = Crowd { since: now, handed_over: 0, held: None };
        self.crowds.entry((order.notice.kind, order.command.clone())).or_insert(fresh)
    }

    /// Hands over what was held of crowds that are over by `now`, or of all.
    pub(super) fn release(&mut self, now: Option<Instant>) -> Vec<Order> {
        let is_over = |crowd: &Crowd| now.is_none_or(|now| now.saturating_duration_since(crowd.since) >= CROWD);
        let over = self.crowds.extract_if(|_, crowd| is_over(crowd));
        let held: Vec<Order> = over.filter_map(|(_, crowd)| crowd.held).collect();
        held.into_iter()
            .filter_map(|order| match self.wait(order) {
                Put::Dropped(dropped) => Some(*dropped),
                _ => None,
            })
            .collect()
    }

    fn wait(&mut self, order: Order) -> Put {
        self.waiting.push_back(order);
        if self.waiting.len() > MOST_WAITING
            && let Some(oldest) = self.waiting.pop_front()
        {
            return Put::Dropped(Box::new(oldest));
        }
        Put::Queued
    }

    /// What waits is no longer to be run.
    pub(super) fn take_waiting(&mut self) -> VecDeque<Order> {
        std::mem::take(&mut self.waiting)
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

    /// How many wait, are held or run.
    pub(super) fn open(&self) -> usize {
        let held = self.crowds.values().filter(|crowd| crowd.held.is_some()).count();
        self.waiting.len() + held + self.running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(text: &str) -> Order {
        order_of(Kind::Blocked, text)
    }

    fn order_of(kind: Kind, text: &str) -> Order {
        let notice = Notice {
            kind,
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
    fn of_a_crowd_a_few_are_told_and_the_rest_is_one_with_a_number() {
        let (mut queue, start) = (Queue::default(), Instant::now());
        let put = |queue: &mut Queue, number: u32| queue.put(order_of(Kind::Failed, &number.to_string()), start);
        for number in 0..FEW {
            assert!(matches!(put(&mut queue, number), Put::Queued));
        }
        assert!(matches!(put(&mut queue, 10), Put::Held));
        for number in 11..50 {
            assert!(matches!(put(&mut queue, number), Put::Folded));
        }
        assert!(matches!(queue.put(order("another kind"), start), Put::Queued));
        assert_eq!(handed_over(&mut queue).len(), FEW as usize + 1);
        assert!(queue.release(Some(start + CROWD / 2)).is_empty() && queue.next().is_none() && queue.open() == 1);
        assert!(queue.release(Some(start + CROWD)).is_empty());
        let last = queue.next().unwrap();
        assert_eq!((last.notice.why.as_deref(), last.others), (Some("49"), 39));
        assert!(matches!(queue.put(order_of(Kind::Failed, "later"), start + CROWD), Put::Queued));
    }

    #[test]
    fn what_is_held_goes_at_the_end() {
        let (mut queue, start) = (Queue::default(), Instant::now());
        for number in 0..=FEW {
            queue.put(order(&number.to_string()), start);
        }
        handed_over(&mut queue);
        queue.release(None);
        assert_eq!(handed_over(&mut queue), [(FEW.to_string(), 0)]);
    }

    #[test]
    fn few_run_and_few_wait() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for number in 0..AT_A_TIME {
            queue.put(order(&number.to_string()), now);
            assert!(queue.next().is_some());
        }
        // Each of a command of its own: no crowd.
        let of_its_own = |text: &str| Order { command: vec![text.to_owned()], ..order(text) };
        for number in 100..100 + MOST_WAITING {
            assert!(matches!(queue.put(of_its_own(&number.to_string()), now), Put::Queued));
        }
        let Put::Dropped(dropped) = queue.put(of_its_own("last"), now) else { panic!("the oldest makes room") };
        assert_eq!(dropped.notice.why.unwrap(), "100");
        assert!(queue.next().is_none());
        assert_eq!(queue.ended().unwrap().notice.why.unwrap(), "101");
        assert_eq!(queue.open(), AT_A_TIME + MOST_WAITING - 1);
        assert!(queue.lately.len() <= REMEMBERED);
    }
}
