//! ROMs that fail, each with what is known about why.

/// Suite, ROM, reason.
const ROWS: [(&str, &str, &str); 1] = [(
    "blargg",
    "cpu_instrs/individual/03-op sp,hl",
    "at double speed its wait for VBlank gives up after half a frame; the text, which says that it passed, is written while video RAM is closed",
)];

/// Why a ROM fails, if it is known to.
pub(crate) fn reason(suite: &str, name: &str) -> Option<&'static str> {
    ROWS.iter().find(|row| (row.0, row.1) == (suite, name)).map(|row| row.2)
}
