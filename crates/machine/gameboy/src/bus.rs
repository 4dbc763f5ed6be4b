//! The address space: which part answers an access, and the time that the access takes.
//!
//! `read`, `write` and `idle` are the CPU's three kinds of M-cycle: each acts at `now` and then
//! moves `now` on by one. ROM and work RAM answer at once; rarer accesses take a slow path, which
//! first brings the accessed chip up to `now`.

use crate::boot_control::write_boot_control;
#[cfg(color)]
use crate::color::{read_color, write_color};
use crate::cpu::Cpu;
use crate::dma::{is_lost_to_dma, sync_dma};
#[cfg(color)]
use crate::dma::{move_dma, read_on_dma_bus, write_on_dma_bus};
#[cfg(not(color))]
use crate::dma::{read_on_dma_bus, write_on_dma_bus};
use crate::machine::{COLOR, Machine, WRAM_BYTES, is_before};
use crate::ppu::VRAM_BYTES;
#[cfg(color)]
use crate::ppu::color_palette::{has_written_in_place, write_palettes};
#[cfg(color)]
use crate::ppu::color_write::{write_ppu, write_scroll_in_hblank};
use crate::ppu::oam_bug::corrupt_oam_by_count;
#[cfg(not(color))]
use crate::ppu::registers::write_ppu;
use crate::ppu::registers::{put_vram, read_beam, read_oam, read_vram, write_oam, write_vram};
#[cfg(color)]
use crate::ppu::scan::drop_carried_scan;
use crate::ppu::scan::note_last_read;
use crate::ppu::whole_or_by_dots::{before_picture_change, before_timing_change};
use crate::ppu::{sync_ppu, sync_ppu_now};
#[cfg(all(not(color), not(usual_revision)))]
use crate::super_game_boy::write_super;
use crate::view;

/// Work RAM and its echo, counted from C000.
pub const FAST_WRAM_BYTES: u16 = 0x3e00;
/// Base whose sum with any address lies outside of every ROM.
pub const NO_ROM: u32 = 0x8000_0000;

impl Cpu {
    /// One M-cycle that reads the program: mostly from ROM.
    #[inline(always)]
    pub fn read_code(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], address: u16) -> u8 {
        let offset = m.rom_base[(address >> 14) as usize].wrapping_add(address as u32) as usize;
        let value = if offset < rom.len() {
            rom[offset]
        } else if address.wrapping_sub(0xc000) < m.fast_wram_bytes {
            m.wram[m.wram_index(address)]
        } else {
            m.read_elsewhere(rom, ram, self.now, address)
        };
        self.now = self.now.wrapping_add(1);
        value
    }

    /// One M-cycle that reads data: mostly from work RAM.
    #[inline(always)]
    pub fn read(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], address: u16) -> u8 {
        let value = if address.wrapping_sub(0xc000) < m.fast_wram_bytes {
            m.wram[m.wram_index(address)]
        } else {
            m.read_elsewhere(rom, ram, self.now, address)
        };
        self.now = self.now.wrapping_add(1);
        value
    }

    /// One M-cycle that writes.
    #[inline(always)]
    pub fn write(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], address: u16, value: u8) {
        if address.wrapping_sub(0xc000) < m.fast_wram_bytes {
            let at = m.wram_index(address);
            m.wram[at] = value;
        } else {
            m.write_slow(rom, ram, self.now, address, value);
        }
        self.now = self.now.wrapping_add(1);
    }

    /// One M-cycle without an access.
    #[inline(always)]
    pub fn idle(&mut self, _m: &mut Machine) {
        self.now = self.now.wrapping_add(1);
    }

    /// One M-cycle without an access in which a 16-bit register is counted up or down, so that its
    /// value stands on the address bus. On the Color this changes nothing.
    #[inline(always)]
    pub fn idle_on_bus(&mut self, m: &mut Machine, address: u16) {
        if !COLOR && address & 0xff00 == 0xfe00 {
            m.touch_oam(self.now);
        }
        self.now = self.now.wrapping_add(1);
    }
}

