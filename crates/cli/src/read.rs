//! Bounded reads of what a command names: a file, or stdin for `-`. Queue files have their own rules in `queue_file`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::context::Context;
use crate::failure::Failure;

/// The text of a file, or of stdin for `-`: UTF-8, at most `limit` bytes.
pub(crate) fn text(ctx: &Context, path: &Path, limit: usize) -> Result<String, Failure> {
    let bytes = bytes(ctx, path, limit)?;
    String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{} is not UTF-8", name(path))))
}

/// The bytes of a file, or of stdin for `-`: at most `limit`.
pub(crate) fn bytes(ctx: &Context, path: &Path, limit: usize) -> Result<Vec<u8>, Failure> {
    let bytes = if is_stdin(path) {
        bounded(io::stdin().lock(), limit)
    } else {
        File::open(ctx.absolute(path)?).and_then(|file| bounded(file, limit))
    };
    let bytes = bytes.map_err(|error| Failure::usage(format!("cannot read {}: {error}", name(path))))?;
    if bytes.len() > limit {
        return Err(Failure::usage(format!("{} is larger than {limit} bytes", name(path))));
    }
    Ok(bytes)
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

fn bounded(source: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
