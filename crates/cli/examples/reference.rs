//! Prints `docs/cli.md`: `cargo run -p cli --example reference > docs/cli.md`.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(cli::reference().as_bytes())
}
