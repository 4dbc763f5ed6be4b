//! Machine code does what the PTX ISA document says of the PTX that `ptxas` makes it of.
//!
//! Each form of PTX (`form`) is tested: values against the rules in `rule` (`value`), memory, calls
//! and jumps by kernels that use them (`memory`, `control`). `barrier`, `meeting`, `lanes`,
//! `packed` and `numbers` test what warps do together. `machine` runs all of them for each
//! architecture.

mod assembled;
mod barrier;
mod control;
mod device;
mod exact;
mod form;
mod host;
mod lanes;
mod machine;
mod meeting;
mod memory;
mod near;
mod numbers;
mod packed;
mod rule;
mod ty;
mod value;
