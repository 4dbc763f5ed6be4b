//! The Color's VRAM DMA (FF51-FF55): blocks of 16 bytes, all at once or one in each HBlank. The CPU
//! stops during a block.
//!
//! A write requests a transfer, which takes place on the next instruction boundary, in `service`. A
//! block for HBlank becomes due when mode 3 ends.
// Pan Docs "VRAM DMA transfers".
#![cfg(color)]

use crate::cpu::Mode;
use crate::dma::{halt_dma, move_dma};
use crate::machine::{Machine, is_before};
use crate::ppu::color_fetcher::{NO_READ, lose_read};
use crate::ppu::color_timing::is_hdma_period;
use crate::ppu::registers::{put_vram, read_vram};
use crate::ppu::timing::schedule_ppu;
use crate::ppu::whole_or_by_dots::{before_picture_change, before_timing_change};
use crate::ppu::{LINE_TCYCLES, LineProgress, VBLANK_LINE, sync_ppu, sync_ppu_now};

/// Bytes of a block.
const BLOCK_BYTES: u16 = 16;
/// Bytes of a bank of video RAM.
const BANK_BYTES: usize = 0x2000;
/// T-cycles that a block takes, at either speed.
const BLOCK_TCYCLES: u32 = 32;

/// Registers, and the state of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Hdma {
    /// FF51 and FF52: the address of the first byte.
    pub source: u16,
    /// FF53 and FF54: the first target in video RAM.
    pub target: u16,
    /// Bytes copied since FF52 was written.
    pub source_bytes: u16,
    /// Bytes copied since FF54 was written.
    pub target_bytes: u16,
    /// FF55 bits 0 to 6: blocks left, less one.
    pub left: u8,
    /// True if each HBlank copies a block.
    pub active: bool,
    /// Number of blocks that are copied on the next instruction boundary.
    pub due: u8,
    /// The state of HBlank at the time at which the CPU halted.
    pub rest: HaltedAt,
    /// True if the next opcode lies in video RAM and was fetched before a block. The next read
    /// returns this opcode: the CPU's fetch, or the dropped fetch at the beginning of an
    /// interrupt's dispatch.
    pub holds_opcode: bool,
    /// The opcode that `holds_opcode` speaks of.
    pub opcode: u8,
}

/// Reason why a block is copied, or is not, when the CPU wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum HaltedAt {
    /// The CPU halted outside of HBlank: a wake in HBlank copies a block.
    Outside = 0,
    /// The CPU halted in HBlank, whose block was copied.
    Inside = 1,
    /// The CPU halted before a block that was due.
    Due = 2,
}

impl Hdma {
    /// Makes an HDMA without a transfer, as the boot ROM leaves it.
    pub const fn idle() -> Hdma {
        Hdma {
            source: 0xd430,
            target: 0x99d0,
            source_bytes: 0,
            target_bytes: 0,
            left: 0x7f,
            active: false,
            due: 0,
            rest: HaltedAt::Outside,
            holds_opcode: false,
            opcode: 0,
        }
    }

    /// A read of FF55.
    pub fn read(&self) -> u8 {
        (!self.active as u8) << 7 | self.left
    }

    /// A write to FF51-FF54. Only a write to a lower half (FF52, FF54) restarts its count (docboy
    /// `hdma_transfer_write_hdma*`).
    pub(crate) fn write_address(&mut self, low: u8, value: u8) {
        match low {
            0x51 => self.source = (value as u16) << 8 | self.source & 0xf0,
            0x52 => {
                self.source = self.source & 0xff00 | (value & 0xf0) as u16;
                self.source_bytes = 0;
            }
            0x53 => self.target = (value as u16) << 8 | self.target & 0xf0,
            _ => {
                self.target = self.target & 0xff00 | (value & 0xf0) as u16;
                self.target_bytes = 0;
            }
        }
    }

    /// HBlank has begun: the next block is due.
    pub(crate) fn begin_hblank(&mut self) {
        if self.active {
            self.due = 1;
        }
    }
}

