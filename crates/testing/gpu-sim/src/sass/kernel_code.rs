//! Decoded code of a kernel: instructions, and the constants that they read.

use super::decoded::DecodedInstruction;
use rustc_hash::FxHashMap;

/// Decoded code of one kernel.
#[derive(Clone, Debug, Default)]
pub struct KernelCode {
    /// Name of the kernel.
    pub kernel: String,
    /// Instructions in the order of their addresses.
    pub instructions: Vec<DecodedInstruction>,
    /// Number of the kernel's first instruction.
    pub entry: u32,
    /// Constants and numbers; in the register file they follow the registers.
    pub pool: Vec<LaunchConstant>,
    /// Bytes of the constant banks from 1 on; bank 0 is made for each launch.
    pub banks: [Vec<u8>; 8],
    /// Names of functions, by the number of their first instruction.
    pub functions: Vec<(u32, String)>,
}

/// A value that an instruction reads like a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LaunchConstant {
    /// A number in the instruction, or a word of a constant bank that never changes.
    Number(u32),
    /// A word of bank 0, by its offset.
    Parameter(usize),
}

impl LaunchConstant {
    /// Returns the entry's value in a launch.
    pub fn value(self, bank0: &[u8]) -> u32 {
        match self {
            Self::Number(value) => value,
            Self::Parameter(at) => word(bank0, at).expect("the decoder looked at its offset"),
        }
    }
}

/// Returns the word at an offset; `None` if the bytes end before the word does.
pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

/// Distinct entries of a pool.
#[derive(Debug, Default)]
pub(super) struct Pool {
    pub(super) entries: Vec<LaunchConstant>,
    known: FxHashMap<LaunchConstant, u16>,
}

impl Pool {
    /// Returns the number of an entry in the register file. A new entry is added.
    pub(super) fn entry(&mut self, entry: LaunchConstant) -> u16 {
        *self.known.entry(entry).or_insert_with(|| {
            self.entries.push(entry);
            super::warp::POOL + u16::try_from(self.entries.len() - 1).expect("65,000 constants")
        })
    }
}
