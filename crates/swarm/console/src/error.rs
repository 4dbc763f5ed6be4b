//! The errors of one console.

use gbxcule_gameboy::state::StateError;
use gbxcule_gameboy::{Model, Revision, RomError};

use crate::ForeignStateError;
use crate::machine::model_name;

/// Reasons why a ROM, a place in memory or a state is refused; a refused call has changed nothing.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ConsoleError {
    #[error("the ROM cannot be used: {0}")]
    Rom(#[from] RomError),
    #[error("the ROM is packed in a {kind} archive: unpack it and name the file in it")]
    PackedRom { kind: &'static str },
    #[error(
        "the boot ROM has {found} bytes, that of {} has {expected}: give the file of this model", model_name(*model)
    )]
    BootRom { found: usize, expected: usize, model: Model },
    #[error("no model `{name}`; there are auto, {}", Revision::names().collect::<Vec<_>>().join(", "))]
    NoConsole { name: String },
    #[error("addresses {low:#06x} to {high:#07x} are not inside 0x0000 to 0x10000")]
    BadRange { low: u32, high: u32 },
    #[error(
        "{bytes} bytes from {bank:02X}:{address:04X} on leave the bank, whose last address here is {last:04X}: name fewer \
         bytes, or read and write the rest in the next bank"
    )]
    LeavesBank { bank: u16, address: u16, bytes: u32, last: u16 },
    #[error("address {address:04X} has {banks} banks, from 0 on, found bank {bank}")]
    NoMemoryBank { bank: u16, address: u16, banks: usize },
    #[error("not a {what} of this program; check that this is the right file")]
    NotARecord { what: &'static str },
    #[error(
        "the {what} has format version {found}, this program reads version {read}; use the program that wrote it"
    )]
    OtherFormat { what: &'static str, found: u32, read: u32 },
    #[error("the {what} is cut off or damaged: {why}")]
    Damaged { what: &'static str, why: &'static str },
    #[error("the state cannot be used: {0}")]
    State(#[from] StateError),
    #[error("{} cannot be imported: {}", .0.subject(), .0)]
    ForeignState(#[from] ForeignStateError),
}
