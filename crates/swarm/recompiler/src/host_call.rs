//! Host calls: native functions of the machine that a block calls by address.
//!
//! Each has the signature that `back-clif` gives the function: the fault record, the machine's
//! address, both arrays field by field, and scalars. The upper bits of a register that holds a
//! narrower integer are undefined, so integers are taken as 32 bits and truncated.
#![allow(unsafe_code, reason = "called by machine code, with a machine by its address")]

use crate::block::{HIGH_RAM, ROM_END, wram_offset};
use gbxcule_gameboy::Machine;
#[cfg(color)]
use gbxcule_gameboy::ppu::color_palette::write_color_cell as write_color_cell_of;
#[cfg(color)]
use gbxcule_gameboy::ppu::{
    move_next_hblank as move_next_hblank_of, read_ppu as read_ppu_of, write_ppu as write_ppu_of,
};
use gbxcule_passes::specialise::Changes;
use std::ffi::c_void;

/// A function of the machine: its name and its address for machine code.
pub(crate) type HostCall = (&'static str, *const u8);

/// Returns all host calls.
pub(crate) fn all() -> Vec<HostCall> {
    vec![
        ("Machine::read_elsewhere", read::<false> as ReadCall as *const u8),
        ("Machine::read_slow", read::<true> as ReadCall as *const u8),
        ("Machine::write_slow", write_slow as WriteCall as *const u8),
        ("Machine::touch_oam", touch_oam as TouchCall as *const u8),
        ("Machine::begin_halt", begin_halt as HaltCall as *const u8),
        #[cfg(color)]
        ("write_color_cell", write_color_cell as ColorCellCall as *const u8),
        #[cfg(color)]
        ("read_ppu", read_ppu as ReadPpuCall as *const u8),
        #[cfg(color)]
        ("write_ppu", write_ppu as WritePpuCall as *const u8),
        #[cfg(color)]
        ("move_next_hblank", move_next_hblank as MoveCall as *const u8),
    ]
}

/// Returns true if blocks can call the function of this name.
pub(crate) fn exists(name: &str) -> bool {
    all().into_iter().any(|(host_call, _)| host_call == name)
}

/// Returns which of the memory map, code in high RAM and the deadline a host call may change while
/// no OAM DMA runs. Writes to ROM's addresses switch banks, FF46 starts OAM DMA, FF50 ends the boot
/// ROM, and FF70 switches the Color's work RAM.
pub(crate) fn changes(host_call: &str, address: Option<u16>) -> Changes {
    match (host_call, address) {
        ("Machine::write_slow", Some(0xff46 | 0xff50 | 0xff70)) => Changes::Any,
        ("Machine::write_slow", Some(at)) if at >= ROM_END && !HIGH_RAM.contains(&at) => {
            Changes::Watched
        }
        ("Machine::write_slow", _) => Changes::Any,
        ("Machine::begin_halt" | "write_ppu" | "move_next_hblank", _) => Changes::Watched,
        _ => Changes::Others,
    }
}

/// Calls a function of the machine, and checks in debug builds that it changes no more than
/// `changes` allows.
#[inline(always)]
fn call<T>(machine: &mut Machine, changes: Changes, function: impl FnOnce(&mut Machine) -> T) -> T {
    let map = |machine: &Machine| {
        let bank = wram_offset(machine);
        (machine.rom_base, machine.fast_wram_bytes, machine.dma.active, bank)
    };
    let (had_dma, before, deadline) = (machine.dma.active, map(machine), machine.deadline);
    let result = function(machine);
    let keeps_map = had_dma || changes == Changes::Any || before == map(machine);
    let keeps_deadline = had_dma || changes != Changes::Others || deadline == machine.deadline;
    debug_assert!(keeps_map, "a host call changed the memory map");
    debug_assert!(keeps_deadline, "a host call changed the deadline");
    result
}

type ReadCall = unsafe extern "C" fn(
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
    u32,
    u32,
) -> u8;
type WriteCall = unsafe extern "C" fn(
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
    u32,
    u32,
    u32,
);
type TouchCall = unsafe extern "C" fn(*mut c_void, *mut Machine, u32);
type HaltCall = unsafe extern "C" fn(*mut c_void, *mut Machine, u32, u32, u32) -> u8;
#[cfg(color)]
type ColorCellCall = unsafe extern "C" fn(*mut c_void, *mut Machine, u32, u32);
#[cfg(color)]
type ReadPpuCall = unsafe extern "C" fn(*mut c_void, *mut Machine, u32) -> u8;
#[cfg(color)]
type MoveCall = unsafe extern "C" fn(*mut c_void, *mut Machine);
#[cfg(color)]
type WritePpuCall = unsafe extern "C" fn(*mut c_void, *mut Machine, u32, u32);

/// Calls `Machine::read_slow` or `Machine::read_elsewhere`. `back-clif` fixes the parameters: an
/// array is its data, gradient, extent and stride.
///
/// # Safety
/// The machine and the arrays are those that `BlockCode::run` was given.
unsafe extern "C" fn read<const IS_SLOW: bool>(
    _record: *mut c_void,
    machine: *mut Machine,
    rom: *const u8,
    _: u64,
    rom_len: i32,
    _: i32,
    cart_ram: *mut u8,
    _: u64,
    cart_ram_len: i32,
    _: i32,
    now: u32,
    address: u32,
) -> u8 {
    // SAFETY: pointers and lengths are those of the machine and the slices given to
    // `BlockCode::run`, which outlive this call; machine code keeps no reference while it calls.
    let (machine, rom, cart_ram) = unsafe {
        (
            &mut *machine,
            std::slice::from_raw_parts(rom, rom_len as usize),
            std::slice::from_raw_parts(cart_ram, cart_ram_len as usize),
        )
    };
    call(machine, Changes::Others, |machine| match IS_SLOW {
        true => machine.read_slow(rom, cart_ram, now, address as u16),
        false => machine.read_elsewhere(rom, cart_ram, now, address as u16),
    })
}

/// `back-clif` fixes the parameters: an array is its data, gradient, extent and stride.
///
/// # Safety
/// The machine and the arrays are those that `BlockCode::run` was given.
unsafe extern "C" fn write_slow(
    _record: *mut c_void,
    machine: *mut Machine,
    rom: *const u8,
    _: u64,
    rom_len: i32,
    _: i32,
    cart_ram: *mut u8,
    _: u64,
    cart_ram_len: i32,
    _: i32,
    now: u32,
    address: u32,
    value: u32,
) {
    // SAFETY: pointers and lengths are those of the machine and the slices given to
    // `BlockCode::run`, which outlive this call; machine code keeps no reference while it calls.
    let (machine, rom, cart_ram) = unsafe {
        (
            &mut *machine,
            std::slice::from_raw_parts(rom, rom_len as usize),
            std::slice::from_raw_parts_mut(cart_ram, cart_ram_len as usize),
        )
    };
    let (address, value) = (address as u16, value as u8);
    let changes = changes("Machine::write_slow", Some(address));
    call(machine, changes, |machine| {
        machine.write_slow(rom, cart_ram, now, address, value);
    });
}

/// # Safety
/// The machine is the one that `BlockCode::run` was given.
unsafe extern "C" fn touch_oam(_record: *mut c_void, machine: *mut Machine, now: u32) {
    // SAFETY: pointers and lengths are those of the machine and the slices given to
    // `BlockCode::run`, which outlive this call; machine code keeps no reference while it calls.
    let machine = unsafe { &mut *machine };
    call(machine, Changes::Others, |machine| machine.touch_oam(now));
}

/// # Safety
/// The machine is the one that `BlockCode::run` was given.
unsafe extern "C" fn begin_halt(
    _record: *mut c_void,
    machine: *mut Machine,
    now: u32,
    pc: u32,
    ime: u32,
) -> u8 {
    // SAFETY: pointers and lengths are those of the machine and the slices given to
    // `BlockCode::run`, which outlive this call; machine code keeps no reference while it calls.
    let machine = unsafe { &mut *machine };
    call(machine, Changes::Watched, |machine| {
        machine.begin_halt(now, pc as u16, ime & 1 != 0) as u8
    })
}

/// # Safety
/// The machine is the one that `BlockCode::run` was given.
#[cfg(color)]
unsafe extern "C" fn write_color_cell(
    _record: *mut c_void,
    machine: *mut Machine,
    of_objects: u32,
    value: u32,
) {
    // SAFETY: pointers and lengths are those of the machine and the slices given to
    // `BlockCode::run`, which outlive this call; machine code keeps no reference while it calls.
    let machine = unsafe { &mut *machine };
    call(machine, Changes::Others, |machine| {
        write_color_cell_of(machine, of_objects & 1 != 0, value as u8);
    });
}

/// # Safety
/// The machine is the one that `BlockCode::run` was given.
#[cfg(color)]
unsafe extern "C" fn read_ppu(_record: *mut c_void, machine: *mut Machine, low: u32) -> u8 {
    // SAFETY: pointers and lengths are those of the machine and the slices given to
    // `BlockCode::run`, which outlive this call; machine code keeps no reference while it calls.
    let machine = unsafe { &mut *machine };
    call(machine, Changes::Others, |machine| read_ppu_of(machine, low as u8))
}

/// # Safety
/// The machine is the one that `BlockCode::run` was given.
#[cfg(color)]
unsafe extern "C" fn write_ppu(_record: *mut c_void, machine: *mut Machine, low: u32, value: u32) {
    // SAFETY: pointers and lengths are those of the machine and the slices given to
    // `BlockCode::run`, which outlive this call; machine code keeps no reference while it calls.
    let machine = unsafe { &mut *machine };
    call(machine, Changes::Watched, |machine| write_ppu_of(machine, low as u8, value as u8));
}

/// # Safety
/// The machine is the one that `BlockCode::run` was given.
#[cfg(color)]
unsafe extern "C" fn move_next_hblank(_record: *mut c_void, machine: *mut Machine) {
    // SAFETY: pointers and lengths are those of the machine and the slices given to
    // `BlockCode::run`, which outlive this call; machine code keeps no reference while it calls.
    let machine = unsafe { &mut *machine };
    call(machine, Changes::Watched, move_next_hblank_of);
}
