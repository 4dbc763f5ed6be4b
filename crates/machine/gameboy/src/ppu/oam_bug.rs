//! The OAM corruption bug: during mode 2 an increment or decrement of a 16-bit register that points
//! into FE00-FEFF, or an access there, corrupts the row that the scan is reading (Pan Docs "OAM
//! corruption bug"; the patterns for rows 4n come from tests on real machines and vary between
//! units).

use crate::machine::{COLOR, Machine};
use crate::ppu::sync_ppu;
use crate::ppu::whole_or_by_dots::before_timing_change;
use crate::ppu::{VBLANK_LINE, timing};

/// Bytes of one row, as the scan reads OAM.
const ROW_BYTES: usize = 8;

/// Value that means that no scan runs.
const NO_ROW: usize = 0xff;
/// Offset of the last row, whose end the scan reads in its last M-cycle.
const LAST_ROW: usize = 0x98;
const BEHIND_LAST_ROW: usize = 0xa0;

/// The offset of the row that is being read: 0 in the scan's first M-cycle, `BEHIND_LAST_ROW` in
/// its last, `NO_ROW` if no row can be corrupted.
fn oam_row(machine: &mut Machine) -> usize {
    if COLOR {
        return NO_ROW;
    }
    let tcycles = machine.tcycles();
    sync_ppu(machine, tcycles);
    let ppu = &machine.ppu;
    if !ppu.is_on() || ppu.beam.line >= VBLANK_LINE || ppu.beam.first_line {
        return NO_ROW;
    }
    if ppu.beam.dot <= 2 || ppu.beam.dot > timing::MODE3_DOT {
        return NO_ROW;
    }
    let row = ((ppu.beam.dot - 3) / 4 * 8) as usize;
    before_timing_change(machine);
    row
}

/// The majority of three bytes, bit by bit.
fn majority(a: u8, b: u8, c: u8) -> u8 {
    a & (b | c) | b & c
}

/// Corrupts OAM by a write of the CPU, if OAM is closed, or before the write reaches OAM.
pub(crate) fn corrupt_before_write(machine: &mut Machine, address: u16) {
    let row = oam_row(machine);
    if row != BEHIND_LAST_ROW {
        corrupt_row_by_write(machine, row);
        return;
    }
    let target = (address & 0xf8) as usize;
    if target >= BEHIND_LAST_ROW {
        return;
    }
    let word = address & 6;
    for lane in 0..2 {
        let own = machine.oam[target + lane];
        let own_third = machine.oam[target + 4 + lane];
        let own_fourth = machine.oam[target + 6 + lane];
        let last = machine.oam[LAST_ROW + lane];
        let last_second = machine.oam[LAST_ROW + 2 + lane];
        let last_third = machine.oam[LAST_ROW + 4 + lane];
        let last_fourth = machine.oam[LAST_ROW + 6 + lane];
        machine.oam[target + lane] = if word == 0 { majority(own, last, last_third) } else { last };
        machine.oam[target + 2 + lane] =
            if word == 2 { last_second & last_third } else { last_second };
        machine.oam[target + 4 + lane] =
            if word == 6 { last_third & (own_third | last_fourth) } else { last_third };
        machine.oam[target + 6 + lane] =
            if word == 6 { majority(last_third, own_fourth, last_fourth) } else { last_fourth };
    }
}

/// Corrupts OAM by a write of the CPU that reached OAM, in the scan's first M-cycle.
pub(crate) fn corrupt_after_write(machine: &mut Machine, address: u16) {
    let target = (address & 0xf8) as usize;
    if oam_row(machine) != 0 || target >= BEHIND_LAST_ROW {
        return;
    }
    let word = (address & 6) as usize;
    let first = [machine.oam[0], machine.oam[1]];
    copy_oam_row(machine, target, 0);
    for lane in 0..2usize {
        let written = machine.oam[target + word + lane];
        machine.oam[lane] = majority(first[lane & 1], machine.oam[target + lane], written);
    }
}

fn corrupt_by_first_read(machine: &mut Machine, address: u16) {
    let target = (address & 0xf8) as usize;
    if target < BEHIND_LAST_ROW {
        copy_oam_row(machine, target, 0);
    }
}

fn corrupt_by_last_read(machine: &mut Machine, address: u16) {
    let target = (address & 0xf8) as usize;
    if target >= BEHIND_LAST_ROW {
        return;
    }
    for lane in 0..2 {
        let own = machine.oam[target + lane];
        let own_second = machine.oam[target + 2 + lane];
        let last = machine.oam[LAST_ROW + lane];
        let last_second = machine.oam[LAST_ROW + 2 + lane];
        let last_third = machine.oam[LAST_ROW + 4 + lane];
        let last_fourth = machine.oam[LAST_ROW + 6 + lane];
        match address & 6 {
            2 => {
                let most = majority(own_second, last_second, last_third);
                machine.oam[LAST_ROW + 2 + lane] = most;
            }
            6 => machine.oam[LAST_ROW + 6 + lane] = last_fourth | own & last_third,
            _ => machine.oam[LAST_ROW + lane] = majority(own, last, last_third),
        }
    }
    copy_oam_row(machine, LAST_ROW, target);
}

/// Corrupts OAM by an increment or decrement of a 16-bit register.
#[inline(never)]
pub(crate) fn corrupt_oam_by_count(machine: &mut Machine) {
    let row = oam_row(machine);
    corrupt_row_by_write(machine, row);
}

fn corrupt_row_by_write(machine: &mut Machine, row: usize) {
    if row == 0 || row > LAST_ROW {
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

/// Corrupts OAM by a read of the CPU.
#[inline(never)]
pub(crate) fn corrupt_oam_by_read(machine: &mut Machine, address: u16) {
    let row = oam_row(machine);
    if row == 0 {
        corrupt_by_first_read(machine, address);
        return;
    }
    if row == BEHIND_LAST_ROW {
        corrupt_by_last_read(machine, address);
        return;
    }
    if row == NO_ROW {
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