impl Machine {
    /// Opens the fast path if `allowed`: reads of ROM, and reads and writes of work RAM, are then
    /// answered at once. Otherwise, for example while OAM DMA runs, closes the fast path: every
    /// access goes through `read_elsewhere` or `write_slow`.
    pub fn set_fast_path(&mut self, allowed: bool) {
        self.fast_wram_bytes = if allowed { FAST_WRAM_BYTES } else { 0 };
        self.rom_base = [NO_ROM; 4];
        if allowed {
            self.rom_base[0] = self.cart.rom_low;
            self.rom_base[1] = self.cart.rom_high.wrapping_sub(0x4000);
        }
    }

    /// Reads cartridge ROM through the mapper's two windows.
    pub(crate) fn read_rom(&self, rom: &[u8], address: u16) -> u8 {
        let window = if address < 0x4000 { self.cart.rom_low } else { self.cart.rom_high };
        let offset = (window | (address & 0x3fff) as u32) as usize;
        if offset < rom.len() { rom[offset] } else { 0xff }
    }

    /// A read that the CPU could not answer in place. This function answers reads of ROM while the
    /// fast path is open, and always reads of high RAM, in which programs wait during OAM DMA. All
    /// other reads go to `read_slow`.
    #[inline(never)]
    pub fn read_elsewhere(&mut self, rom: &[u8], cart_ram: &[u8], now: u32, address: u16) -> u8 {
        let offset = self.rom_base[(address >> 14) as usize].wrapping_add(address as u32) as usize;
        if offset < rom.len() {
            rom[offset]
        } else if address >= 0xff80 && address < 0xffff {
            self.hram[(address & 0x7f) as usize]
        } else {
            self.read_slow(rom, cart_ram, now, address)
        }
    }

    /// A read that OAM DMA may take, or that a chip, video RAM or cartridge RAM answers.
    #[inline(never)]
    pub fn read_slow(&mut self, rom: &[u8], cart_ram: &[u8], now: u32, address: u16) -> u8 {
        self.now = now;
        #[cfg(color)]
        if self.hdma.holds_opcode {
            self.hdma.holds_opcode = false;
            return self.hdma.opcode;
        }
        sync_dma(self, rom, cart_ram);
        if is_lost_to_dma(self, address) {
            if address >= 0xfe00 {
                return 0xff;
            }
            return read_on_dma_bus(self, rom, cart_ram, address);
        }
        match address >> 8 {
            0x00..=0x7f => self.read_rom(rom, address),
            0x80..=0x9f => read_vram(self, address),
            0xa0..=0xbf => self.cart.read_ram(cart_ram, address),
            0xfe => read_oam(self, address),
            0xff => self.read_high(address as u8),
            _ => self.wram[self.wram_index(address)],
        }
    }

    /// A write that the fast path did not take: OAM DMA may have the bus, or the address may belong
    /// to a chip.
    #[inline(never)]
    pub fn write_slow(
        &mut self,
        rom: &[u8],
        cart_ram: &mut [u8],
        now: u32,
        address: u16,
        value: u8,
    ) {
        // Programs that change colours in each line write them most often: `now` is not needed.
        #[cfg(color)]
        if address & 0xfffc == 0xff68
            && !self.dma.active
            && has_written_in_place(self, now, address as u8, value)
        {
            return;
        }
        self.now = now;
        if self.dma.active {
            write_beside_dma(self, rom, cart_ram, address, value);
        } else if address >= 0xff00 {
            self.write_high(rom, cart_ram, address as u8, value);
        } else {
            write_memory(self, cart_ram, address, value);
        }
    }

    /// Reads FF00-FFFF: the chips' registers, HRAM and IE. Brings the chip up to `now` first.
    fn read_high(&mut self, low: u8) -> u8 {
        match low {
            // Programs poll the buttons, so compiled blocks read them in place.
            0x00 => return self.joypad.read(),
            0x01 | 0x02 => self.sync_serial(),
            0x0f => self.sync_interrupts(),
            0x04..=0x07 => {
                return self.timer.read(&mut self.interrupts, self.now, low as u16);
            }
            0x10..=0x3f => {
                return self.apu.read(self.now, self.timer.div_base, 0xff00 | low as u16);
            }
            0x41 | 0x44 => return read_beam(self, low),
            #[cfg(color)]
            0x4c..=0x77 => return read_color(self, low),
            _ => {}
        }
        view::read_register(self, low)
    }

