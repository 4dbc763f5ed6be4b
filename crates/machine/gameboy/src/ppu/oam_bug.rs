//! The OAM corruption bug: a 16-bit register that points into FE00-FEFF during mode 2, or an access
//! there, garbles the row the scan is reading (Pan Docs "OAM corruption bug"; the patterns for rows
//! 4n come from tests on real machines and vary between units).

use crate::machine::{COLOR, Machine};
use crate::ppu::{VBLANK_LINE, timing};

/// Bytes of one row, as the scan reads OAM.
const ROW_BYTES: usize = 8;

impl Machine {
    /// The offset of the row being read now, or 0 where nothing can be garbled.
    fn oam_row(&mut self) -> usize {
        if COLOR {
            return 0;
        }
        let tcycles = self.tcycles();
        self.sync_ppu(tcycles);
        let ppu = &self.ppu;
        if !ppu.is_on() || ppu.line >= VBLANK_LINE || ppu.first_line {
            return 0;
        }
        if ppu.dot <= 6 || ppu.dot > timing::MODE3_DOT {
            return 0;
        }
        let entry = (ppu.dot - 7) / 2;
        let row = ((entry & !1) * 4 + 8) as usize;
        if row >= self.oam.len() {
            return 0;
        }
        self.before_timing_change();
        row
    }

    /// Corrupts OAM as a write, or a counted register, does.
    #[inline(never)]
    pub(crate) fn corrupt_oam_by_write(&mut self) {
        let row = self.oam_row();
        if row == 0 {
            return;
        }
        for lane in 0..2 {
            let a = self.oam[row + lane];
            let b = self.oam[row - 8 + lane];
            let c = self.oam[row - 4 + lane];
            self.oam[row + lane] = ((a ^ c) & (b ^ c)) ^ c;
        }
        for index in 2..ROW_BYTES {
            self.oam[row + index] = self.oam[row - ROW_BYTES + index];
        }
    }

    /// Corrupts OAM as a read does.
    #[inline(never)]
    pub(crate) fn corrupt_oam_by_read(&mut self) {
        let row = self.oam_row();
        if row == 0 {
            return;
        }
        match row & 0x18 {
            0x10 => self.corrupt_two_rows_back(row),
            0x00 => self.corrupt_four_rows_back(row),
            _ => {
                for lane in 0..2 {
                    let a = self.oam[row + lane];
                    let b = self.oam[row - 8 + lane];
                    let c = self.oam[row - 4 + lane];
                    self.oam[row - 8 + lane] = b | a & c;
                }
            }
        }
        self.copy_oam_row(row - 8, row);
        if row == 0x80 {
            self.copy_oam_row(row, 0);
        }
    }

    fn corrupt_two_rows_back(&mut self, row: usize) {
        if row >= 0x98 {
            return;
        }
        for lane in 0..2 {
            let a = self.oam[row - 16 + lane];
            let b = self.oam[row - 8 + lane];
            let c = self.oam[row + lane];
            let d = self.oam[row - 4 + lane];
            self.oam[row - 8 + lane] = b & (a | c | d) | a & c & d;
        }
        self.copy_oam_row(row - 8, row - 16);
    }

    // UNVERIFIED on units other than the one the patterns were measured on.
    fn corrupt_four_rows_back(&mut self, row: usize) {
        if row >= 0x98 || row < 0x20 {
            return;
        }
        for lane in 0..2 {
            let own = self.oam[row + lane];
            let previous_third = self.oam[row - 4 + lane];
            let previous_second = self.oam[row - 6 + lane];
            let previous = self.oam[row - 8 + lane];
            let second_back_second = self.oam[row - 14 + lane];
            let second_back = self.oam[row - 16 + lane];
            let fourth_back = self.oam[row - 32 + lane];
            let any = own | previous_third | second_back | fourth_back;
            let most = previous_third & second_back & fourth_back;
            self.oam[row - 8 + lane] = match row {
                0x40 => {
                    let pulled = fourth_back | second_back | !previous_second & second_back_second;
                    previous & (pulled | previous_third | own)
                        | previous_third & second_back & fourth_back
                }
                0x20 => previous & any | own & most,
                0x60 => previous & any | most,
                _ => previous | own & most,
            };
        }
        self.copy_oam_row(row - 8, row - 16);
        self.copy_oam_row(row - 8, row - 32);
    }

    fn copy_oam_row(&mut self, from: usize, to: usize) {
        for index in 0..ROW_BYTES {
            self.oam[to + index] = self.oam[from + index];
        }
    }
}
