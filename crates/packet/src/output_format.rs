//! The expected shape of the product, in its two input spellings and the one written one.

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;

/// The shape of the product that the sender asks for.
///
/// Written as an object with `kind`. Read in that form, or as the bare word (trimmed, any ASCII case) that models send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OutputFormat {
    /// Prose.
    Markdown,
    /// A JSON value.
    Json {
        /// The schema it must fit, as text; always written, `null` without one.
        schema: Option<String>,
    },
    /// A patch.
    Diff,
    /// Files, named by `artifacts`.
    Files,
}

/// Every word of `kind`.
pub(crate) const KINDS: &[&str] = &["markdown", "json", "diff", "files"];

impl OutputFormat {
    /// The word in `kind`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Json { .. } => "json",
            Self::Diff => "diff",
            Self::Files => "files",
        }
    }

    fn of_kind(kind: &str, schema: Option<String>) -> Option<Self> {
        match kind {
            "markdown" => Some(Self::Markdown),
            "json" => Some(Self::Json { schema }),
            "diff" => Some(Self::Diff),
            "files" => Some(Self::Files),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for OutputFormat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EitherSpelling)
    }
}

struct EitherSpelling;

impl<'de> Visitor<'de> for EitherSpelling {
    type Value = OutputFormat;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an output format: a word or an object with `kind`")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<OutputFormat, E> {
        OutputFormat::of_kind(&word.trim().to_ascii_lowercase(), None).ok_or_else(|| {
            E::custom(format_args!(
                "output_format must be one of \"markdown\" / \"json\" / \"diff\" / \"files\" (or the tagged form \
                 {{\"kind\":\"json\",\"schema\":null}}), got `{word}`"
            ))
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OutputFormat, A::Error> {
        let (mut kind, mut schema) = (None::<String>, None::<Option<String>>);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "kind" if kind.is_some() => return Err(A::Error::duplicate_field("kind")),
                "kind" => kind = Some(known(map.next_value()?)?),
                "schema" if schema.is_some() => return Err(A::Error::duplicate_field("schema")),
                "schema" => schema = Some(map.next_value()?),
                unknown => return Err(A::Error::unknown_field(unknown, keys_of(kind.as_deref()))),
            }
        }
        let kind = kind.ok_or_else(|| A::Error::missing_field("kind"))?;
        if kind != "json" && schema.is_some() {
            return Err(A::Error::unknown_field("schema", keys_of(Some(&kind))));
        }
        OutputFormat::of_kind(&kind, schema.flatten()).ok_or_else(|| A::Error::unknown_variant(&kind, KINDS))
    }
}

/// A wrong kind is told where it stands: which keys may follow is known for the right ones only.
fn known<E: Error>(kind: String) -> Result<String, E> {
    if KINDS.contains(&kind.as_str()) { Ok(kind) } else { Err(E::unknown_variant(&kind, KINDS)) }
}

/// The keys of an object of this kind, as far as it is known by then. Nobody should be told to add a key that is refused.
fn keys_of(kind: Option<&str>) -> &'static [&'static str] {
    if matches!(kind, None | Some("json")) { &["kind", "schema"] } else { &["kind"] }
}
