//! What must hold for any bytes, one module a target. Nothing here knows where the bytes come from: cargo-fuzz feeds the
//! checks through `fuzz_targets`, and `cargo test` through `tests/tests/fuzz`, which includes this file.

pub mod forbidden_keys;
pub mod packet_parse;
pub mod packet_render;
pub mod prompt_fit;

/// The reader of the crate's own tests.
#[path = "../../crates/packet/tests/it/reader.rs"]
mod reader;

/// Bytes as texts: 0xFF, which no UTF-8 has, ends one.
fn texts(bytes: &[u8]) -> impl Iterator<Item = String> + '_ {
    bytes.split(|byte| *byte == 0xff).map(|text| String::from_utf8_lossy(text).into_owned())
}
