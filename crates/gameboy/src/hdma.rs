//! The Color's own DMA (FF51-FF55): 16 bytes at a time into video RAM, all at once or a block in
//! each HBlank. The CPU stands still meanwhile.
//!
//! A transfer is asked for by a write and takes place on the next instruction boundary, in
//! `service`; a block for HBlank when the PPU has come to the end of mode 3.
// Pan Docs "VRAM DMA transfers".
#![cfg(color)]

use crate::machine::Machine;

/// Bytes of a block.
const BLOCK_BYTES: u16 = 16;
/// T-cycles that a block takes, at either speed.
const BLOCK_TCYCLES: u32 = 32;

/// Registers, and what is left of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Hdma {
    /// FF51 and FF52: where the next byte comes from.
    pub source: u16,
    /// FF53 and FF54: where in video RAM it goes.
    pub target: u16,
    /// FF55 bits 0 to 6: blocks left, less one.
    pub left: u8,
    /// A block is copied in each HBlank.
    pub active: bool,
    /// Blocks to be copied on the next instruction boundary.
    pub due: u8,
}

impl Hdma {
    /// Nothing asked for.
    pub const fn idle() -> Hdma {
        Hdma { source: 0xfff0, target: 0x1ff0, left: 0x7f, active: false, due: 0 }
    }

    /// A read of FF55.
    pub fn read(&self) -> u8 {
        (!self.active as u8) << 7 | self.left
    }

    /// A write to FF51-FF54.
    pub(crate) fn write_address(&mut self, low: u8, value: u8) {
        match low {
            0x51 => self.source = (value as u16) << 8 | self.source & 0xf0,
            0x52 => self.source = self.source & 0xff00 | (value & 0xf0) as u16,
            0x53 => self.target = ((value & 0x1f) as u16) << 8 | self.target & 0xf0,
            _ => self.target = self.target & 0x1f00 | (value & 0xf0) as u16,
        }
    }

    /// HBlank has begun: the next block is due.
    pub(crate) fn begin_hblank(&mut self) {
        if self.active {
            self.due = 1;
        }
    }
}

impl Machine {
    /// A write to FF55: starts a transfer, or ends one that waits for HBlank.
    pub(crate) fn write_hdma_control(&mut self, value: u8) {
        self.sync_ppu(self.tcycles());
        self.hdma.left = value & 0x7f;
        if self.hdma.active && value & 0x80 == 0 {
            self.hdma.active = false;
            self.hdma.due = 0;
        } else if value & 0x80 == 0 {
            self.hdma.due = self.hdma.left + 1;
        } else {
            self.hdma.active = true;
            // In HBlank, and while the LCD is off, the first block is copied at once.
            if !self.ppu.is_on() || self.is_in_hblank() {
                self.hdma.due = 1;
            }
        }
        if self.ppu.is_on() {
            self.schedule_ppu();
        }
        self.deadline = self.now;
    }

    /// Copies what is due, while the CPU stands still.
    pub fn run_hdma(&mut self, rom: &[u8], cart_ram: &mut [u8]) {
        // The bus is taken over for one M-cycle.
        self.now = self.now.wrapping_add(1);
        while self.hdma.due > 0 {
            self.hdma.due -= 1;
            self.copy_block(rom, cart_ram);
            self.now = self.now.wrapping_add(BLOCK_TCYCLES >> self.tcycle_shift());
            if self.hdma.left == 0 {
                self.hdma.left = 0x7f;
                self.hdma.active = false;
                self.hdma.due = 0;
            } else {
                self.hdma.left -= 1;
            }
        }
    }

    fn copy_block(&mut self, rom: &[u8], cart_ram: &mut [u8]) {
        self.sync_ppu(self.tcycles());
        self.before_picture_change();
        for index in 0..BLOCK_BYTES {
            let address = self.hdma.source.wrapping_add(index);
            let at = self.vram_at(self.hdma.target.wrapping_add(index));
            // UNVERIFIED: video RAM can't be read and written at once; FF stands for what comes.
            self.vram[at] = if address & 0xe000 == 0x8000 {
                0xff
            } else {
                self.read_for_dma(rom, cart_ram, address)
            };
        }
        self.hdma.source = self.hdma.source.wrapping_add(BLOCK_BYTES);
        let target = self.hdma.target.wrapping_add(BLOCK_BYTES);
        self.hdma.target = target & 0x1fff;
        if target & 0x2000 != 0 {
            // Beyond the end of video RAM a transfer ends.
            self.hdma.left = 0;
        }
    }
}