/// A write to FF55: starts a transfer, or ends a transfer that waits for HBlank; a due block is
/// still copied.
pub(crate) fn write_hdma_control(machine: &mut Machine, value: u8) {
    sync_ppu_now(machine);
    machine.hdma.left = value & 0x7f;
    if machine.hdma.active {
        machine.hdma.active = value & 0x80 != 0;
    } else if value & 0x80 == 0 {
        machine.hdma.due = machine.hdma.left + 1;
    } else {
        machine.hdma.active = true;
        // In HBlank, and while the LCD is off, the first block is copied at once.
        if !machine.ppu.is_on() || is_hdma_period(machine, 1 << machine.tcycle_shift()) {
            machine.hdma.due = 1;
        }
    }
    if machine.ppu.is_on() {
        schedule_ppu(machine);
    }
    machine.deadline = machine.now;
}

/// Keeps the opcode that the CPU fetches before a block, if the block can change it (gambatte
/// `hdma_pc_7ffe`, `hdma_transition_7fff*`).
fn hold_opcode(machine: &mut Machine, pc: u16) {
    if pc & 0xe000 == 0x8000 && !machine.hdma.holds_opcode {
        machine.hdma.opcode = read_vram(machine, pc);
        machine.hdma.holds_opcode = true;
    }
}

/// Notes the transfer's state when the CPU halts before `pc`.
pub(crate) fn rest_hdma(machine: &mut Machine, pc: u16) {
    if machine.hdma.active {
        sync_ppu_now(machine);
    }
    machine.hdma.rest = if machine.hdma.due > 0 {
        HaltedAt::Due
    } else if machine.hdma.active && is_hdma_period(machine, 0) {
        HaltedAt::Inside
    } else {
        HaltedAt::Outside
    };
    machine.hdma.due = 0;
    if machine.hdma.rest == HaltedAt::Due {
        hold_opcode(machine, pc);
    }
}

/// Decides about a block when the speed changes. A block that was due before STOP is copied as
/// double speed begins, and ends the transfer (gambatte `hdma_transition_speedchange_hdmalen*`). An
/// HBlank that began after STOP copies no block.
pub(crate) fn take_block_of_change(machine: &mut Machine) {
    let is_copied = machine.hdma.rest == HaltedAt::Due && !machine.speed.double;
    machine.hdma.due = is_copied as u8;
    if is_copied {
        machine.hdma.rest = HaltedAt::Inside;
    }
}

/// Resumes the transfer when the CPU wakes from HALT. A block that was due before HALT takes the
/// bus from the fetch after HALT, so that opcode is fetched twice (gambatte
/// `hdma_late_m3halt_m2unhalt_inc_*`).
pub(crate) fn wake_from_halt(machine: &mut Machine) {
    machine.cpu.halt_bug = machine.hdma.rest == HaltedAt::Due;
    wake_hdma(machine);
}

/// Resumes the transfer when the CPU wakes: a block whose HBlank began while the CPU slept is due
/// if that HBlank still lasts.
pub(crate) fn wake_hdma(machine: &mut Machine) {
    machine.speed.changing = false;
    if machine.hdma.active {
        sync_ppu_now(machine);
    }
    let rest = machine.hdma.rest;
    let wakes_inside =
        machine.hdma.active && rest == HaltedAt::Outside && is_hdma_period(machine, 0);
    if rest == HaltedAt::Due || wakes_inside {
        machine.hdma.due = 1;
    } else {
        machine.hdma.rest = HaltedAt::Outside;
    }
}

