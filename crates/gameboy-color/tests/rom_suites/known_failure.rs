//! ROMs that fail, each with what is known about why.

/// Suite, ROM, reason.
const ROWS: [(&str, &str, &str); 0] = [];

/// Why a ROM fails, if it is known to.
pub(crate) fn reason(suite: &str, name: &str) -> Option<&'static str> {
    ROWS.iter().find(|row| (row.0, row.1) == (suite, name)).map(|row| row.2)
}
