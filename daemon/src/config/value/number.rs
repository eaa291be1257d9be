//! Counts and sizes, moved into the range of their key.

use toml::de::DeValue;

use super::{Judged, kind, shown};

/// An integer, moved into the range.
pub(in crate::config) fn count(min: u32, max: u32) -> impl Fn(&DeValue<'_>) -> Judged<u32> {
    move |value| match integer(value) {
        Some(given) => {
            let used = given.clamp(min.into(), max.into());
            let kept = u32::try_from(used).unwrap_or(max);
            if used == given {
                Judged::Good(kept)
            } else {
                Judged::Adjusted(kept, format!("must be from {min} to {max}; {kept} is used"))
            }
        }
        None => Judged::Bad(format!("must be an integer from {min} to {max}, not {}", kind(value))),
    }
}

/// A number of bytes: an integer, or text with the unit `B`, `KiB`, `MiB` or `GiB`; moved into the range.
pub(in crate::config) fn size(min: u64, max: u64) -> impl Fn(&DeValue<'_>) -> Judged<u64> {
    move |value| {
        let given = match value {
            DeValue::String(text) => parse_size(text),
            other => integer(other).and_then(|n| u64::try_from(n).ok()),
        };
        let Some(given) = given else {
            return Judged::Bad(format!("must be a size such as \"10MiB\" or a number of bytes, not {}", shown(value)));
        };
        let used = given.clamp(min, max);
        if used == given {
            return Judged::Good(used);
        }
        Judged::Adjusted(used, format!("must be from {min} to {max} bytes; {used} is used"))
    }
}

fn parse_size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let factor = match text[digits..].trim_start() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor)
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}
