//! Words of a command line as a POSIX shell splits and quotes them: as far as the commands go that handoffd suggests.
//! No variables, no globs, nothing is run here.

pub(crate) use queue::quoted;

/// Splits a command line into words; `None` for an open quote.
pub(crate) fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        quoted => word.push(quoted),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        quoted => word.push(quoted),
                    }
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_comes_back() {
        for word in ["T-1", "a b", "it's", "-x", "", "\\", "约"] {
            assert_eq!(split(&format!("handoff cancel {}", quoted(word))).unwrap(), ["handoff", "cancel", word]);
        }
        assert_eq!(split("a  'b"), None);
        assert_eq!(split(" a  b ").unwrap(), ["a", "b"]);
    }

    #[test]
    fn words_in_double_quotes_as_systemd_prints_them() {
        let words = split(r#""/home/my home/a" /b "c\"d\\\$e\f" "" "#).unwrap();
        assert_eq!(words, ["/home/my home/a", "/b", r#"c"d\$e\f"#, ""]);
        assert_eq!(split("\"open"), None);
    }
}
