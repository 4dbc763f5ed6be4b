//! OAM DMA (FF46): 160 bytes into OAM, one an M-cycle, while the CPU loses the source's bus.
//!
//! While the transfer runs, no access can see OAM or change the source, so all bytes are copied at
//! once, by the first access after the end or at the deadline. Bus conflicts are exact to the
//! cycle: a write that loses its bus replaces the byte that moves, and the bytes up to this one are
//! copied at once. While the CPU halts, the transfer stands still.

use crate::machine::{COLOR, Machine, WRAM_BYTES, is_before};
use crate::ppu::whole_or_by_dots::before_timing_change;
use crate::ppu::{sync_ppu, sync_ppu_now};

/// Bytes, and M-cycles, of a transfer.
const TRANSFER_MCYCLES: u32 = 160;
/// M-cycles from the write to FF46 to the first byte.
const SETUP_MCYCLES: u32 = 2;
/// T-cycles before the last byte's end in which it hides OAM from the PPU no more.
const LAST_SEEN_TCYCLES: u32 = 2;

/// The transfer in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Dma {
    /// FF46 as last written: the source page.
    pub page: u8,
    /// True while a transfer is set up or runs: every access except reads of high RAM takes the
    /// slow path.
    pub active: bool,
    /// Time at which the first byte moves.
    pub start: u32,
    /// True if a new request replaced a running transfer, which goes on until `start`.
    pub previous_active: bool,
    /// Time of the previous transfer's first byte.
    pub previous_start: u32,
    /// Last Y, or tile number of an object, that the PPU read from OAM. In mode 2 the PPU sees this
    /// byte while a transfer runs.
    pub seen_y: u8,
    /// Last X, or attributes of an object, that the PPU read from OAM.
    pub seen_x: u8,
    /// Bytes that were copied early because a write replaced the last of these bytes.
    pub copied: u8,
    /// Time at which the transfer ends, while `active`.
    pub deadline: u32,
}

impl Dma {
    /// A write to FF46 requests a transfer, also while one runs.
    pub fn write(&mut self, now: u32, value: u8) {
        self.previous_active = self.active && !is_before(now, self.start);
        self.previous_start = self.start;
        self.page = value;
        self.active = true;
        self.copied = 0;
        self.start = now.wrapping_add(SETUP_MCYCLES);
        self.deadline = self.start.wrapping_add(TRANSFER_MCYCLES);
    }

    /// Returns true if a byte moves in the M-cycle `now`.
    pub fn is_moving(&self, now: u32) -> bool {
        if !self.active {
            false
        } else if is_before(now, self.start) {
            self.previous_active && now.wrapping_sub(self.previous_start) < TRANSFER_MCYCLES
        } else {
            now.wrapping_sub(self.start) < TRANSFER_MCYCLES
        }
    }

    /// The address that the transfer reads in the M-cycle `now`, in which `is_moving` must hold. A
    /// replaced transfer goes on with the new page (gambatte
    /// `oamdma_src8000_srcchange0000_busyinc`).
    pub fn source(&self, now: u32) -> u16 {
        let start = if is_before(now, self.start) { self.previous_start } else { self.start };
        source_address(self.page, now.wrapping_sub(start))
    }
}

// Pages E0 to FF read the work RAM 2000 below (mooneye oam_dma/sources-GS); on the Color no memory
// answers there (gambatte `oamdma_srcE000_*`).
fn source_address(page: u8, index: u32) -> u16 {
    let address = (page as u16) << 8 | (index & 0xff) as u16;
    if !COLOR && address >= 0xe000 { address & !0x2000 } else { address }
}

/// Returns true if the byte that the transfer moves has the bus of an address.
// Pan Docs "OAM DMA bus conflicts": VRAM has a bus of its own; ROM, cartridge RAM and work RAM
// share one.
pub(crate) fn is_lost_to_dma(machine: &Machine, address: u16) -> bool {
    machine.dma.is_moving(machine.now)
        && (address & 0xff00 == 0xfe00
            || address < 0xfe00 && meets_dma(address, machine.dma.source(machine.now)))
}

/// Ends the transfer when its last byte has moved.
pub(crate) fn sync_dma(machine: &mut Machine, rom: &[u8], cart_ram: &[u8]) {
    if machine.dma.active && !is_before(machine.now, machine.dma.deadline) {
        // From here on the PPU reads what has moved.
        sync_ppu(machine, machine.tcycles_at(machine.dma.deadline).wrapping_sub(LAST_SEEN_TCYCLES));
        before_timing_change(machine);
        copy_for_dma(machine, rom, cart_ram, TRANSFER_MCYCLES);
        machine.dma.active = false;
        machine.dma.previous_active = false;
        machine.set_fast_path(true);
    }
}

fn copy_for_dma(machine: &mut Machine, rom: &[u8], cart_ram: &[u8], end: u32) {
    if machine.dma.page >= 0xc0 && (!COLOR || machine.dma.page < 0xe0) {
        // The usual case: programs keep a copy of OAM in work RAM.
        let from = machine.wram_index((machine.dma.page as u16) << 8);
        for index in machine.dma.copied as usize..end as usize {
            machine.oam[index] = machine.wram[(from + index) & (WRAM_BYTES - 1)];
        }
        return;
    }
    for index in machine.dma.copied as u32..end {
        let address = source_address(machine.dma.page, index);
        machine.oam[index as usize] = machine.read_for_dma(rom, cart_ram, address);
    }
}

