//! Folding: a fact is written once, its repeats are counted, and the count is written when the window ends (F026, F272).
//!
//! Only repeats are held back. A fact that is the same in every word as the one before it of its project is counted while its
//! window is open; each window that counted something is followed by a longer one. What comes again after something else
//! was said is news (a state that comes back), and is written, up to [`RETURNS`] times in a window. And one place in the
//! program writes at most [`BURST`] facts of a project in [`FIRST_WINDOW_MS`], whatever their details. A count is written
//! before the next fact of its project, so that the lines stay in the order of what happened. All tables are bounded. Time
//! is given in, never read here.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, RandomState};

use tracing::Level;

use super::fact::{Fact, How, Repeated};

/// How long the first repeats are counted before the count is written, in ms.
pub(super) const FIRST_WINDOW_MS: u64 = 10_000;
/// The longest window that a fact that goes on and on comes to, in ms.
const LONGEST_WINDOW_MS: u64 = 3_600_000;
/// By how much a window grows when it ended with a count.
const GROWTH: u64 = 6;
/// How often a fact that is not the latest of its project is written in one window.
pub(super) const RETURNS: u32 = 20;
/// Facts of one place and project that are written in a window, at level info and above.
pub(super) const BURST: u32 = 100;
/// Entries in each table; the one that was opened first makes room.
const MOST: usize = 256;

/// What is to become of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is new: write it.
    Write,
    /// It was counted.
    Counted,
}

/// The facts that were lately written, and how often each was stated again.
pub(super) struct Folds {
    first_window_ms: u64,
    hasher: RandomState,
    windows: HashMap<u64, Window>,
    /// Those windows that have a count to tell.
    counting: HashSet<u64>,
    sites: HashMap<u64, Site>,
    /// The latest fact of each project.
    latest: HashMap<u64, u64>,
}

struct Window {
    /// The project of its facts.
    scope: u64,
    opened: u64,
    length: u64,
    /// Something was counted in it.
    grows: bool,
    /// How often its fact came again after another one.
    returns: u32,
    /// Since when `count` is counted.
    since: u64,
    count: u64,
    how: How,
    /// The last fact that was counted.
    last: Option<Box<Fact>>,
}

#[derive(Clone, Copy)]
struct Site {
    opened: u64,
    written: u32,
}

impl Folds {
    /// No facts yet. `first_window_ms` is [`FIRST_WINDOW_MS`] but for tests.
    pub(super) fn new(first_window_ms: u64) -> Self {
        Self {
            first_window_ms,
            hasher: RandomState::new(),
            windows: HashMap::new(),
            counting: HashSet::new(),
            sites: HashMap::new(),
            latest: HashMap::new(),
        }
    }

    /// Decides about `fact` at `now` (monotonic ms). Call [`Folds::due`] before, so that no window is over, and
    /// [`Folds::ahead_of`] before it is written.
    pub(super) fn admit(&mut self, fact: &Fact, now: u64) -> Verdict {
        let (same, scope) = (self.same(fact), self.scope(fact));
        let is_latest = self.set_latest(scope, same);
        if let Some(window) = self.windows.get_mut(&same)
            && (is_latest || window.returns == RETURNS)
        {
            window.add(fact);
            self.counting.insert(same);
            return Verdict::Counted;
        }
        let site = self.site(fact);
        if fact.level <= Level::INFO && !self.may_write(site, now) {
            let window = Window::open(scope, now, self.first_window_ms, How::Alike);
            self.windows.entry(site).or_insert(window).add(fact);
            self.counting.insert(site);
            return Verdict::Counted;
        }
        match self.windows.get_mut(&same) {
            Some(window) => window.returns += 1,
            None => drop(self.windows.insert(same, Window::open(scope, now, self.first_window_ms, How::Same))),
        }
        Verdict::Write
    }

    /// What was counted of the project of `fact` before it: those lines come first.
    pub(super) fn ahead_of(&mut self, fact: &Fact, now: u64) -> Vec<Fact> {
        let scope = self.scope(fact);
        let mut before = Vec::new();
        self.counting.retain(|key| match self.windows.get_mut(key) {
            Some(window) if window.scope != scope || window.how == How::Alike => true,
            window => {
                before.extend(window.and_then(|window| window.take(now)));
                false
            }
        });
        in_order(before)
    }

