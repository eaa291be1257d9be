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

/// Number of characters to insert, delete or replace (Levenshtein), ignoring ASCII case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replace = diagonal + usize::from(!from.eq_ignore_ascii_case(to));
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(row[j + 1] + 1);
        }
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
