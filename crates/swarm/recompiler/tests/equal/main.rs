//! Blocks do what the interpreter does, in every byte of the machine: as IR in the reference
//! interpreter, and as machine code.

mod built_in;
mod hot_code;
mod interpreted;
mod program;
mod random;
mod shape;
mod suite;
