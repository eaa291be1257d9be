//! Which texts may be a part of a path: ids of agents and of goals (D74).

/// The longest id, in characters.
const PART_MAX_CHARS: usize = 64;

/// Whether `text` is 1 to 64 of `A-Z a-z 0-9 _ -`. Goals and agents that are not have no place on disk.
#[must_use]
pub fn is_path_part(text: &str) -> bool {
    (1..=PART_MAX_CHARS).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_letters_digits_and_two_signs() {
        for good in ["a", "-", "_", "-_-", "A_B-9", "6f1c2a8e-1111-4222-8333-444455556666", &"t".repeat(64)] {
            assert!(is_path_part(good), "{good}");
        }
        for bad in ["", ".", "..", "a.b", "a/b", "a b", "C:", "é", "a\0", "a\n", "Ａ", &"t".repeat(65)] {
            assert!(!is_path_part(bad), "{bad:?}");
        }
    }
}
