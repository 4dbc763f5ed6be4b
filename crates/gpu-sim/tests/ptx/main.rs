//! Translated PTX does what the PTX ISA document says.
//!
//! Each form of the table is held: values against the rules in `rule` (`value`), memory, calls and
//! jumps by kernels that use them (`memory`, `control`), and everything else must be refused by its
//! name (`refusal`).

mod control;
mod host;
mod memory;
mod near;
mod refusal;
mod rule;
mod value;
