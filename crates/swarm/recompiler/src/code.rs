//! Blocks as machine code.
#![allow(unsafe_code, reason = "running code that was just made")]

use crate::block::{Block, MemoryMap, ReliedOn};
use crate::host_call;
use crate::learning::HotHead;
use crate::machine_ir::MachineIr;
use gbxcule_gameboy::Machine;
use gbxcule_ir::check;
use gbxcule_ir::layout::descriptor;
use gbxcule_runtime::{Error, External, FunctionCode};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::Arc;

/// Parameters: the fault record, the machine, ROM, cartridge RAM.
type BlockFunction =
    unsafe extern "C" fn(*mut c_void, *mut Machine, *const ArrayDescriptor, *const ArrayDescriptor);

/// A handle of an array of bytes, laid out as `gbxcule_ir::layout::descriptor` says.
#[repr(C)]
#[derive(Clone, Copy)]
struct ArrayDescriptor {
    data: *const u8,
    gradient: *const u8,
    shape: [i32; 4],
    strides: [i32; 4],
    dims: u16,
    flags: u16,
}

const _: () = assert!(
    size_of::<ArrayDescriptor>() == descriptor::LAYOUT.size as usize
        && std::mem::offset_of!(ArrayDescriptor, shape) == descriptor::SHAPE as usize
        && std::mem::offset_of!(ArrayDescriptor, strides) == descriptor::STRIDES as usize
        && std::mem::offset_of!(ArrayDescriptor, dims) == descriptor::NDIM as usize
);

impl ArrayDescriptor {
    fn new(data: *const u8, len: usize) -> Self {
        let (shape, strides) = ([len as i32, 0, 0, 0], [1, 0, 0, 0]);
        Self { data, gradient: std::ptr::null(), shape, strides, dims: 1, flags: 0 }
    }
}

/// A machine's ROM and cartridge RAM, as handles for blocks.
pub struct Memories<'m> {
    rom: ArrayDescriptor,
    cart_ram: ArrayDescriptor,
    borrowed: PhantomData<&'m mut [u8]>,
}

impl<'m> Memories<'m> {
    /// Makes handles of both.
    pub fn new(rom: &'m [u8], cart_ram: &'m mut [u8]) -> Self {
        let (rom, cart_ram) = (
            ArrayDescriptor::new(rom.as_ptr(), rom.len()),
            ArrayDescriptor::new(cart_ram.as_mut_ptr(), cart_ram.len()),
        );
        Self { rom, cart_ram, borrowed: PhantomData }
    }
}

/// The machine code of a block.
pub struct BlockCode {
    entry: BlockFunction,
    /// Keeps the machine code of this block, and of all blocks compiled with it, alive.
    _functions: Arc<FunctionCode>,
    pc: u16,
    relied_on: ReliedOn,
    bytes: usize,
    /// Size of the ROM that the block was made from.
    rom_len: i32,
}

impl BlockCode {
    /// Compiles blocks of a ROM with this number of bytes.
    pub fn new(blocks: Vec<Block>, rom_bytes: usize) -> Result<Vec<Self>, Error> {
        let machine_ir = MachineIr::get();
        let mut module = machine_ir.outlines();
        let heads: Vec<(u16, ReliedOn)> =
            blocks.iter().map(|block| (block.pc, block.relied_on)).collect();
        let exports: Vec<_> =
            blocks.into_iter().map(|block| block.add_to(machine_ir, &mut module)).collect();
        let externals = host_call::all()
            .into_iter()
            .filter_map(|(name, address)| Some(External { function: module.find(name)?, address }));
        let externals: Vec<External> = externals.collect();
        let module = check::module(module)
            .unwrap_or_else(|faults| unreachable!("blocks keep all rules: {faults:#?}"));
        let functions = Arc::new(FunctionCode::new(&module, &exports, &externals)?);
        let code = |(at, (pc, relied_on))| {
            let address = functions.address(at);
            // SAFETY: a block has this signature: `MachineIr::params`, and no result.
            let entry = unsafe { std::mem::transmute::<*const u8, BlockFunction>(address) };
            let bytes = functions.bytes(at);
            let _functions = Arc::clone(&functions);
            Self { entry, _functions, pc, relied_on, bytes, rom_len: rom_bytes as i32 }
        };
        Ok(heads.into_iter().enumerate().map(code).collect())
    }

    /// Returns the address at which the block begins.
    pub(crate) fn pc(&self) -> u16 {
        self.pc
    }

    /// Returns the address at which the block begins and the memory map that it was made from.
    pub(crate) fn head(&self) -> HotHead {
        HotHead { pc: self.pc, map: self.relied_on.map }
    }

    /// Size of the machine code.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns true if a memory map is as the block needs it.
    pub(crate) fn fits(&self, map: &MemoryMap) -> bool {
        self.relied_on.is_true_of(map)
    }

    /// Runs the block on a machine whose PC is the block's head. Does nothing if the block may not
    /// run now.
    #[inline(always)]
    pub fn run(&self, machine: &mut Machine, memories: &Memories<'_>) {
        run(self.entry, self.rom_len, machine, memories);
    }
}

/// A block of a table: what a call needs lies beside the handle that keeps the code alive, so that
/// a call loads one line of memory.
#[derive(Clone)]
pub(crate) struct TableBlock {
    entry: BlockFunction,
    rom_len: i32,
    code: Arc<BlockCode>,
}

impl TableBlock {
    pub(crate) fn new(code: Arc<BlockCode>) -> Self {
        Self { entry: code.entry, rom_len: code.rom_len, code }
    }

    pub(crate) fn code(&self) -> &BlockCode {
        &self.code
    }

    /// Runs the block as `BlockCode::run` does.
    #[inline(always)]
    pub(crate) fn run(&self, machine: &mut Machine, memories: &Memories<'_>) {
        run(self.entry, self.rom_len, machine, memories);
    }
}

/// Calls a block's function, whose code the caller keeps alive.
#[inline(always)]
fn run(entry: BlockFunction, rom_len: i32, machine: &mut Machine, memories: &Memories<'_>) {
    let len = memories.rom.shape[0];
    assert!(len == rom_len, "a block runs on the ROM that it was made from");
    // SAFETY: the code was made of the machine's own source for this signature. It accesses the
    // machine, whose layout equals the module's (`front-rust/tests/machine`), and only those
    // elements of the arrays that pass the source's bounds checks and masks. It never reads the
    // record of faults, which is null: `FunctionCode` refuses functions that can fault.
    unsafe {
        entry(std::ptr::null_mut(), machine, &memories.rom, &memories.cart_ram);
    }
}
