//! Functions by which a user's program reads a machine after a step: `gb.read`, `gb.pc`, `gb.pixel`
//! and so on (docs/programs.md). Each function of this file is available under its name.
//!
//! Programs run at the end of a frame, when every chip is up to date, or at a hook, when the timer,
//! the serial port and the PPU are. So registers can be read without a copy of the machine. At the
//! end of a frame their values equal those of `Machine::peek`; within a line FF41 reads mode 2.
//! These functions do not change the machine: `write` and `write_bank` ask for changes that are
//! made later. No argument can cause a read outside of memory.

#[cfg(color)]
use crate::color::color_register;
use crate::machine::{Machine, WRAM_BYTES};
use crate::ppu::VRAM_BYTES;
use crate::ppu::registers::ppu_register;

/// Numbers of the finished step that are not in the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct StepNumbers {
    /// Frames since the reset.
    pub frames: u32,
    /// Seed of the last reset of all machines, its lower half.
    pub seed: u32,
    /// The machine's number in its swarm.
    pub env: u32,
    /// Frames of the step that have run.
    pub step_frames: u32,
    /// The action's number.
    pub action: u8,
    /// The buttons that were held, by the action or by a person: right, left, up, down, A, B,
    /// SELECT, START from bit 0.
    pub buttons: u8,
}

/// The byte at an address, as a debugger reads it, even if the PPU or OAM DMA blocks it.
pub fn read(machine: &Machine, rom: &[u8], cart_ram: &[u8], address: u16) -> u8 {
    match address >> 8 {
        0x00..=0x7f => machine.read_rom(rom, address),
        0x80..=0x9f => machine.vram[machine.vram_index(address)],
        0xa0..=0xbf => machine.cart.read_ram(cart_ram, address),
        0xfe => {
            if address < 0xfea0 {
                machine.oam[(address & 0xff) as usize]
            } else {
                0
            }
        }
        0xff => read_register(machine, address as u8),
        _ => machine.wram[machine.wram_index(address)],
    }
}

/// The byte at an address in a bank, mapped or not: in ROM from 4000 on, in video RAM, in cartridge
/// RAM, and in work RAM from D000 on, where 0 means bank 1. At other addresses it equals `read`.
/// 255 in a bank that does not exist.
pub fn read_bank(machine: &Machine, rom: &[u8], cart_ram: &[u8], bank: u16, address: u16) -> u8 {
    let bank = bank as usize;
    match address >> 8 {
        0x40..=0x7f => {
            let at = bank << 14 | (address & 0x3fff) as usize;
            if at < rom.len() { rom[at] } else { 0xff }
        }
        0x80..=0x9f => {
            let at = bank << 13 | (address & 0x1fff) as usize;
            if at < VRAM_BYTES { machine.vram[at] } else { 0xff }
        }
        0xa0..=0xbf => {
            let at = bank << 13 | (address & 0x1fff) as usize;
            if at < cart_ram.len() { cart_ram[at] } else { 0xff }
        }
        0xd0..=0xdf => {
            let at = (if bank == 0 { 1 } else { bank }) << 12 | (address & 0xfff) as usize;
            if at < WRAM_BYTES { machine.wram[at] } else { 0xff }
        }
        _ => read(machine, rom, cart_ram, address),
    }
}

/// Reads FF00-FFFF. At the end of a frame the LCD is off or has not begun to draw line 0, so the
/// mode in FF41 does not depend on the line's objects.
#[inline(never)]
pub(crate) fn read_register(machine: &Machine, low: u8) -> u8 {
    let now = machine.now;
    let div_base = machine.timer.div_base;
    match low {
        0x80..=0xfe => machine.hram[(low & 0x7f) as usize],
        0x00 => machine.joypad.read(),
        0x01 => machine.serial.sb,
        0x02 => machine.serial.sc | machine.serial_control_ones(),
        0x04..=0x07 => {
            let mut timer = machine.timer;
            let mut interrupts = machine.interrupts;
            timer.read(&mut interrupts, now, low as u16)
        }
        0x0f => machine.interrupts.requested | 0xe0,
        0x10..=0x3f => {
            let mut apu = machine.apu;
            apu.read(now, div_base, 0xff00 | low as u16)
        }
        0x46 => machine.dma.page,
        #[cfg(not(color))]
        0x50 => 0xff ^ machine.cart.boot_rom as u8,
        0x40..=0x4b => ppu_register(&machine.ppu, low),
        #[cfg(color)]
        0x4c..=0x77 => color_register(machine, low),
        0xff => machine.interrupts.enabled,
        _ => 0xff,
    }
}

/// Two bytes, the lower one first.
pub fn read16(machine: &Machine, rom: &[u8], cart_ram: &[u8], address: u16) -> u16 {
    let low = read(machine, rom, cart_ram, address);
    let high = read(machine, rom, cart_ram, address.wrapping_add(1));
    (high as u16) << 8 | low as u16
}

/// One bit of a byte, such as an event flag; 0 is the lowest bit.
pub fn bit(machine: &Machine, rom: &[u8], cart_ram: &[u8], address: u16, number: u8) -> bool {
    read(machine, rom, cart_ram, address) >> (number & 7) & 1 != 0
}

/// A byte of two decimal digits, as games keep scores and money.
pub fn bcd(machine: &Machine, rom: &[u8], cart_ram: &[u8], address: u16) -> i32 {
    let byte = read(machine, rom, cart_ram, address);
    (byte >> 4) as i32 * 10 + (byte & 15) as i32
}

