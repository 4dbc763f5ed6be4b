//! Registers that only the Color has, apart from those of HDMA and the palettes: banks of work RAM
//! and video RAM, the infrared port, and those that no manual of the time named; and which chip
//! has the others.
#![cfg(color)]

use crate::machine::Machine;

/// Banks, the infrared port, and cells that do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Color {
    /// FF4F (VBK) bit 0: the bank of video RAM.
    pub vram_bank: u8,
    /// FF70 (SVBK) bits 0 to 2: the bank of work RAM at D000; 0 stands for 1.
    pub wram_bank: u8,
    /// Offset of that bank in work RAM.
    pub wram_offset: u16,
    /// FF56 (RP) as written; nobody ever shines into the port.
    pub infrared: u8,
    /// FF72 to FF75 as written.
    pub undocumented: [u8; 4],
    /// Bytes after OAM: FEA0, FEC0 and FEE0, eight each.
    pub behind_oam: [u8; 24],
    /// STOP came while the PPU drew, which keeps video RAM open.
    pub stopped_in_mode3: bool,
}

/// The byte after OAM that an address of FEA0-FEFF means: its bits 3 and 4 are not looked at.
fn behind_oam(address: u16) -> usize {
    let group = (address >> 5 & 7) as usize - 5;
    group * 8 + (address & 7) as usize
}

impl Machine {
    /// Returns the index in work RAM of an address of C000-FDFF.
    #[inline(always)]
    pub(crate) fn wram_at(&self, address: u16) -> usize {
        let bank = if address & 0x1000 != 0 { self.color.wram_offset } else { 0 };
        ((bank | address & 0x0fff) & 0x7fff) as usize
    }

    /// Returns the index in video RAM of an address of 8000-9FFF.
    #[inline(always)]
    pub(crate) fn vram_at(&self, address: u16) -> usize {
        ((self.color.vram_bank as usize) << 13 | (address & 0x1fff) as usize) & 0x3fff
    }

    /// A read of FEA0-FEFF.
    pub(crate) fn read_behind_oam(&self, address: u16) -> u8 {
        self.color.behind_oam[behind_oam(address)]
    }

    /// A write to FEA0-FEFF.
    pub(crate) fn write_behind_oam(&mut self, address: u16, value: u8) {
        self.color.behind_oam[behind_oam(address)] = value;
    }

    /// A read of FF4C-FF77; the palettes and HDMA are asked elsewhere.
    pub(crate) fn read_color(&mut self, low: u8) -> u8 {
        if low == 0x76 || low == 0x77 {
            return self.apu.read_levels(self.now, self.timer.div_base, low);
        }
        if self.ppu.compatible {
            return self.register_open_to_all(low);
        }
        match low {
            0x69 => self.read_palette(false),
            0x6b => self.read_palette(true),
            _ => self.color_register(low),
        }
    }

    /// A register that programs for the original can read, too, or FF.
    pub(crate) fn register_open_to_all(&self, low: u8) -> u8 {
        match low {
            // FF72 and FF73 are open to all programs.
            0x72 | 0x73 => self.color.undocumented[(low & 3) as usize ^ 2],
            0x75 => self.color.undocumented[3] | 0x8f,
            // Both stay visible in compatibility mode (mooneye misc boot_hwio-C).
            0x4f => self.color.vram_bank | 0xfe,
            0x68 => self.ppu.palettes.background_index | 0x40,
            0x6a => self.ppu.palettes.object_index | 0x40,
            _ => 0xff,
        }
    }

    /// A register that does not ask what the PPU does.
    pub(crate) fn color_register(&self, low: u8) -> u8 {
        match low {
            0x4d => (self.speed.double as u8) << 7 | 0x7e | self.speed.armed as u8,
            0x55 => self.hdma.read(),
            0x56 => self.infrared_port(),
            0x6c => self.ppu.sorts_by_x as u8 | 0xfe,
            0x70 => self.color.wram_bank | 0xf8,
            0x74 => self.color.undocumented[2],
            _ => self.register_open_to_all(low),
        }
    }

    /// RP: bit 1 says that no light is seen; a receiver that is half on sees some (gbc-hw-tests
    /// `misc_rw_registers_gbc_mode`).
    fn infrared_port(&self) -> u8 {
        let is_half_on = self.color.infrared & 0xc0 == 0x80;
        self.color.infrared | if is_half_on { 0x3c } else { 0x3e }
    }

    /// A write to FF4C-FF77.
    pub(crate) fn write_color(&mut self, low: u8, value: u8) {
        match low {
            0x72 | 0x73 => self.color.undocumented[(low & 3) as usize ^ 2] = value,
            0x75 => self.color.undocumented[3] = value & 0x70,
            _ => {
                if !self.ppu.compatible {
                    self.write_color_only(low, value);
                }
            }
        }
    }

    /// Writes a register that programs for the original cannot change.
    fn write_color_only(&mut self, low: u8, value: u8) {
        match low {
            0x4d => self.speed.armed = value & 1 != 0,
            0x4f => self.color.vram_bank = value & 1,
            0x51..=0x54 => self.hdma.write_address(low, value),
            0x55 => self.write_hdma_control(value),
            0x56 => self.color.infrared = value & 0xc1,
            0x68 => self.ppu.palettes.background_index = value & 0xbf,
            0x69 => self.write_color_cell(false, value),
            0x6a => self.ppu.palettes.object_index = value & 0xbf,
            0x6b => self.write_color_cell(true, value),
            0x6c => {
                self.sync_ppu(self.tcycles());
                self.before_picture_change();
                self.ppu.sorts_by_x = value & 1 != 0;
            }
            0x70 => self.select_wram(value & 7),
            0x74 => self.color.undocumented[2] = value,
            _ => {}
        }
    }

    /// Selects the bank of work RAM at D000.
    pub(crate) fn select_wram(&mut self, bank: u8) {
        self.color.wram_bank = bank;
        self.color.wram_offset = (if bank == 0 { 1 } else { bank } as u16) << 12;
    }
}
