//! Registers that only the Color has: banks of work RAM and video RAM, the infrared port and the
//! undocumented ones. Accesses to the other registers of the Color are passed to their chips.
#![cfg(color)]

use crate::boot_control::write_key0;
use crate::hdma::write_hdma_control;
use crate::machine::Machine;
use crate::ppu::color_palette::read_palette;
use crate::ppu::color_timing::is_cgb_e;
use crate::ppu::sync_ppu_now;
use crate::ppu::whole_or_by_dots::before_picture_change;

/// Banks, the infrared port, and cells that do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Color {
    /// FF4F (VBK) bit 0: the bank of video RAM.
    pub vram_bank: u8,
    /// FF70 (SVBK) bits 0 to 2: the bank of work RAM at D000; 0 stands for 1.
    pub wram_bank: u8,
    /// Offset in work RAM of the bank at D000.
    pub wram_offset: u16,
    /// FF56 (RP) as written; the port never receives light.
    pub infrared: u8,
    /// FF72 to FF75 as written.
    pub undocumented: [u8; 4],
    /// Bytes after OAM: FEA0, FEC0 and FEE0, eight each.
    pub behind_oam: [u8; 24],
    /// True if STOP came while the PPU drew, so that the PPU still reads video RAM.
    pub stopped_in_mode3: bool,
    /// FF6C (OPRI) bit 0 as it reads back.
    pub opri: u8,
    /// FF4C (KEY0) bit 3: the picture is the original's, for a panel that is driven from outside;
    /// banks, speed, infrared, OPRI and the fast serial clock can still be used.
    pub drives_outside: bool,
}

/// Index in `behind_oam` of an address of FEA0-FEFF, whose bits 3 and 4 are ignored.
fn behind_oam(address: u16) -> usize {
    let group = (address >> 5 & 7) as usize - 5;
    group * 8 + (address & 7) as usize
}

impl Color {
    /// Returns the index in work RAM of an address of C000-FDFF.
    #[inline(always)]
    pub(crate) fn wram_index(&self, address: u16) -> usize {
        let bank = if address & 0x1000 != 0 { self.wram_offset } else { 0 };
        ((bank | address & 0x0fff) & 0x7fff) as usize
    }

    /// Returns the index in video RAM of an address of 8000-9FFF.
    #[inline(always)]
    pub(crate) fn vram_index(&self, address: u16) -> usize {
        ((self.vram_bank as usize) << 13 | (address & 0x1fff) as usize) & 0x3fff
    }

    /// Selects the bank of work RAM at D000.
    pub(crate) fn select_wram(&mut self, bank: u8) {
        self.wram_bank = bank;
        self.wram_offset = (if bank == 0 { 1 } else { bank } as u16) << 12;
    }

    /// Reads a byte of FEA0-FEFF.
    pub(crate) fn read_behind_oam(&self, address: u16) -> u8 {
        self.behind_oam[behind_oam(address)]
    }

    /// Writes a byte of FEA0-FEFF.
    pub(crate) fn write_behind_oam(&mut self, address: u16, value: u8) {
        self.behind_oam[behind_oam(address)] = value;
    }

    /// Reads RP: bit 1 says that the port sees no light; a receiver that is half on sees some
    /// (gbc-hw-tests `misc_rw_registers_gbc_mode`).
    fn read_infrared(&self) -> u8 {
        let is_half_on = self.infrared & 0xc0 == 0x80;
        self.infrared | if is_half_on { 0x3c } else { 0x3e }
    }
}

/// Returns true if all of the Color's registers can be used: by a program for the Color, or by the
/// boot ROM.
#[inline(always)]
pub(crate) fn has_color_registers(machine: &Machine) -> bool {
    !machine.ppu.compatible || machine.cart.boot_rom
}

/// Reads FF4C-FF77.
pub(crate) fn read_color(machine: &mut Machine, low: u8) -> u8 {
    let is_cell = low == 0x69 || low == 0x6b;
    if low == 0x76 || low == 0x77 {
        machine.apu.read_levels(machine.now, machine.timer.div_base, low)
    } else if is_cell && has_color_registers(machine) {
        read_palette(machine, low == 0x6b)
    } else {
        color_register(machine, low)
    }
}

