//! ROMs.
