//! Translated PTX does what the PTX ISA document says.
//!
//! Each form of the table is held: values against the rules in `rule` (`value`), memory, calls and
//! jumps by kernels that use them (`memory`, `control`), and everything else must be refused by its
//! name (`refusal`).
//!
//! Machine code does the same: `machine` runs these kernels as `ptxas` assembles them. Forms that
//! only it has are held by `barrier`, `meeting`, `lanes`, `packed` and `numbers`.

mod assembled;
mod barrier;
mod control;
mod device;
mod exact;
mod host;
mod lanes;
mod machine;
mod meeting;
mod memory;
mod near;
mod numbers;
mod packed;
mod refusal;
mod rule;
mod value;