    /// Whether the latest fact of this project was the same.
    fn set_latest(&mut self, scope: u64, same: u64) -> bool {
        if self.latest.len() >= MOST && !self.latest.contains_key(&scope) {
            self.latest.clear();
        }
        self.latest.insert(scope, same) == Some(same)
    }

    /// The counts that are to be written now: of windows that are over, and of those that must make room.
    pub(super) fn due(&mut self, now: u64) -> Vec<Fact> {
        let mut due = Vec::new();
        self.windows.retain(|key, window| {
            if now < window.ends() {
                return true;
            }
            self.counting.remove(key);
            due.extend(window.take(now));
            window.go_on(now)
        });
        while self.windows.len() >= MOST {
            let Some(oldest) = self.windows.iter().min_by_key(|(_, window)| window.opened).map(|(&key, _)| key) else {
                break;
            };
            self.counting.remove(&oldest);
            due.extend(self.windows.remove(&oldest).and_then(|mut window| window.take(now)));
        }
        self.sites.retain(|_, site| now < site.opened + self.first_window_ms);
        in_order(due)
    }

    /// When the next count is to be written, in monotonic ms; `None` while nothing was counted.
    pub(super) fn next_due(&self) -> Option<u64> {
        self.counting.iter().filter_map(|key| self.windows.get(key)).map(Window::ends).min()
    }

    /// All counts, whatever their windows: the log ends.
    pub(super) fn drain(&mut self, now: u64) -> Vec<Fact> {
        self.counting.clear();
        in_order(self.windows.drain().filter_map(|(_, mut window)| window.take(now)).collect())
    }

    fn may_write(&mut self, site: u64, now: u64) -> bool {
        if self.sites.len() >= MOST && !self.sites.contains_key(&site) {
            return true;
        }
        let site = self.sites.entry(site).or_insert(Site { opened: now, written: 0 });
        site.written = site.written.saturating_add(1);
        site.written <= BURST
    }

    fn same(&self, fact: &Fact) -> u64 {
        let said = &fact.said;
        self.hasher.hash_one((&fact.site, &said.project, &said.task, &said.message, HashedFields(&said.fields)))
    }

    fn scope(&self, fact: &Fact) -> u64 {
        self.hasher.hash_one(&fact.said.project)
    }

    fn site(&self, fact: &Fact) -> u64 {
        self.hasher.hash_one((&fact.site, &fact.said.project))
    }
}

fn in_order(mut counts: Vec<Fact>) -> Vec<Fact> {
    counts.sort_by_key(|fact| fact.at);
    counts
}

impl Window {
    fn open(scope: u64, opened: u64, length: u64, how: How) -> Self {
        Self { scope, opened, length, grows: false, returns: 0, since: opened, count: 0, how, last: None }
    }

    fn ends(&self) -> u64 {
        self.opened.saturating_add(self.length)
    }

    fn add(&mut self, fact: &Fact) {
        self.grows = true;
        self.count += 1;
        match &mut self.last {
            Some(last) if self.how == How::Same => last.at = fact.at,
            last => *last = Some(Box::new(fact.clone())),
        }
    }

    /// What was counted so far.
    fn take(&mut self, now: u64) -> Option<Fact> {
        let mut fact = *self.last.take()?;
        let within_ms = now.saturating_sub(self.since);
        fact.repeated = Some(Repeated { count: self.count, within_ms, how: self.how });
        (self.count, self.since) = (0, now);
        Some(fact)
    }

    /// Ends this window; a longer one follows if it counted something.
    fn go_on(&mut self, now: u64) -> bool {
        (self.opened, self.since, self.returns) = (now, now, 0);
        self.length = (self.length * GROWTH).min(LONGEST_WINDOW_MS);
        std::mem::take(&mut self.grows)
    }
}

/// Values of JSON cannot be hashed; their text can.
struct HashedFields<'a>(&'a [(&'static str, serde_json::Value)]);

impl Hash for HashedFields<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        for (name, value) in self.0 {
            name.hash(state);
            match value {
                serde_json::Value::String(text) => text.hash(state),
                other => other.to_string().hash(state),
            }
        }
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
