//! Text for ledgers: cut at characters, credentials masked, and JSON in which nothing hides or turns round what a person
//! reads.

/// How much of a foreign text a row holds, in characters (D75).
pub(crate) const KEPT_MAX_CHARS: usize = 200;
/// How much of it is searched for credentials, in characters: far more than is kept, so that none is cut in two.
const MASKED_MAX_CHARS: usize = 16 << 10;

/// What a row keeps of a foreign text: its beginning, credentials masked (D78); and whether that is not all of it.
pub(crate) fn kept(text: &str) -> (String, bool) {
    let searched = first_chars(text, MASKED_MAX_CHARS);
    let masked = secrets::mask(searched);
    let kept = first_chars(&masked, KEPT_MAX_CHARS);
    (kept.to_owned(), kept.len() < masked.len() || searched.len() < text.len())
}

/// The first `max` characters.
pub(crate) fn first_chars(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(end, _)| &text[..end])
}

/// As much as fits in `max` bytes, whole characters only.
pub(crate) fn first_bytes(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// JSON that means the same, with control, direction, zero-width and line-separating characters as escapes.
pub(crate) fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            let mut units = [0; 2];
            escaped.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_keep_characters_whole() {
        assert_eq!(first_chars("約束約束", 3), "約束約");
        assert_eq!(first_chars("約", 3), "約");
        assert_eq!(first_bytes("約束", 4), "約");
        assert_eq!(first_bytes("約束", 6), "約束");
    }

    #[test]
    fn hidden_characters_become_escapes_that_mean_the_same() {
        let value = serde_json::json!({"a": "x\u{202e}\u{7f}\u{85}\u{2028}\u{200b}\u{feff}\u{e0001}約\n"});
        let json = escaped(&value.to_string());
        assert!(json.chars().all(|c| c == '約' || (c.is_ascii() && !c.is_ascii_control())), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), value);
    }
}