/// Returns a register's value, even if the PPU would block a read.
pub(crate) fn color_register(machine: &Machine, low: u8) -> u8 {
    if low == 0x76 || low == 0x77 {
        let mut apu = machine.apu;
        return apu.read_levels(machine.now, machine.timer.div_base, low);
    }
    let palettes = &machine.ppu.palettes;
    let is_picture = low >= 0x51 && low <= 0x55 || low == 0x69 || low == 0x6b;
    if !has_color_registers(machine) && (is_picture || !machine.color.drives_outside) {
        return register_open_to_all(machine, low);
    }
    match low {
        0x4d => (machine.speed.double as u8) << 7 | 0x7e | machine.speed.armed as u8,
        0x55 => machine.hdma.read(),
        // Bit 4 of an E reads 0 (SameBoy).
        0x56 => machine.color.read_infrared() & !((is_cgb_e(machine) as u8) << 4),
        0x69 => palettes.background[(palettes.background_index & 0x3f) as usize],
        0x6b => palettes.object[(palettes.object_index & 0x3f) as usize],
        0x6c => machine.color.opri | 0xfe,
        0x70 => machine.color.wram_bank | 0xf8,
        0x74 => machine.color.undocumented[2],
        _ => register_open_to_all(machine, low),
    }
}

/// Returns a register that also programs for the original can read, else FF.
fn register_open_to_all(machine: &Machine, low: u8) -> u8 {
    match low {
        // FF72 and FF73 are open to all programs.
        0x72 | 0x73 => machine.color.undocumented[(low & 3) as usize ^ 2],
        0x50 => 0xff ^ machine.cart.boot_rom as u8,
        0x75 => machine.color.undocumented[3] | 0x8f,
        // VBK and the palettes' indices stay visible in compatibility mode (mooneye misc
        // boot_hwio-C).
        0x4f => machine.color.vram_bank | 0xfe,
        0x68 => machine.ppu.palettes.background_index | 0x40,
        0x6a => machine.ppu.palettes.object_index | 0x40,
        _ => 0xff,
    }
}

/// Writes FF4C-FF77, except for the palettes' registers (`write_palettes`).
pub(crate) fn write_color(machine: &mut Machine, low: u8, value: u8) {
    match low {
        0x72 | 0x73 => machine.color.undocumented[(low & 3) as usize ^ 2] = value,
        0x75 => machine.color.undocumented[3] = value & 0x70,
        // KEY0 and OPRI choose the model for a program while the boot ROM runs.
        0x4c => write_key0(machine, value),
        _ => {
            if has_color_registers(machine) {
                write_color_only(machine, low, value);
            } else if machine.color.drives_outside {
                write_beside_picture(machine, low, value);
            }
        }
    }
}

/// Writes a register that programs for the original cannot change.
fn write_color_only(machine: &mut Machine, low: u8, value: u8) {
    match low {
        0x51..=0x54 => machine.hdma.write_address(low, value),
        0x55 => write_hdma_control(machine, value),
        _ => write_beside_picture(machine, low, value),
    }
}

/// Writes a register that can also be used in the mode for a panel that is driven from outside
/// (docboy `cgb_dmg_ext_mode`).
#[inline(never)]
fn write_beside_picture(machine: &mut Machine, low: u8, value: u8) {
    match low {
        0x4d => machine.speed.armed = value & 1 != 0,
        0x4f => machine.color.vram_bank = value & 1,
        0x56 => machine.color.infrared = value & 0xc1,
        0x6c => {
            machine.color.opri = value & 1;
            // For programs of the Color the boot ROM has made the choice, so a write has no effect
            // (SameBoy, docboy `obj_priority_change_opri`).
            if machine.color.drives_outside || machine.cart.boot_rom {
                sync_ppu_now(machine);
                before_picture_change(machine);
                machine.ppu.sorts_by_x = value & 1 != 0;
            }
        }
        0x70 => machine.color.select_wram(value & 7),
        0x74 => machine.color.undocumented[2] = value,
        _ => {}
    }
}