/// A read on the bus on which a byte moves: the CPU gets that byte.
#[cfg(not(color))]
pub(crate) fn read_on_dma_bus(
    machine: &mut Machine,
    rom: &[u8],
    cart_ram: &[u8],
    _address: u16,
) -> u8 {
    machine.read_for_dma(rom, cart_ram, machine.dma.source(machine.now))
}

/// A write on the bus on which a byte moves: the bus has the transfer's address, so the written
/// byte goes to OAM instead of its address. Work RAM drives the bus against the CPU, and a zero bit
/// of either wins (gambatte `oamdma_src*_busypush*`).
#[cfg(not(color))]
pub(crate) fn write_on_dma_bus(
    machine: &mut Machine,
    rom: &[u8],
    cart_ram: &[u8],
    _address: u16,
    value: u8,
) {
    let drives = machine.dma.page >= 0xc0;
    let moved = machine.read_for_dma(rom, cart_ram, machine.dma.source(machine.now));
    write_into_dma(machine, rom, cart_ram, if drives { moved & value } else { value });
}

/// A read on a bus that a transfer uses. Work RAM answers from its bank under the transfer's
/// address; on the other buses the CPU gets the byte that moves, which a read of video RAM
/// turns into a zero (gambatte `oamdma_src*_busypop*`).
#[cfg(color)]
pub(crate) fn read_on_dma_bus(
    machine: &mut Machine,
    rom: &[u8],
    cart_ram: &[u8],
    address: u16,
) -> u8 {
    let source = machine.dma.source(machine.now);
    if address >= 0xc000 && source & 0xe000 != 0xc000 {
        return machine.wram[machine.wram_index(0xc000 | source & 0x1000 | address & 0x0fff)];
    }
    let moved = machine.read_for_dma(rom, cart_ram, source);
    if source & 0xe000 == 0x8000 {
        write_into_dma(machine, rom, cart_ram, 0);
    }
    moved
}

/// A write on a bus that a transfer uses. Work RAM takes the byte in its bank under the transfer's
/// address or, while it is the source, not at all. On the other buses OAM takes the byte, as a zero
/// if the source is video RAM (gambatte `oamdma_src*_busypush*`).
#[cfg(color)]
pub(crate) fn write_on_dma_bus(
    machine: &mut Machine,
    rom: &[u8],
    cart_ram: &[u8],
    address: u16,
    value: u8,
) {
    let source = machine.dma.source(machine.now);
    if address < 0xc000 {
        let moved = if source & 0xe000 == 0x8000 { 0 } else { value };
        write_into_dma(machine, rom, cart_ram, moved);
    } else if source & 0xe000 != 0xc000 {
        let at = machine.wram_index(0xc000 | source & 0x1000 | address & 0x0fff);
        machine.wram[at] = value;
    }
}

/// Puts this byte into OAM instead of the byte that moves.
fn write_into_dma(machine: &mut Machine, rom: &[u8], cart_ram: &[u8], value: u8) {
    // The next transfer overwrites the bytes of a replaced transfer.
    let index = machine.now.wrapping_sub(machine.dma.start);
    if index >= TRANSFER_MCYCLES {
        return;
    }
    sync_ppu_now(machine);
    before_timing_change(machine);
    copy_for_dma(machine, rom, cart_ram, index + 1);
    machine.oam[index as usize] = value;
    machine.dma.copied = index as u8 + 1;
}

/// Copies the bytes that have moved up to now, before a change of the bank from which they come.
#[cfg(color)]
pub(crate) fn move_dma(machine: &mut Machine, rom: &[u8], cart_ram: &[u8]) {
    let index = machine.now.wrapping_sub(machine.dma.start);
    if machine.dma.active && index < TRANSFER_MCYCLES && index as u8 >= machine.dma.copied {
        copy_for_dma(machine, rom, cart_ram, index + 1);
        machine.dma.copied = index as u8 + 1;
    }
}

/// Brings the PPU up to now before the CPU halts or wakes, because the PPU sees a transfer's
/// progress.
pub(crate) fn settle_dma(machine: &mut Machine) {
    if machine.dma.active {
        sync_ppu_now(machine);
        before_timing_change(machine);
    }
}

/// Pauses the transfer for some M-cycles because the CPU halts (gambatte `oamdmasrc80_halt_*`).
pub(crate) fn halt_dma(machine: &mut Machine, mcycles: u32) {
    if machine.dma.active {
        machine.dma.start = machine.dma.start.wrapping_add(mcycles);
        machine.dma.previous_start = machine.dma.previous_start.wrapping_add(mcycles);
        machine.dma.deadline = machine.dma.deadline.wrapping_add(mcycles);
    }
}

/// Returns true if an access loses its bus to the byte that OAM DMA moves from `source`.
pub fn meets_dma(address: u16, source: u16) -> bool {
    let is_video = address & 0xe000 == 0x8000;
    if COLOR && source & 0xe000 == 0xc000 {
        // The Color's work RAM has a separate bus, but takes its address from the transfer
        // (gambatte `oamdma_src*_busy*`).
        address >= 0xc000
    } else {
        is_video == (source & 0xe000 == 0x8000)
    }
}
