//! One Game Boy.
