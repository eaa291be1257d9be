//! The file names of a project (queue protocol; D15, D17, D64). Nothing else in the crate spells them.

use jiff::Timestamp;

/// The queue, in the project root.
pub const QUEUE: &str = "tasks.json";
/// The folder of Pi, in the project root.
pub const PI: &str = ".pi";
/// The ownership lock, in `.pi`.
pub const LOCK: &str = "pi-claude-handoff.lock";
/// The guard of the lock, in `.pi` (D17).
pub const GUARD: &str = "pi-claude-handoff.lock.guard";

/// Where a temporary of ours stands in its life (D64).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Being written: never the only copy of anything.
    New,
    /// From before the exchange on: may hold what the planner wrote.
    Swap,
}

/// `.<target>.<digits>.new` or `.swap`.
pub(crate) fn temporary(target: &str, digits: &str, stage: Stage) -> String {
    let end = match stage {
        Stage::New => "new",
        Stage::Swap => "swap",
    };
    format!(".{target}.{digits}.{end}")
}

/// The stage of a temporary of `target`, if `name` is one: exactly our spelling, nothing like it.
pub(crate) fn temporary_stage(target: &str, name: &str) -> Option<Stage> {
    let rest = name.strip_prefix('.')?.strip_prefix(target)?.strip_prefix('.')?;
    let (digits, end) = rest.split_once('.')?;
    let ours = digits.len() == 32 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    match end {
        "new" if ours => Some(Stage::New),
        "swap" if ours => Some(Stage::Swap),
        _ => None,
    }
}

/// A time as it stands in a file name: `20261130T081203Z`.
pub(crate) fn time_in_name(now: Timestamp) -> String {
    now.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// `base`, then `base-2`, `base-3` …, for names that may be taken.
pub(crate) fn candidates(base: &str) -> impl Iterator<Item = String> {
    let first = base.to_owned();
    let more = base.to_owned();
    std::iter::once(first).chain((2..100).map(move |number| format!("{more}-{number}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_spelling_is_a_temporary() {
        let digits = "0123456789abcdef0123456789abcdef";
        for stage in [Stage::New, Stage::Swap] {
            assert_eq!(temporary_stage(QUEUE, &temporary(QUEUE, digits, stage)), Some(stage));
        }
        for name in [
            "tasks.json",
            ".tasks.json.new",
            ".tasks.json.0123.new",
            ".tasks.json.0123456789ABCDEF0123456789ABCDEF.new",
            ".tasks.json.0123456789abcdef0123456789abcdef.new~",
            ".tasks.json.0123456789abcdef0123456789abcdef",
            ".other.json.0123456789abcdef0123456789abcdef.new",
        ] {
            assert_eq!(temporary_stage(QUEUE, name), None, "{name}");
        }
    }

    #[test]
    fn times_in_names_sort_and_have_no_colon() {
        let time: Timestamp = "2026-11-30T08:12:03.120Z".parse().unwrap();
        assert_eq!(time_in_name(time), "20261130T081203Z");
    }
}