    /// A write to FF00-FFFF. Writes to high RAM and palettes, and those to SCX and SCY in HBlank,
    /// which are the most frequent, are handled in this small function, which need not save
    /// registers of the host as `write_register` does.
    fn write_high(&mut self, rom: &[u8], cart_ram: &mut [u8], low: u8, value: u8) {
        if low >= 0x80 && low < 0xff {
            self.hram[(low & 0x7f) as usize] = value;
            return;
        }
        #[cfg(color)]
        if low >= 0x68 && low < 0x6c {
            write_palettes(self, low, value);
            return;
        }
        #[cfg(color)]
        if low & 0xfe == 0x42 && is_before(self.now, self.ppu.hblank_until) {
            write_scroll_in_hblank(self, low, value);
            return;
        }
        self.write_register(rom, cart_ram, low, value);
    }

    /// A write to a chip's register or IE.
    #[inline(never)]
    fn write_register(&mut self, rom: &[u8], cart_ram: &mut [u8], low: u8, value: u8) {
        match low {
            0x00 => {
                #[cfg(all(not(color), not(usual_revision)))]
                if self.joypad.is_super {
                    let lcdc = self.ppu.lcdc;
                    write_super(&mut self.joypad, cart_ram, lcdc, &self.vram, &self.frame, value);
                }
                self.joypad.write(&mut self.interrupts, value);
                if self.interrupts.pending() != 0 {
                    self.deadline = self.now;
                }
            }
            0x01 => {
                self.sync_serial();
                self.serial.sb = value;
            }
            0x02 => {
                self.sync_serial();
                let control = value & !self.serial_control_ones();
                self.serial.write_control(&mut self.interrupts, control);
                self.serial.schedule(self.now, self.timer.div_base);
            }
            0x04 => self.reset_div(),
            0x05..=0x07 => self.timer.write(&mut self.interrupts, self.now, low as u16, value),
            0x0f => {
                // The CPU's value wins over a request on the same dot (gambatte `*_ifw_*`).
                self.sync_interrupts();
                sync_ppu(self, self.tcycles().wrapping_add(1));
                self.interrupts.requested = value & 0x1f;
            }
            0x10..=0x3f => {
                self.apu.write(self.now, self.timer.div_base, 0xff00 | low as u16, value);
                #[cfg(color)]
                if self.apu.voices.reads_on_bus {
                    self.deadline = self.now;
                }
            }
            0x46 => {
                sync_dma(self, rom, cart_ram);
                note_last_read(self);
                self.dma.write(self.now, value);
                self.set_fast_path(false);
            }
            0x40..=0x4b => write_ppu(self, low, value),
            0x50 => write_boot_control(self, value),
            #[cfg(color)]
            0x4c..=0x77 => {
                if low == 0x4f || low == 0x70 {
                    move_dma(self, rom, cart_ram);
                }
                write_color(self, low, value);
            }
            0xff => self.interrupts.enabled = value,
            _ => {}
        }
        move_deadline(self, low);
    }

    /// Returns the bits of SC that read as ones.
    #[inline(always)]
    pub(crate) fn serial_control_ones(&self) -> u8 {
        #[cfg(color)]
        let is_fast = !self.ppu.compatible || self.color.drives_outside;
        #[cfg(color)]
        let ones = if is_fast { 0x7c } else { 0x7e };
        #[cfg(not(color))]
        let ones = 0x7e;
        ones
    }

    fn sync_serial(&mut self) {
        self.serial.sync(&mut self.interrupts, self.now, self.timer.div_base);
    }

    /// Corrupts OAM if the PPU scans it at `now` (`oam_bug`). The caller increments or decrements a
    /// 16-bit register that points to FE00-FEFF.
    #[inline(never)]
    pub fn touch_oam(&mut self, now: u32) {
        self.now = now;
        corrupt_oam_by_count(self);
    }

    /// IF as the CPU sees it at `now`.
    pub fn requested_at(&mut self, now: u32) -> u8 {
        self.now = now;
        if !is_quiet_at(self, now) {
            self.sync_interrupts();
        }
        self.interrupts.requested
    }

