//! Bounded reads of what a command names: a file, or stdin for `-`. Queue files have their own rules in `queue_file`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::context::Context;
use crate::failure::Failure;

/// The text of a file, or of stdin for `-`: UTF-8, at most `limit` bytes.
pub(crate) fn text(ctx: &Context, path: &Path, limit: usize) -> Result<String, Failure> {
    let (name, bytes) = if path.as_os_str() == "-" {
        ("standard input".to_owned(), bounded(io::stdin().lock(), limit))
    } else {
        let path = ctx.absolute(path)?;
        (path.display().to_string(), File::open(&path).and_then(|file| bounded(file, limit)))
    };
    let bytes = bytes.map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    if bytes.len() > limit {
        return Err(Failure::usage(format!("{name} is larger than {limit} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{name} is not UTF-8")))
}

fn bounded(source: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
