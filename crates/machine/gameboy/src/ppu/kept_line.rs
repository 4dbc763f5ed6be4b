//! Lines of the original's picture that are still right in the next frame, so that they are not
//! drawn again.
//! Called by `whole_line`; runs on the host only, since devices draw all lines. `kept_color_line`
//! does the same for the Color.
//!
//! A whole line depends on registers, video RAM and OAM. `KeptLines` has the values from which the
//! lines of `Machine::frame` were drawn. Code that changes the frame in another way calls
//! `forget_line` or `forget_picture`.
#![cfg(not(color))]

use core::fmt;

use crate::machine::Machine;
use crate::ppu::{
    LCDC_BACKGROUND, LCDC_BACKGROUND_MAP, LCDC_TILE_DATA, LCDC_WINDOW_MAP, Ppu, VBLANK_LINE,
    VRAM_BYTES,
};

/// Lines of a picture.
const LINES: usize = VBLANK_LINE as usize;
/// Tiles in video RAM; the maps lie behind them.
const TILES: usize = 384;
/// Rows of both maps.
const MAP_ROWS: usize = 64;
/// Columns of a map that a line shows, from column 0 on.
const SEEN_COLUMNS: u32 = 0x1f_ffff;
/// Registers of a line that must be drawn: LCDC has bit 7 while lines are drawn.
const NOT_KEPT: [u8; 8] = [0; 8];

/// The values from which the lines of the picture were drawn.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct KeptLines {
    vram: [u8; VRAM_BYTES],
    oam: [u8; 0xa0],
    /// Registers of each line as `registers` packs them, or `NOT_KEPT`.
    registers: [[u8; 8]; LINES],
    /// True if video RAM was compared in this frame and has not been written since.
    is_compared: bool,
}

// Kept lines change nothing but speed: machines are equal whatever lines they keep.
impl PartialEq for KeptLines {
    fn eq(&self, _other: &KeptLines) -> bool {
        true
    }
}

impl Eq for KeptLines {}

impl fmt::Debug for KeptLines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.registers.iter().filter(|registers| **registers != NOT_KEPT).count();
        write!(formatter, "{lines} kept lines")
    }
}

impl KeptLines {
    /// Keeps no line.
    pub(crate) const fn none() -> KeptLines {
        KeptLines {
            vram: [0; VRAM_BYTES],
            oam: [0; 0xa0],
            registers: [NOT_KEPT; LINES],
            is_compared: false,
        }
    }

    /// Forgets the lines that show a part of video RAM that has changed.
    fn follow_vram(&mut self, vram: &[u8; VRAM_BYTES]) {
        let changed = ChangedVram::new(&self.vram, vram);
        self.vram = *vram;
        let mut shown = [[None; MAP_ROWS]; 2];
        for line in 0..LINES {
            let registers = self.registers[line];
            let [lcdc, scy, scx, _, _, _, window_at, window_line] = registers;
            if registers == NOT_KEPT || lcdc & LCDC_BACKGROUND == 0 {
                continue;
            }
            let mut is_changed = |map_bit: u8, row: u8, first_column: u8| {
                let map = if lcdc & map_bit != 0 { MAP_ROWS / 2 } else { 0 };
                let row = map + (row >> 3) as usize;
                let is_unsigned = lcdc & LCDC_TILE_DATA != 0;
                let columns = *shown[is_unsigned as usize][row]
                    .get_or_insert_with(|| changed.columns(vram, row, is_unsigned));
                columns & SEEN_COLUMNS.rotate_left((first_column >> 3).into()) != 0
            };
            let row = (line as u8).wrapping_add(scy);
            if is_changed(LCDC_BACKGROUND_MAP, row, scx)
                || window_at < 160 && is_changed(LCDC_WINDOW_MAP, window_line, 0)
            {
                self.registers[line] = NOT_KEPT;
            }
        }
        let oam = self.oam;
        for [y, _, tile, _] in oam.as_chunks().0 {
            // An object has one tile, or the two of an even and the next number.
            let even = (tile & 0xfe) as usize;
            if changed.tiles[even] || changed.tiles[even + 1] {
                self.forget_object(*y);
            }
        }
    }

