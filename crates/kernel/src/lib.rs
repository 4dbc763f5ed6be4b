//! The kernel compiler.
