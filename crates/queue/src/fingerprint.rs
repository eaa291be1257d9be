//! What makes two documents the same task: a hash over the planner's fields (D10).

use std::fmt;

use sha2::{Digest, Sha256};

use crate::json::canonical;
use crate::{Document, Field, Owner};

/// SHA-256 over the planner's fields in canonical form. `status`, `schema_version` and our own fields do not count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub(crate) fn of(document: &Document) -> Self {
        let mut fields: Vec<_> = Field::of(Owner::Planner).collect();
        fields.sort_by_key(|field| field.name());
        let mut hash = Sha256::new();
        hash.update(b"{");
        let mut separator = "";
        for field in fields {
            let Some(value) = document.value(field) else { continue };
            hash.update(separator);
            hash.update(format!("\"{}\":", field.name()));
            hash.update(canonical(value));
            separator = ",";
        }
        hash.update(b"}");
        Self(hash.finalize().into())
    }

    /// Parses exactly 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = hex_digit(pair[0])? * 16 + hex_digit(pair[1])?;
        }
        Some(Self(bytes))
    }

    /// The hash itself.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fingerprint(text: &str) -> Fingerprint {
        Document::parse(text.as_bytes()).unwrap().fingerprint()
    }

    #[test]
    fn form_does_not_matter_and_values_do() {
        let plain = fingerprint(r#"{"status":"PENDING","task_id":"é/","scope":["a",1.0]}"#);
        let same =
            fingerprint("{ \"scope\": [\"\\u0061\", 1.0],\r\n\"task\\u005fid\":\"\\u00e9\\/\", \"status\":\"IDLE\"}");
        assert_eq!(plain, same);
        for other in [
            r#"{"status":"PENDING","task_id":"é/","scope":["a",1]}"#,
            r#"{"status":"PENDING","task_id":"é/","scope":[1.0,"a"]}"#,
            r#"{"status":"PENDING","task_id":"é/ ","scope":["a",1.0]}"#,
            r#"{"status":"PENDING","task_id":"é/","scope":["a",1.0],"plan_ref":null}"#,
            r#"{"status":"PENDING","task_id":"é/"}"#,
        ] {
            assert_ne!(plain, fingerprint(other), "{other}");
        }
    }

    #[test]
    fn the_form_is_pinned() {
        // sha256 of `{"scope":["a"],"task_id":"T-1"}`: journals of earlier versions hold such values.
        let text = fingerprint(r#"{"status":"IDLE","task_id":"T-1","scope":["a"],"result":1}"#).to_string();
        let mut hash = Sha256::new();
        hash.update(br#"{"scope":["a"],"task_id":"T-1"}"#);
        assert_eq!(text, Fingerprint(hash.finalize().into()).to_string());
        assert_eq!(Fingerprint::parse(&text).unwrap().to_string(), text);
        assert_eq!(Fingerprint::parse(&text.to_uppercase()), None);
        assert_eq!(Fingerprint::parse(&text[1..]), None);
    }
}