    /// Clears bit `number` of IF. This also clears a request that the PPU makes up to the middle of
    /// this M-cycle and, on the Color, one that the timer or the serial port makes in this M-cycle
    /// (gambatte `*_late_retrigger_*`).
    pub fn acknowledge(&mut self, number: u16) {
        let next = self.now.wrapping_add(1);
        if !is_quiet_at(self, next) {
            if COLOR {
                // Requests of this M-cycle must stand in IF before the bit is cleared.
                self.timer.sync(&mut self.interrupts, next);
                self.serial.sync(&mut self.interrupts, next, self.timer.div_base);
            }
            sync_ppu(self, self.tcycles().wrapping_add(1 << (self.tcycle_shift() - 1)));
        }
        self.interrupts.requested &= !(1 << number);
    }

    /// Brings every chip that can raise a line of IF up to `now`.
    pub fn sync_interrupts(&mut self) {
        self.timer.sync(&mut self.interrupts, self.now);
        self.sync_serial();
        sync_ppu_now(self);
    }

    /// A write to DIV, which also clocks the APU and the serial port.
    pub fn reset_div(&mut self) {
        let div_base = self.timer.div_base;
        self.apu.div_reset(self.now, div_base);
        self.serial.div_reset(&mut self.interrupts, self.now, div_base);
        self.timer.reset_div(&mut self.interrupts, self.now);
        self.serial.schedule(self.now, self.timer.div_base);
    }

    /// Returns the index in work RAM of an address of C000-FDFF.
    #[cfg(not(color))]
    #[inline(always)]
    pub fn wram_index(&self, address: u16) -> usize {
        (address & 0x1fff) as usize
    }

    /// Returns the index that the selected bank gives an address.
    #[cfg(color)]
    #[inline(always)]
    pub fn wram_index(&self, address: u16) -> usize {
        self.color.wram_index(address)
    }

    /// Returns the index in video RAM of an address of 8000-9FFF.
    #[cfg(not(color))]
    #[inline(always)]
    pub(crate) fn vram_index(&self, address: u16) -> usize {
        (address & 0x1fff) as usize
    }

    /// Returns the index that the selected bank gives an address.
    #[cfg(color)]
    #[inline(always)]
    pub(crate) fn vram_index(&self, address: u16) -> usize {
        self.color.vram_index(address)
    }

    /// A read by the DMA engine from 0000-DFFF, which no chip can block.
    pub(crate) fn read_for_dma(&mut self, rom: &[u8], cart_ram: &[u8], address: u16) -> u8 {
        match address >> 12 {
            0x0..=0x7 => self.read_rom(rom, address),
            0x8 | 0x9 => self.vram[self.vram_index(address)],
            0xa | 0xb => self.cart.read_ram(cart_ram, address),
            _ => {
                if COLOR && address >= 0xe000 {
                    0xff
                } else {
                    self.wram[self.wram_index(address)]
                }
            }
        }
    }

    /// Returns the byte at an address, for debuggers and observers: no time passes, nothing is
    /// blocked.
    pub fn peek(&self, rom: &[u8], cart_ram: &[u8], address: u16) -> u8 {
        if address < 0xff00 {
            return view::read(self, rom, cart_ram, address);
        }
        // Only the chips' registers need to be brought up to date, on a copy.
        let mut copy = *self;
        copy.read_high(address as u8)
    }

    /// Changes memory for debuggers: RAM of every kind and the chips' registers; ROM stays as it
    /// is.
    pub fn poke(&mut self, rom: &[u8], cart_ram: &mut [u8], address: u16, value: u8) {
        match address >> 8 {
            0x00..=0x7f => {}
            0x80..=0x9f => {
                before_picture_change(self);
                let at = self.vram_index(address);
                put_vram(self, at, value);
            }
            0xa0..=0xbf => {
                self.cart.write_ram(cart_ram, self.mcycles_at_single_speed(), address, value);
            }
            0xfe => {
                if address < 0xfea0 {
                    #[cfg(color)]
                    drop_carried_scan(self);
                    before_timing_change(self);
                    self.oam[(address & 0xff) as usize] = value;
                }
            }
            0xff => self.write_high(rom, cart_ram, address as u8, value),
            _ => {
                let at = self.wram_index(address);
                self.wram[at] = value;
            }
        }
    }
}

