//! Runs machine code of NVIDIA's assembler by warps of 32 lanes.
//!
//! cubin -> [`cubin`] and, through `nvdisasm`, [`listing`] -> [`decoded`] by the table of forms
//! ([`form`]) -> [`warp`]. An instruction without a row is refused by its name, so the simulator
//! never guesses the meaning of an opcode or a modifier. The stand-in for the driver calls
//! [`entry`].

pub mod bare_listing;
pub mod block;
pub mod count;
pub mod cubin;
pub mod decoded;
pub mod device_memory;
pub mod entry;
pub mod fault;
pub mod form;
pub mod kernel_code;
mod line_table;
pub mod listing;
pub mod module;
pub mod named_barrier;
mod op;
pub mod operand;
mod race_message;
pub mod report;
pub mod run_order;
pub mod schedule;
pub mod shadow;
pub mod suspect;
pub mod warp;