/// Copies the due blocks, but no block behind the end of a frame, whose picture is complete: they
/// follow in the next frame. Returns true if the CPU had fetched the next opcode before it halted.
#[inline(never)]
pub(crate) fn run_hdma(machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8]) -> bool {
    let left = machine.hdma.left;
    let began = machine.now;
    hold_opcode(machine, machine.cpu.pc);
    // The first read still finds the fetched opcode on the bus.
    let pc = machine.cpu.pc;
    let mut open_bus =
        if pc & 0x8000 == 0 { machine.read_for_dma(rom, cart_ram, pc) } else { 0xff };
    // An HBlank that begins during the copy gets no block (gambatte
    // `hdma_transition_halt_late_unhalt_scx1_*`).
    let mut waits = machine.hdma.active;
    machine.hdma.active = false;
    if is_block_next(machine) && !is_vram_free(machine) {
        // The bus is taken two dots before the first byte (SameBoy).
        let taken = machine.tcycles();
        read_beside_block(machine, taken);
    }
    while is_block_next(machine) {
        machine.hdma.due -= 1;
        let ends = copy_block(machine, rom, cart_ram, open_bus);
        open_bus = 0xff;
        machine.now = machine.now.wrapping_add(BLOCK_TCYCLES >> machine.tcycle_shift());
        if ends || machine.hdma.left == 0 {
            if machine.hdma.left == 0 {
                machine.hdma.left = 0x7f;
            } else {
                machine.hdma.left -= 1;
            }
            waits = false;
            machine.hdma.due = 0;
        } else {
            machine.hdma.left -= 1;
        }
    }
    sync_ppu_now(machine);
    machine.hdma.active = waits;
    if machine.hdma.due > 0 {
        return false;
    }
    if machine.speed.changing && machine.cpu.mode == Mode::Halted {
        machine.hdma.left = left;
        machine.hdma.active = false;
        // OAM DMA pauses.
        halt_dma(machine, machine.now.wrapping_sub(began).wrapping_add(1));
    }
    // The return of the bus takes one M-cycle, in which the next opcode is fetched.
    let fetched = machine.hdma.rest == HaltedAt::Due;
    machine.now = machine.now.wrapping_add(1 - fetched as u32);
    if fetched {
        machine.hdma.rest = HaltedAt::Outside;
    }
    fetched
}

/// Returns true if a block is due and the frame is not over.
fn is_block_next(machine: &mut Machine) -> bool {
    sync_ppu_now(machine);
    machine.hdma.due > 0 && !machine.ppu.frame_over
}

/// Brings the PPU and its drawing past the two dots from a T-cycle on. Returns the address in video
/// RAM that the PPU reads on them, or `NO_READ`; the PPU gets 0 (SameBoy; kkzero241's GDMA Guy is
/// blank there on hardware).
fn read_beside_block(machine: &mut Machine, moment: u32) -> u16 {
    let first = address_read_before(machine, moment);
    let second = address_read_before(machine, moment.wrapping_add(1));
    before_picture_change(machine);
    if second == NO_READ { first } else { second }
}

/// Returns the address that the PPU reads on the dot before a T-cycle, or `NO_READ`.
fn address_read_before(machine: &mut Machine, moment: u32) -> u16 {
    sync_ppu(machine, moment);
    before_timing_change(machine);
    if machine.ppu.stage == LineProgress::Rendering { lose_read(&mut machine.ppu) } else { NO_READ }
}

/// Writes a byte of a block while the PPU may draw. In mode 3 the byte reaches both banks
/// (SameBoy). If the PPU reads on these dots, at double speed only the address lines that both
/// drive stay high (SameBoy); at single speed the byte is lost (docboy
/// `gdma_ppu_on_pixel_transfer_conflict_*`).
// UNVERIFIED: at single speed some of these bytes change the first 16 bytes of the target.
fn write_beside_ppu(machine: &mut Machine, target: u16, value: u8, moment: u32) {
    let read = read_beside_block(machine, moment);
    if read == NO_READ || machine.ppu.double_speed {
        let at = machine.vram_index(target & read);
        put_vram(machine, at, value);
        if machine.ppu.stage == LineProgress::Rendering {
            put_vram(machine, at ^ BANK_BYTES, value);
        }
    }
}

/// Returns true if the whole time of a block certainly lies outside of mode 3.
fn is_vram_free(machine: &Machine) -> bool {
    let ppu = &machine.ppu;
    let ends = machine.tcycles().wrapping_sub(ppu.beam.line_start).wrapping_add(BLOCK_TCYCLES + 2);
    let is_hblank = ppu.beam.line < VBLANK_LINE
        && ppu.stage != LineProgress::Rendering
        && ppu.mode3_end != 0
        && ppu.beam.dot > ppu.mode3_end;
    let is_over = is_hblank || ppu.beam.line >= VBLANK_LINE;
    !ppu.is_on() || is_over && ends < LINE_TCYCLES as u32
}

