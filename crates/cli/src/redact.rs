//! `--redact`: credentials in what a command shows are masked, so that it can be shown to others (F277).

use secrets::mask;
use serde_json::Value;

use crate::text::{Line, Tone};

/// The masking of one command's results.
#[derive(Debug, Default)]
pub(crate) struct Redaction {
    /// Whether the lines of a private key come now: a line of it alone does not look like one.
    inside_key: bool,
}

impl Redaction {
    /// A line for people.
    pub(crate) fn line(&mut self, line: &Line) -> Line {
        let whole: String = line.pieces().map(|(_, piece)| piece).collect();
        let ends = whole.contains("-----END");
        if self.inside_key {
            self.inside_key = !ends;
            return Line::of(Tone::Dim, "[masked]");
        }
        self.inside_key = !ends && secrets::find(&whole).iter().any(|found| found.kind == secrets::Kind::PrivateKey);
        line.pieces().fold(Line::default(), |masked, (tone, piece)| masked.and(tone, &mask(piece)))
    }

    /// A JSON text. In the values one by one: a mask over the text could end in the middle of an escape.
    pub(crate) fn json(text: &str) -> String {
        match serde_json::from_str::<Value>(text) {
            Ok(mut value) => {
                mask_within(&mut value);
                value.to_string()
            }
            Err(_) => mask(text).into_owned(),
        }
    }
}

fn mask_within(value: &mut Value) {
    match value {
        Value::String(text) => *text = mask(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(mask_within),
        Value::Object(members) => members.values_mut().for_each(mask_within),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_over_several_lines_is_masked_to_its_end() {
        let mut redaction = Redaction::default();
        let mut shown =
            |text: &str| redaction.line(&text.into()).pieces().map(|(_, piece)| piece.to_owned()).collect::<String>();
        assert_eq!(shown("  before"), "  before");
        assert_eq!(shown("  -----BEGIN RSA PRIVATE KEY-----"), "  [masked private key]");
        assert_eq!(shown("  MIIEpAIBAAKCAQEA7"), "[masked]");
        assert_eq!(shown("  -----END RSA PRIVATE KEY-----"), "[masked]");
        assert_eq!(shown("  after"), "  after");
    }

    #[test]
    fn values_of_json_are_masked_and_it_stays_json() {
        let text = r#"{"id":"T-1","n":[1,{"env":"a\nDB_PASSWORD=hunter2hunter2\nb"}]}"#;
        assert_eq!(
            Redaction::json(text),
            r#"{"id":"T-1","n":[1,{"env":"a\nDB_PASSWORD=[masked secret assignment]\nb"}]}"#
        );
        assert_eq!(Redaction::json("half ghp_0123456789abcdefghijABCDEFGHIJ012345"), "half [masked GitHub token]");
    }
}