/// Asks for a write to an address, without the effects of a program's write, to be executed after
/// the calling function has returned. `writes` holds the count of requests, then for each request
/// the bank plus one (or 0), the address and the value.
pub fn write(writes: &mut [u32], address: u16, value: u8) {
    let count = writes[0].wrapping_add(1);
    if (count as usize) < writes.len() {
        writes[count as usize] = (address as u32) << 8 | value as u32;
    }
    writes[0] = count;
}

/// Asks for a write to an address in a bank, mapped or not: of video RAM, of cartridge RAM, or of
/// work RAM from D000 on, where 0 means bank 1. At other addresses it equals `write`. A write to a
/// bank that does not exist has no effect.
pub fn write_bank(writes: &mut [u32], bank: u16, address: u16, value: u8) {
    // No writable memory has as many banks.
    let bank = if bank < 0xfe { bank as u32 } else { 0xfe };
    let count = writes[0].wrapping_add(1);
    if (count as usize) < writes.len() {
        writes[count as usize] = (bank + 1) << 24 | (address as u32) << 8 | value as u32;
    }
    writes[0] = count;
}

/// A byte of cartridge RAM by its offset in the chip, whatever bank is selected; 255 beyond the
/// end.
pub fn cart_ram(cart_ram: &[u8], offset: u32) -> u8 {
    if (offset as usize) < cart_ram.len() { cart_ram[offset as usize] } else { 0xff }
}

/// The ROM bank at 4000-7FFF.
pub fn rom_bank(machine: &Machine) -> u16 {
    (machine.cart.rom_high >> 14) as u16
}

/// Returns true if the cartridge's motor shakes the console.
pub fn rumble(machine: &Machine) -> bool {
    machine.cart.rumbles()
}

/// A pixel of the last drawn frame as a shade, from 0 (lightest) to 3 (darkest), by the lightness
/// of its colour; 0 outside of the screen.
#[cfg(color)]
pub fn pixel(machine: &Machine, x: i32, y: i32) -> u8 {
    if x < 0 || x >= 160 || y < 0 || y >= 144 {
        return 0;
    }
    let at = (y as usize * 160 + x as usize) * 2;
    let color = machine.frame[at] as u32 | (machine.frame[at + 1] as u32) << 8;
    // The weights of BT.601.
    let light = 299 * (color & 31) + 587 * (color >> 5 & 31) + 114 * (color >> 10 & 31);
    3 - (light / 8000) as u8
}

/// A pixel of the last drawn frame, from 0 (lightest) to 3 (darkest); 0 outside of the screen.
#[cfg(not(color))]
pub fn pixel(machine: &Machine, x: i32, y: i32) -> u8 {
    if x < 0 || x >= 160 || y < 0 || y >= 144 {
        return 0;
    }
    let at = y as u32 * 160 + x as u32;
    machine.frame[(at >> 2) as usize] >> (6 - 2 * (at & 3)) & 3
}

/// Register A.
pub fn a(machine: &Machine) -> u8 {
    machine.cpu.a
}

/// Register F: the flags Z, N, H, C from bit 7.
pub fn f(machine: &Machine) -> u8 {
    machine.cpu.f()
}

/// Register B.
pub fn b(machine: &Machine) -> u8 {
    machine.cpu.b
}

/// Register C.
pub fn c(machine: &Machine) -> u8 {
    machine.cpu.c
}

/// Register D.
pub fn d(machine: &Machine) -> u8 {
    machine.cpu.d
}

/// Register E.
pub fn e(machine: &Machine) -> u8 {
    machine.cpu.e
}

/// Register H.
pub fn h(machine: &Machine) -> u8 {
    machine.cpu.h
}

/// Register L.
pub fn l(machine: &Machine) -> u8 {
    machine.cpu.l
}

/// Registers B and C.
pub fn bc(machine: &Machine) -> u16 {
    machine.cpu.bc()
}

/// Registers D and E.
pub fn de(machine: &Machine) -> u16 {
    machine.cpu.de()
}

/// Registers H and L.
pub fn hl(machine: &Machine) -> u16 {
    machine.cpu.hl()
}

/// The stack pointer.
pub fn sp(machine: &Machine) -> u16 {
    machine.cpu.sp
}

/// The program counter.
pub fn pc(machine: &Machine) -> u16 {
    machine.cpu.pc
}

/// The number of this step's action.
pub fn action(step_numbers: &StepNumbers) -> u8 {
    step_numbers.action
}

/// The buttons that were held in this step, by its action or by a person: right, left, up, down, A,
/// B, SELECT, START, from bit 0.
pub fn buttons(step_numbers: &StepNumbers) -> u8 {
    step_numbers.buttons
}

/// Frames since the machine's last reset.
pub fn frames(step_numbers: &StepNumbers) -> i32 {
    step_numbers.frames as i32
}

/// Frames of this step that have run.
pub fn step_frames(step_numbers: &StepNumbers) -> i32 {
    step_numbers.step_frames as i32
}

/// Returns the seed of the last reset: `wp.rand_init(gb.seed(machine), gb.env(machine))`.
pub fn seed(step_numbers: &StepNumbers) -> i32 {
    step_numbers.seed as i32
}

/// The machine's number in its swarm.
pub fn env(step_numbers: &StepNumbers) -> i32 {
    step_numbers.env as i32
}