impl Machine {
    /// Changes a byte of a bank for debuggers, even if the bank is not mapped: in video RAM, in
    /// cartridge RAM, or in work RAM from D000 on, where bank 0 means 1. At any other address
    /// `poke_bank` equals `poke`. ROM, and banks that do not exist, stay as they are.
    pub fn poke_bank(
        &mut self,
        rom: &[u8],
        cart_ram: &mut [u8],
        bank: u16,
        address: u16,
        value: u8,
    ) {
        let bank = bank as usize;
        match address >> 8 {
            0x80..=0x9f => {
                let at = bank << 13 | (address & 0x1fff) as usize;
                if at < VRAM_BYTES {
                    before_picture_change(self);
                    put_vram(self, at, value);
                }
            }
            0xa0..=0xbf => {
                let at = bank << 13 | (address & 0x1fff) as usize;
                if at < cart_ram.len() {
                    cart_ram[at] = value;
                }
            }
            0xd0..=0xdf => {
                let at = (if bank == 0 { 1 } else { bank }) << 12 | (address & 0xfff) as usize;
                if at < WRAM_BYTES {
                    self.wram[at] = value;
                }
            }
            _ => self.poke(rom, cart_ram, address, value),
        }
    }
}

/// Returns true if the PPU can't request an interrupt up to and in an M-cycle.
#[inline(always)]
fn is_ppu_quiet_at(machine: &Machine, moment: u32) -> bool {
    !machine.ppu.is_on() || is_before(moment, machine.ppu.deadline)
}

/// Returns true if no chip can request an interrupt up to and in an M-cycle. A chip's deadline is
/// never later than its next request. A serial transfer is never quiet.
#[inline(always)]
pub(crate) fn is_quiet_at(machine: &Machine, moment: u32) -> bool {
    is_before(moment, machine.timer.deadline)
        && is_before(moment, machine.serial.deadline)
        && machine.serial.sc & 0x80 == 0
        && is_ppu_quiet_at(machine, moment)
}

/// Recomputes the deadline after a write to a register: the write may have moved a chip's deadline
/// or enabled an interrupt.
#[inline(always)]
fn move_deadline(machine: &mut Machine, low: u8) {
    if COLOR && low == 0x1a {
        machine.deadline = machine.now;
    }
    match low {
        0x02 | 0x04..=0x07 | 0x0f | 0x40 | 0x41 | 0x46 | 0xff => machine.deadline = machine.now,
        0x43 | 0x45 | 0x4a | 0x4b => {
            if machine.interrupts.pending() != 0 {
                machine.deadline = machine.now;
            }
            bring_deadline_forward(machine);
        }
        0x42 | 0x47..=0x49 => bring_deadline_forward(machine),
        _ => {}
    }
}

/// A write while OAM DMA is set up or runs.
#[inline(never)]
fn write_beside_dma(
    machine: &mut Machine,
    rom: &[u8],
    cart_ram: &mut [u8],
    address: u16,
    value: u8,
) {
    sync_dma(machine, rom, cart_ram);
    if is_lost_to_dma(machine, address) {
        if address < 0xfe00 {
            write_on_dma_bus(machine, rom, cart_ram, address, value);
        }
    } else if address >= 0xff00 {
        machine.write_high(rom, cart_ram, address as u8, value);
    } else {
        write_memory(machine, cart_ram, address, value);
    }
}

/// A write below FF00.
#[inline(never)]
fn write_memory(machine: &mut Machine, cart_ram: &mut [u8], address: u16, value: u8) {
    match address >> 8 {
        0x00..=0x7f => {
            machine.cart.write_control(machine.mcycles_at_single_speed(), address, value);
            machine.set_fast_path(!machine.dma.active);
        }
        0x80..=0x9f => write_vram(machine, address, value),
        0xa0..=0xbf => {
            machine.cart.write_ram(cart_ram, machine.mcycles_at_single_speed(), address, value);
        }
        0xfe => write_oam(machine, address, value),
        _ => {
            let at = machine.wram_index(address);
            machine.wram[at] = value;
        }
    }
}

/// Called after a write to a register that moves the PPU's deadline alone.
#[inline(always)]
pub(crate) fn bring_deadline_forward(machine: &mut Machine) {
    if machine.ppu.is_on() && is_before(machine.ppu.deadline, machine.deadline) {
        machine.deadline = machine.ppu.deadline;
    }
}