/// Copies the bytes that OAM DMA has moved before a block. The block takes OAM's bus: until the
/// block ends, the bytes that OAM DMA moves are lost, and the bytes at odd addresses of the block's
/// source go to OAM as well (gambatte `oamdma/oamdmasrcC000_hdmasrc0000`, docboy
/// `gdma_source_wram_dma_source_ram_*`).
#[inline(never)]
fn take_oam_bus(machine: &mut Machine, rom: &[u8], cart_ram: &[u8]) {
    sync_ppu_now(machine);
    before_timing_change(machine);
    move_dma(machine, rom, cart_ram);
    let first = machine.now.wrapping_add(1);
    let ends = first.wrapping_add(BLOCK_TCYCLES >> machine.tcycle_shift());
    let index = ends.wrapping_sub(machine.dma.start);
    if machine.dma.is_moving(first) && is_before(machine.dma.start, ends) {
        machine.dma.copied = index.min(machine.oam.len() as u32) as u8;
    }
}

fn write_oam_beside_dma(machine: &mut Machine, address: u16, index: u16, value: u8) {
    let mcycles = 1 + ((2 * index as u32) >> machine.tcycle_shift());
    let at = (address & 0xff) as usize;
    if machine.dma.is_moving(machine.now.wrapping_add(mcycles)) && at < machine.oam.len() {
        machine.oam[at] = value;
    }
}

/// Copies a block of ROM while nothing else uses its buses.
fn copy_rom(machine: &mut Machine, rom: &[u8], source: u16, target: u16) {
    let window = if source < 0x4000 { machine.cart.rom_low } else { machine.cart.rom_high };
    let from = (window | (source & 0x3fff) as u32) as usize;
    // The target is a multiple of 16: the mask saves checks of bounds.
    let to = machine.vram_index(target) & 0x3ff0;
    for index in 0..BLOCK_BYTES as usize {
        let at = from + index;
        put_vram(machine, to + index, if at < rom.len() { rom[at] } else { 0xff });
    }
}

/// Copies a block and returns true if it reaches the end of the address space.
fn copy_block(machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8], open_bus: u8) -> bool {
    let mut open_bus = open_bus;
    let began = machine.tcycles();
    if machine.dma.active {
        take_oam_bus(machine, rom, cart_ram);
    }
    let source = machine.hdma.source.wrapping_add(machine.hdma.source_bytes);
    let target = machine.hdma.target.wrapping_add(machine.hdma.target_bytes);
    sync_ppu_now(machine);
    before_picture_change(machine);
    let is_free = is_vram_free(machine);
    let is_aligned = (source | target) & (BLOCK_BYTES - 1) == 0;
    let is_of_rom = source < 0x8000 && is_aligned && is_free && !machine.dma.active;
    if is_of_rom {
        copy_rom(machine, rom, source, target);
    }
    let single_bytes = if is_of_rom { 0 } else { BLOCK_BYTES };
    for index in 0..single_bytes {
        let address = source.wrapping_add(index);
        let answers = address & 0xe000 != 0x8000 && address < 0xe000;
        let value = if answers { machine.read_for_dma(rom, cart_ram, address) } else { open_bus };
        open_bus = 0xff;
        if index & 1 != 0 && machine.dma.active {
            write_oam_beside_dma(machine, address, index, value);
        }
        let target = target.wrapping_add(index);
        if is_free {
            let at = machine.vram_index(target);
            put_vram(machine, at, value);
        } else {
            write_beside_ppu(machine, target, value, began.wrapping_add(2 + 2 * index as u32));
        }
    }
    machine.hdma.source_bytes = machine.hdma.source_bytes.wrapping_add(BLOCK_BYTES);
    machine.hdma.target_bytes = machine.hdma.target_bytes.wrapping_add(BLOCK_BYTES);
    let ends = machine.hdma.target.wrapping_add(machine.hdma.target_bytes) == 0;
    if ends {
        machine.hdma.target = 0;
        machine.hdma.target_bytes = 0;
    }
    ends
}
