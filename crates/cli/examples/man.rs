//! Writes the manual pages into a folder: `cargo run -p cli --example man -- DIR`.

use std::io;
use std::path::PathBuf;

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other("name the folder for the pages"));
    };
    std::fs::create_dir_all(&folder)?;
    clap_mangen::generate_to(cli::command(), &folder)?;
    clap_mangen::generate_to(handoffd::program::command(), folder)
}
