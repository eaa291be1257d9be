//! The printed result: one line a measurement, with its target and whether it was met. Nothing is measured here.

use std::io::Write as _;

use anyhow::Result;

/// The table that is being printed.
pub(crate) struct Table {
    missed: usize,
}

impl Table {
    /// Says it when the numbers are going to mean nothing.
    pub(crate) fn start() -> Result<Self> {
        if cfg!(debug_assertions) {
            print("This is a debug build: the numbers mean nothing. Use `cargo run --release`.\n")?;
        }
        Ok(Self { missed: 0 })
    }

    /// A measurement with an upper limit.
    pub(crate) fn judge(&mut self, what: &str, value: f64, limit: f64, unit: &str, detail: &str) -> Result<()> {
        let met = value <= limit;
        self.missed += usize::from(!met);
        let verdict = if met { "ok" } else { "MISSED" };
        print(&format!("{what:<38} {value:>10.3} {unit:<6} target <= {limit:<8.3} {verdict:<7} {detail}"))
    }

    /// A measurement that explains another.
    pub(crate) fn note(&self, what: &str, text: &str) -> Result<()> {
        print(&format!("{what:<38} {text}"))
    }

    /// Says how many targets were missed.
    pub(crate) fn finish(self) -> Result<usize> {
        match self.missed {
            0 => print("\nall targets met")?,
            missed => print(&format!("\n{missed} missed"))?,
        }
        Ok(self.missed)
    }
}

fn print(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
