//! Blocks as machine code.
#![allow(unsafe_code, reason = "running code that was just made")]

use crate::block::{Block, ReliedOn};
use crate::door;
use crate::translation::Translation;
use gbxcule_gameboy::Machine;
use gbxcule_ir::check;
use gbxcule_ir::layout::descriptor;
use gbxcule_runtime::{Error, External, FunctionCode};
use std::ffi::c_void;
use std::marker::PhantomData;

/// The record, the machine, ROM and cartridge RAM.
type Entry = unsafe extern "C" fn(*mut c_void, *mut Machine, *const Handle, *const Handle);

/// A handle to bytes, as `gbxcule_ir::layout::descriptor` lays it out.
#[repr(C)]
#[derive(Clone, Copy)]
struct Handle {
    data: *const u8,
    gradient: *const u8,
    shape: [i32; 4],
    strides: [i32; 4],
    dims: u16,
    flags: u16,
}

const _: () = assert!(
    size_of::<Handle>() == descriptor::LAYOUT.size as usize
        && std::mem::offset_of!(Handle, shape) == descriptor::SHAPE as usize
        && std::mem::offset_of!(Handle, strides) == descriptor::STRIDES as usize
        && std::mem::offset_of!(Handle, dims) == descriptor::NDIM as usize
);

impl Handle {
    fn new(data: *const u8, len: usize) -> Self {
        let (shape, strides) = ([len as i32, 0, 0, 0], [1, 0, 0, 0]);
        Self { data, gradient: std::ptr::null(), shape, strides, dims: 1, flags: 0 }
    }
}

/// A machine's ROM and cartridge RAM, as blocks take them.
pub struct Memories<'m> {
    rom: Handle,
    cart_ram: Handle,
    lent: PhantomData<&'m mut [u8]>,
}

impl<'m> Memories<'m> {
    /// Lends both to blocks.
    pub fn new(rom: &'m [u8], cart_ram: &'m mut [u8]) -> Self {
        let (rom, cart_ram) = (
            Handle::new(rom.as_ptr(), rom.len()),
            Handle::new(cart_ram.as_mut_ptr(), cart_ram.len()),
        );
        Self { rom, cart_ram, lent: PhantomData }
    }
}

/// The machine code of a block.
pub struct Code {
    entry: Entry,
    /// Keeps the code alive.
    _function: FunctionCode,
    relied_on: ReliedOn,
    /// Bytes of the ROM that it was made from.
    rom_len: i32,
}

impl Code {
    /// Compiles a block of a ROM of so many bytes.
    pub fn new(block: Block, rom_bytes: usize) -> Result<Self, Error> {
        let translation = Translation::get();
        let relied_on = block.relied_on;
        let mut module = translation.outlines();
        let export = block.add_to(translation, &mut module);
        let externals = door::all()
            .into_iter()
            .filter_map(|(name, address)| Some(External { function: module.find(name)?, address }));
        let externals: Vec<External> = externals.collect();
        let module = check::module(module)
            .unwrap_or_else(|faults| unreachable!("blocks keep all rules: {faults:#?}"));
        let function = FunctionCode::new(&module, &[export], &externals)?;
        // SAFETY: a block has this signature: `Translation::params`, and no result.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(function.address(0)) };
        Ok(Self { entry, _function: function, relied_on, rom_len: rom_bytes as i32 })
    }

    /// Returns true if a machine's memory map is as the block needs it.
    pub(crate) fn fits(&self, machine: &Machine) -> bool {
        self.relied_on.is_true_of(machine)
    }

    /// Runs the block on a machine at whose PC it begins; it does nothing where it may not run.
    #[inline(always)]
    pub fn run(&self, machine: &mut Machine, memories: &Memories<'_>) {
        let len = memories.rom.shape[0];
        assert!(len == self.rom_len, "a block runs on the ROM that it was made from");
        // SAFETY: the code was made of the machine's own source for this signature. It reads and
        // writes the machine, whose layout is that of the translation (`subset/tests/machine/
        // layout`), and of the arrays what the source does behind its bounds checks and masks.
        unsafe {
            (self.entry)(std::ptr::null_mut(), machine, &memories.rom, &memories.cart_ram);
        }
    }
}
