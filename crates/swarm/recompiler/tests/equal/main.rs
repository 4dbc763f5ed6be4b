//! Blocks change the machine as the interpreter does, in every byte: as IR in the reference
//! interpreter, and as machine code.

#[cfg(color)]
extern crate gbxcule_gameboy_color as gbxcule_gameboy;
#[cfg(color)]
extern crate gbxcule_recompiler_color as gbxcule_recompiler;

mod built_in;
#[cfg(not(color))]
mod hot_code;
// The image of a machine in IR is the original's.
#[cfg(not(color))]
mod interpreted;
mod program;
mod random;
mod shape;
mod suite;
