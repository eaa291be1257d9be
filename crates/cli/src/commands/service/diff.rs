//! The difference of two small texts, line by line, as people know it from `diff -u`.

/// One line of the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change<'a> {
    /// In both.
    Same(&'a str),
    /// Only in the first.
    Gone(&'a str),
    /// Only in the second.
    New(&'a str),
}

/// All lines of both, in order. The texts are unit files: the table of `old × new` lines is small. Beyond
/// [`MOST_LINES`] a text counts as replaced whole.
pub(super) fn lines<'a>(old: &'a str, new: &'a str) -> Vec<Change<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old.len().max(new.len()) > MOST_LINES {
        return old.into_iter().map(Change::Gone).chain(new.into_iter().map(Change::New)).collect();
    }
    let common = common_behind(&old, &new);
    let (mut at, mut to, mut changes) = (0, 0, Vec::new());
    while at < old.len() || to < new.len() {
        if at < old.len() && to < new.len() && old[at] == new[to] {
            changes.push(Change::Same(old[at]));
            (at, to) = (at + 1, to + 1);
        } else if to == new.len() || (at < old.len() && common[at + 1][to] >= common[at][to + 1]) {
            changes.push(Change::Gone(old[at]));
            at += 1;
        } else {
            changes.push(Change::New(new[to]));
            to += 1;
        }
    }
    changes
}

const MOST_LINES: usize = 1000;

/// How many lines are common from `[at][to]` on.
fn common_behind(old: &[&str], new: &[&str]) -> Vec<Vec<u16>> {
    let mut common = vec![vec![0_u16; new.len() + 1]; old.len() + 1];
    for at in (0..old.len()).rev() {
        for to in (0..new.len()).rev() {
            common[at][to] = match old[at] == new[to] {
                true => common[at + 1][to + 1] + 1,
                false => common[at + 1][to].max(common[at][to + 1]),
            };
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let told: String = lines(old, new)
            .into_iter()
            .map(|change| match change {
                Change::Same(line) => format!(" {line}"),
                Change::Gone(line) => format!("-{line}"),
                Change::New(line) => format!("+{line}"),
            })
            .collect::<Vec<_>>()
            .join("|");
        assert_eq!(told, expected);
    }

    #[test]
    fn lines_in_both_are_found_again() {
        check("", "", "");
        check("a\nb\nc", "a\nx\nc", " a|-b|+x| c");
        check("a\nb", "b\nc", "-a| b|+c");
        check("", "a\nb", "+a|+b");
        check("a\nb", "", "-a|-b");
    }

    #[test]
    fn a_huge_text_is_replaced_whole() {
        let huge = "line\n".repeat(MOST_LINES + 1);
        assert_eq!(lines(&huge, "line\n").len(), MOST_LINES + 2);
    }
}
