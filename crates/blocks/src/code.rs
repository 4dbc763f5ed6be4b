//! Blocks as machine code.
#![allow(unsafe_code, reason = "running code that was just made")]

use crate::block::{Block, MemoryMap};
use crate::door;
use crate::translation::Translation;
use gbxcule_gameboy::Machine;
use gbxcule_ir::check;
use gbxcule_runtime::{Error, External, FunctionCode};
use std::ffi::c_void;

/// The record, the machine, and both arrays part by part: data, gradient, extent, stride.
type Entry = unsafe extern "C" fn(
    *mut c_void,
    *mut Machine,
    *const u8,
    u64,
    i32,
    i32,
    *mut u8,
    u64,
    i32,
    i32,
);

/// The machine code of a block.
pub struct Code {
    entry: Entry,
    /// Keeps the code alive.
    _function: FunctionCode,
    /// The memory map that the block was made from.
    pub(crate) map: MemoryMap,
    /// Bytes of the ROM that it was made from.
    rom_bytes: usize,
}

impl Code {
    /// Compiles a block that was made from a map.
    pub fn new(block: Block, map: MemoryMap, rom_bytes: usize) -> Result<Self, Error> {
        let translation = Translation::get();
        let mut module = translation.outlines();
        let export = block.add_to(translation, &mut module);
        let externals = door::all().into_iter().filter_map(|(name, address)| {
            Some(External { function: module.find(name)?, address })
        });
        let externals: Vec<External> = externals.collect();
        let module = check::module(module)
            .unwrap_or_else(|faults| unreachable!("blocks keep all rules: {faults:#?}"));
        let function = FunctionCode::new(&module, &[export], &externals)?;
        // SAFETY: a block has this signature: `Translation::params`, and no result.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(function.address(0)) };
        Ok(Self { entry, _function: function, map, rom_bytes })
    }

    /// Runs the block on a machine at whose PC it begins; it does nothing where it may not run.
    #[inline(always)]
    pub fn run(&self, machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8]) {
        assert!(rom.len() == self.rom_bytes, "a block runs on the ROM that it was made from");
        let (rom_len, ram_len) = (rom.len() as i32, cart_ram.len() as i32);
        // SAFETY: the code was made of the machine's own source for this signature. It reads and
        // writes the machine, whose layout is that of the translation (`subset/tests/machine/
        // layout`), and of the arrays what the source does behind its bounds checks and masks.
        unsafe {
            (self.entry)(
                std::ptr::null_mut(),
                machine,
                rom.as_ptr(),
                0,
                rom_len,
                1,
                cart_ram.as_mut_ptr(),
                0,
                ram_len,
                1,
            );
        }
    }
}
