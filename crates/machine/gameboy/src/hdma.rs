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
    /// HBlank as the CPU left it when it halted.
    pub rest: HaltedAt,
    /// The next opcode lies in video RAM and was fetched before a block. The next read takes it:
    /// the CPU's fetch, or the one that a dispatch of an interrupt begins with and drops.
    pub holds_opcode: bool,
    /// That opcode.
    pub opcode: u8,
}

/// Reason why a block is copied, or is not, when the CPU wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum HaltedAt {
    /// The CPU halted outside of HBlank: a wake in HBlank copies one.
    Outside = 0,
    /// The CPU halted in HBlank, whose block was copied.
    Inside = 1,
    /// The CPU halted before a block that was due.
    Due = 2,
}

impl Hdma {
    /// Makes an HDMA without a transfer.
    pub const fn idle() -> Hdma {
        Hdma {
            source: 0xfff0,
            target: 0xfff0,
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

    /// A write to FF51-FF54.
    pub(crate) fn write_address(&mut self, low: u8, value: u8) {
        match low {
            0x51 => self.source = (value as u16) << 8 | self.source & 0xf0,
            0x52 => self.source = self.source & 0xff00 | (value & 0xf0) as u16,
            0x53 => self.target = (value as u16) << 8 | self.target & 0xf0,
            _ => self.target = self.target & 0xff00 | (value & 0xf0) as u16,
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
    /// A write to FF55: starts a transfer, or ends one that waits for HBlank; a block that is due
    /// is still copied.
    pub(crate) fn write_hdma_control(&mut self, value: u8) {
        self.sync_ppu(self.tcycles());
        self.hdma.left = value & 0x7f;
        if self.hdma.active {
            self.hdma.active = value & 0x80 != 0;
        } else if value & 0x80 == 0 {
            self.hdma.due = self.hdma.left + 1;
        } else {
            self.hdma.active = true;
            // In HBlank, and while the LCD is off, the first block is copied at once.
            if !self.ppu.is_on() || self.is_hdma_period(1 << self.tcycle_shift()) {
                self.hdma.due = 1;
            }
        }
        if self.ppu.is_on() {
            self.schedule_ppu();
        }
        self.deadline = self.now;
    }

    /// Keeps the opcode that the CPU fetches before a block, if the block can change it (gambatte
    /// `hdma_pc_7ffe`, `hdma_transition_7fff*`).
    fn hold_opcode(&mut self, pc: u16) {
        if pc & 0xe000 == 0x8000 && !self.hdma.holds_opcode {
            self.hdma.opcode = self.read_vram(pc);
            self.hdma.holds_opcode = true;
        }
    }

    /// Notes the transfer's state when the CPU halts before `pc`.
    pub(crate) fn rest_hdma(&mut self, pc: u16) {
        self.sync_ppu(self.tcycles());
        self.hdma.rest = if self.hdma.due > 0 {
            HaltedAt::Due
        } else if self.hdma.active && self.is_hdma_period(0) {
            HaltedAt::Inside
        } else {
            HaltedAt::Outside
        };
        self.hdma.due = 0;
        if self.hdma.rest == HaltedAt::Due {
            self.hold_opcode(pc);
        }
    }

    /// Notes the transfer's state before the speed changes. A block that is due is copied at once
    /// if double speed begins, and ends the transfer (gambatte
    /// `hdma_transition_speedchange_hdmalen*`).
    ///
    /// Returns true if a block was due.
    pub(crate) fn rest_hdma_for_change(&mut self, pc: u16) -> bool {
        self.rest_hdma(pc);
        let was_due = self.hdma.rest == HaltedAt::Due;
        if was_due && !self.speed.double {
            self.hdma.rest = HaltedAt::Inside;
            self.hdma.due = 1;
        }
        was_due
    }

    /// Resumes the transfer when the CPU wakes from HALT. A block that was due before takes the bus
    /// from the opcode that is fetched after HALT, which is fetched once more (gambatte
    /// `hdma_late_m3halt_m2unhalt_inc_*`).
    pub(crate) fn wake_from_halt(&mut self) {
        self.cpu.halt_bug = self.hdma.rest == HaltedAt::Due;
        self.wake_hdma();
    }

    /// Resumes the transfer when the CPU wakes: a block that it slept through is due if HBlank
    /// still goes on.
    pub(crate) fn wake_hdma(&mut self) {
        self.speed.changing = false;
        self.sync_ppu(self.tcycles());
        let rest = self.hdma.rest;
        let wakes_inside = self.hdma.active && rest == HaltedAt::Outside && self.is_hdma_period(0);
        if rest == HaltedAt::Due || wakes_inside {
            self.hdma.due = 1;
        } else {
            self.hdma.rest = HaltedAt::Outside;
        }
    }

    /// Copies what is due, while the CPU stands still. Returns true if the CPU had fetched the next
    /// opcode before it halted.
    pub fn run_hdma(&mut self, rom: &[u8], cart_ram: &mut [u8]) -> bool {
        let left = self.hdma.left;
        let began = self.now;
        self.hold_opcode(self.cpu.pc);
        // HBlank that begins meanwhile has no block (gambatte
        // `hdma_transition_halt_late_unhalt_scx1_*`).
        let mut waits = self.hdma.active;
        self.hdma.active = false;
        while self.hdma.due > 0 {
            self.hdma.due -= 1;
            let ends = self.copy_block(rom, cart_ram);
            self.now = self.now.wrapping_add(BLOCK_TCYCLES >> self.tcycle_shift());
            if ends || self.hdma.left == 0 {
                if self.hdma.left == 0 {
                    self.hdma.left = 0x7f;
                } else {
                    self.hdma.left -= 1;
                }
                waits = false;
                self.hdma.due = 0;
            } else {
                self.hdma.left -= 1;
            }
        }
        self.sync_ppu(self.tcycles());
        self.hdma.active = waits;
        if self.speed.changing {
            self.hdma.left = left;
            self.hdma.active = false;
            // OAM DMA stands still.
            self.halt_dma(self.now.wrapping_sub(began).wrapping_add(1));
        }
        // The bus is given back in one M-cycle, in which the next opcode is fetched.
        let fetched = self.hdma.rest == HaltedAt::Due;
        self.now = self.now.wrapping_add(1 - fetched as u32);
        if fetched {
            self.hdma.rest = HaltedAt::Outside;
        }
        fetched
    }

    /// Copies a block and returns true if it reaches the end of the address space.
    fn copy_block(&mut self, rom: &[u8], cart_ram: &mut [u8]) -> bool {
        let began = self.tcycles();
        for index in 0..BLOCK_BYTES {
            let address = self.hdma.source.wrapping_add(index);
            // UNVERIFIED: video RAM can't be read and written at once; FF stands for what comes.
            let value = if address & 0xe000 == 0x8000 {
                0xff
            } else {
                self.read_for_dma(rom, cart_ram, address)
            };
            self.sync_ppu(began.wrapping_add(2 + 2 * index as u32));
            if !self.is_vram_write_blocked() {
                self.before_picture_change();
                let at = self.vram_at(self.hdma.target.wrapping_add(index));
                self.vram[at] = value;
            }
        }
        self.hdma.source = self.hdma.source.wrapping_add(BLOCK_BYTES);
        self.hdma.target = self.hdma.target.wrapping_add(BLOCK_BYTES);
        self.hdma.target == 0
    }
}
