//! The known word that is nearest to a mistyped one.
//!
//! Used for keys of the configuration and for names of projects; it only compares words.

/// The candidate within a third of the word's length (at least one change), if there is one; the first of equals.
pub fn nearest<'w>(word: &str, known: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let allowed = (word.chars().count() / 3).max(1);
    known
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Number of characters to insert, delete or replace, or of neighbours to exchange, ignoring ASCII case.
fn distance(a: &str, b: &str) -> usize {
    let characters = |word: &str| word.chars().map(|c| c.to_ascii_lowercase()).collect::<Vec<_>>();
    let (a, b) = (characters(a), characters(b));
    // What the first characters of `a`, one more in each row, differ from the first ones of `b`.
    let mut before = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let replaced = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && (a[i - 1], a[i - 2]) == (b[j - 2], b[j - 1]) {
                least = least.min(before[j - 2] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_a_stranger_finds_none() {
        let known = ["accept_timeout", "async_grace", "path", "mode"];
        let check = |word: &str, expected: Option<&str>| assert_eq!(nearest(word, known.into_iter()), expected);
        check("acept_timeout", Some("accept_timeout"));
        check("accept-timeout", Some("accept_timeout"));
        check("Async_Grace", Some("async_grace"));
        check("pth", Some("path"));
        check("mdoe", Some("mode"));
        check("paht", Some("path"));
        check("colour", None);
        check("", None);
    }

    #[test]
    fn distances_are_counted_both_ways() {
        let check = |a: &str, b: &str, expected| {
            assert_eq!(distance(a, b), expected);
            assert_eq!(distance(b, a), expected);
        };
        check("", "abc", 3);
        check("abc", "abc", 0);
        check("kitten", "sitting", 3);
    }
}