    /// Forgets the lines of objects that have changed.
    fn follow_oam(&mut self, oam: &[u8; 0xa0]) {
        let before = self.oam;
        self.oam = *oam;
        for (old, new) in before.as_chunks::<4>().0.iter().zip(oam.as_chunks().0) {
            if old != new {
                self.forget_object(old[0]);
                self.forget_object(new[0]);
            }
        }
    }

    /// Forgets the lines of an object, as if it were a tall one.
    fn forget_object(&mut self, y: u8) {
        let lines = y.saturating_sub(16)..y.min(VBLANK_LINE);
        self.registers[lines.start.min(lines.end) as usize..lines.end as usize].fill(NOT_KEPT);
    }
}

/// The parts of video RAM that have changed.
struct ChangedVram {
    tiles: [bool; TILES],
    /// A bit for each column of each row of the maps.
    map: [u32; MAP_ROWS],
}

impl ChangedVram {
    fn new(before: &[u8; VRAM_BYTES], now: &[u8; VRAM_BYTES]) -> ChangedVram {
        let mut changed = ChangedVram { tiles: [false; TILES], map: [0; MAP_ROWS] };
        let (old_tiles, old_map) = before.split_at(16 * TILES);
        let (new_tiles, new_map) = now.split_at(16 * TILES);
        let tiles = old_tiles.as_chunks::<16>().0.iter().zip(new_tiles.as_chunks().0);
        for (is_changed, (old, new)) in changed.tiles.iter_mut().zip(tiles) {
            *is_changed = old != new;
        }
        let rows = old_map.as_chunks::<32>().0.iter().zip(new_map.as_chunks().0);
        for (columns, (old, new)) in changed.map.iter_mut().zip(rows) {
            if old != new {
                let bit = |column: usize| ((old[column] != new[column]) as u32) << column;
                *columns = (0..32).map(bit).sum();
            }
        }
        changed
    }

    /// Returns a bit for each column of a row that shows another tile than before, or a tile that
    /// has changed.
    fn columns(&self, vram: &[u8; VRAM_BYTES], row: usize, is_unsigned: bool) -> u32 {
        let mut columns = self.map[row];
        for column in 0..32 {
            let number = vram[16 * TILES + 32 * row + column] as usize;
            let tile = if is_unsigned { number } else { 128 + (number ^ 0x80) };
            columns |= (self.tiles[tile] as u32) << column;
        }
        columns
    }
}

/// The registers on which the current line depends.
fn registers(ppu: &Ppu) -> [u8; 8] {
    let window_at = ppu.window_at();
    let (window_at, window_line) =
        if window_at < 160 { (window_at as u8, ppu.window_line) } else { (160, 0) };
    [ppu.lcdc, ppu.scy, ppu.scx, ppu.bgp, ppu.obp0, ppu.obp1, window_at, window_line]
}

/// Forgets the lines that video RAM and OAM would now make otherwise.
pub(super) fn follow_memory(machine: &mut Machine) {
    if !machine.kept.is_compared && machine.kept.vram != machine.vram {
        machine.kept.follow_vram(&machine.vram);
    }
    machine.kept.is_compared = true;
    if machine.kept.oam != machine.oam {
        machine.kept.follow_oam(&machine.oam);
    }
}

/// Notes that video RAM may have changed.
#[inline(always)]
pub(crate) fn note_vram_change(machine: &mut Machine) {
    machine.kept.is_compared = false;
}

/// Returns true if the picture has the current line already. The line must be drawn otherwise: it
/// is kept from then on.
pub(super) fn is_kept(machine: &mut Machine) -> bool {
    let now = registers(&machine.ppu);
    let before = &mut machine.kept.registers[machine.ppu.beam.line as usize];
    core::mem::replace(before, now) == now
}

/// Forgets the current line if it is drawn, alone or dot by dot.
pub(super) fn forget_line(machine: &mut Machine) {
    let line = machine.ppu.beam.line as usize;
    if let Some(registers) = machine.kept.registers.get_mut(line)
        && machine.ppu.draw
    {
        *registers = NOT_KEPT;
    }
}

/// Forgets all lines.
pub(super) fn forget_picture(machine: &mut Machine) {
    machine.kept.registers = [NOT_KEPT; LINES];
}
