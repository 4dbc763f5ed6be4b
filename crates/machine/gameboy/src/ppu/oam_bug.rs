//! The OAM corruption bug: a 16-bit register that points into FE00-FEFF during mode 2, or an access
//! there, garbles the row the scan is reading (Pan Docs "OAM corruption bug"; the patterns for rows
//! 4n come from tests on real machines and vary between units).

use crate::machine::{COLOR, Machine};
use crate::ppu::sync_ppu;
use crate::ppu::whole_or_by_dots::before_timing_change;
use crate::ppu::{VBLANK_LINE, timing};

/// Bytes of one row, as the scan reads OAM.
const ROW_BYTES: usize = 8;

/// The offset of the row being read now, or 0 where nothing can be garbled.
fn oam_row(machine: &mut Machine) -> usize {
    if COLOR {
        return 0;
    }
    let tcycles = machine.tcycles();
    sync_ppu(machine, tcycles);
    let ppu = &machine.ppu;
    if !ppu.is_on() || ppu.beam.line >= VBLANK_LINE || ppu.beam.first_line {
        return 0;
    }
    if ppu.beam.dot <= 6 || ppu.beam.dot > timing::MODE3_DOT {
        return 0;
    }
    let entry = (ppu.beam.dot - 7) / 2;
    let row = ((entry & !1) * 4 + 8) as usize;
    if row >= machine.oam.len() {
        return 0;
    }
    before_timing_change(machine);
    row
}

/// Corrupts OAM as a write, or a counted register, does.
#[inline(never)]
pub(crate) fn corrupt_oam_by_write(machine: &mut Machine) {
    let row = oam_row(machine);
    if row == 0 {
        return;
    }
    for lane in 0..2 {
        let a = machine.oam[row + lane];
        let b = machine.oam[row - 8 + lane];
        let c = machine.oam[row - 4 + lane];
        machine.oam[row + lane] = ((a ^ c) & (b ^ c)) ^ c;
    }
    for index in 2..ROW_BYTES {
        machine.oam[row + index] = machine.oam[row - ROW_BYTES + index];
    }
}

/// Corrupts OAM as a read does.
#[inline(never)]
pub(crate) fn corrupt_oam_by_read(machine: &mut Machine) {
    let row = oam_row(machine);
    if row == 0 {
        return;
    }
    match row & 0x18 {
        0x10 => corrupt_two_rows_back(machine, row),
        0x00 => corrupt_four_rows_back(machine, row),
        _ => {
            for lane in 0..2 {
                let a = machine.oam[row + lane];
                let b = machine.oam[row - 8 + lane];
                let c = machine.oam[row - 4 + lane];
                machine.oam[row - 8 + lane] = b | a & c;
            }
        }
    }
    copy_oam_row(machine, row - 8, row);
    if row == 0x80 {
        copy_oam_row(machine, row, 0);
    }
}

fn corrupt_two_rows_back(machine: &mut Machine, row: usize) {
    if row >= 0x98 {
        return;
    }
    for lane in 0..2 {
        let a = machine.oam[row - 16 + lane];
        let b = machine.oam[row - 8 + lane];
        let c = machine.oam[row + lane];
        let d = machine.oam[row - 4 + lane];
        machine.oam[row - 8 + lane] = b & (a | c | d) | a & c & d;
    }
    copy_oam_row(machine, row - 8, row - 16);
}

// UNVERIFIED on units other than the one the patterns were measured on.
fn corrupt_four_rows_back(machine: &mut Machine, row: usize) {
    if row >= 0x98 || row < 0x20 {
        return;
    }
    for lane in 0..2 {
        let own = machine.oam[row + lane];
        let previous_third = machine.oam[row - 4 + lane];
        let previous_second = machine.oam[row - 6 + lane];
        let previous = machine.oam[row - 8 + lane];
        let second_back_second = machine.oam[row - 14 + lane];
        let second_back = machine.oam[row - 16 + lane];
        let fourth_back = machine.oam[row - 32 + lane];
        let any = own | previous_third | second_back | fourth_back;
        let most = previous_third & second_back & fourth_back;
        machine.oam[row - 8 + lane] = match row {
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
    copy_oam_row(machine, row - 8, row - 16);
    copy_oam_row(machine, row - 8, row - 32);
}

fn copy_oam_row(machine: &mut Machine, from: usize, to: usize) {
    for index in 0..ROW_BYTES {
        machine.oam[to + index] = machine.oam[from + index];
    }
}
