//! Words of commands that are suggested to people.

/// A word as it can be pasted into a shell: as it is where that is harmless, else in single quotes. Control characters are
/// left out: a terminal would take them for keys.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        return word.to_owned();
    }
    let clean: String = word.chars().filter(|c| !c.is_control()).collect();
    format!("'{}'", clean.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_harmless_stays_and_all_else_is_one_word() {
        let check = |word: &str, expected: &str| assert_eq!(quoted(word), expected);
        check("/w/shop", "/w/shop");
        check("T-1", "T-1");
        check("-x", "'-x'");
        check("", "''");
        check("my shop", "'my shop'");
        check("it's", r"'it'\''s'");
        check("a\u{3}b;c", "'ab;c'");
    }
}
