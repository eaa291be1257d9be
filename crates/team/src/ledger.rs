//! The ledgers of a home: which there are, when they are rotated, and one row at a time into one of them.
//!
//! A row that cannot be written undoes nothing (D38): it is logged as an error here, and [`check`] finds the cause.

use serde_json::Value;
use store::{Kind, LineError, Rotation, append_line};

use crate::home::{Home, HomeError};
use crate::text::escaped;

/// A file of rows below the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ledger {
    /// Where products came from; one row for each packet that was filed.
    Artifacts,
    /// What was filed, with its audience, and what the composer passed over.
    SecurityAudit,
    /// Refused calls of the tool.
    ToolCalls,
}

/// How many rotated files are kept beside each.
const GENERATIONS: u32 = 4;

impl Ledger {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Artifacts, Self::SecurityAudit, Self::ToolCalls];

    /// Its file, below the home.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Artifacts => "artifacts.jsonl",
            Self::SecurityAudit => "security_audit.jsonl",
            Self::ToolCalls => "tool_calls.jsonl",
        }
    }

    /// When it is moved to `<file>.1`.
    #[must_use]
    pub fn rotation(self) -> Rotation {
        let max_bytes = match self {
            Self::Artifacts => 8 << 20,
            Self::SecurityAudit | Self::ToolCalls => 16 << 20,
        };
        Rotation { max_bytes, generations: GENERATIONS }
    }
}

/// A row could not be written, or a ledger cannot take one.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The home.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The file.
    #[error(transparent)]
    Line(#[from] LineError),
}

/// Appends a row, durably. Nothing in it can break the line or hide from who reads it.
///
/// # Errors
///
/// [`LedgerError`]; no part of the row is in the ledger then, unless the text says so.
pub fn append(home: &Home, ledger: Ledger, row: &Value) -> Result<(), LedgerError> {
    let folder = home.open_or_make()?;
    Ok(append_line(&folder, ledger.file(), &escaped(&row.to_string()), ledger.rotation())?)
}

/// As [`append`]; a failure is logged and goes no further (D38).
pub(crate) fn record(home: &Home, ledger: Ledger, row: &Value) {
    if let Err(error) = append(home, ledger, row) {
        let file = home.path().join(ledger.file());
        tracing::error!(ledger = %file.display(), %error, "a row could not be written; what it tells of has happened all the same");
    }
}

/// What would keep each ledger from taking a row now, as far as can be told without writing one: for `handoff doctor`.
#[must_use]
pub fn check(home: &Home) -> Vec<(Ledger, String)> {
    let Ok(folder) = home.open() else { return Vec::new() };
    let fault = |ledger: Ledger| match folder.kind(ledger.file()) {
        Ok(None) => None,
        Ok(Some(Kind::File)) => folder.may_write(ledger.file()).err().map(|fault| fault.to_string()),
        Ok(Some(Kind::Folder | Kind::Other)) => {
            Some(format!("{} is not a regular file: move it away", home.path().join(ledger.file()).display()))
        }
        Err(fault) => Some(fault.to_string()),
    };
    Ledger::ALL.into_iter().filter_map(|ledger| Some((ledger, fault(ledger)?))).collect()
}
