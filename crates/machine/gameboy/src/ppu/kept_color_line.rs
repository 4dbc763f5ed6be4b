//! Lines of the Color's picture that are still right in the next frame, so that they are not drawn
//! again. Called by `color_line`; runs on the host only, since devices draw all lines.
//!
//! The pixels of a whole line depend on its tiles and objects, as `color_line` takes them from
//! memory, on the palettes and on registers. `KeptColorLines` has the values from which the lines
//! of `Machine::frame` were drawn. Code that changes the frame in another way calls `forget_line`
//! or `forget_picture`, code that changes video RAM after a line was drawn `note_vram_change`.
#![cfg(color)]

use core::fmt;

use crate::machine::Machine;
use crate::ppu::color_line::{LineObjects, LineTiles, TileRun};
use crate::ppu::{Ppu, VBLANK_LINE};

/// Lines of a picture.
const LINES: usize = VBLANK_LINE as usize;
/// Registers of a line that must be drawn: LCDC has bit 7 while lines are drawn.
const NOT_KEPT: [u8; 11] = [0; 11];

/// The values from which a line was drawn.
#[derive(Clone, Copy)]
#[repr(C)]
struct KeptLine {
    /// Version of video RAM that has the tiles.
    seen_version: u32,
    tiles: LineTiles,
    objects: LineObjects,
    /// As `registers` packs them, or `NOT_KEPT`.
    registers: [u8; 11],
    background_colors: [u8; 64],
    object_colors: [u8; 64],
}

/// The values from which the lines of the picture were drawn. The fields before this one end where
/// the translated machine ends, at a multiple of its alignment.
#[derive(Clone, Copy)]
#[repr(C, align(4))]
pub(crate) struct KeptColorLines {
    /// Number of changes of video RAM since the machine was made or loaded.
    vram_version: u32,
    lines: [KeptLine; LINES],
}

// Kept lines change nothing but speed: machines are equal whatever lines they keep.
impl PartialEq for KeptColorLines {
    fn eq(&self, _other: &KeptColorLines) -> bool {
        true
    }
}

impl Eq for KeptColorLines {}

impl fmt::Debug for KeptColorLines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines.iter().filter(|line| line.registers != NOT_KEPT).count();
        write!(formatter, "{lines} kept lines")
    }
}

impl KeptColorLines {
    /// Keeps no line.
    pub(crate) const fn none() -> KeptColorLines {
        let line = KeptLine {
            seen_version: 0,
            tiles: LineTiles::none(),
            objects: LineObjects::none(),
            registers: NOT_KEPT,
            background_colors: [0; 64],
            object_colors: [0; 64],
        };
        KeptColorLines { vram_version: 0, lines: [line; LINES] }
    }
}

/// The registers on which the current line depends.
fn registers(ppu: &Ppu) -> [u8; 11] {
    let window_at = ppu.window_at();
    let (window_at, window_line) =
        if window_at < 160 { (window_at as u8, ppu.window_line) } else { (160, 0) };
    [
        ppu.lcdc,
        ppu.scy,
        ppu.scx,
        ppu.fine_scroll(),
        window_at,
        window_line,
        ppu.bgp,
        ppu.obp0,
        ppu.obp1,
        ppu.compatible as u8,
        ppu.sorts_by_x as u8,
    ]
}

/// Takes the current line's tiles. Returns true if the picture has the line already. The line must
/// be drawn otherwise: it is kept from then on.
#[inline(always)]
pub(super) fn is_kept(
    machine: &mut Machine,
    tiles: &mut LineTiles,
    objects: &LineObjects,
    background: &TileRun,
    right: &TileRun,
) -> bool {
    let registers = registers(&machine.ppu);
    let palettes = &machine.ppu.palettes;
    let Some(line) = machine.kept.lines.get_mut(machine.ppu.beam.line as usize) else {
        unreachable!("the PPU draws visible lines")
    };
    let has_registers = line.registers == registers;
    if has_registers && line.seen_version == machine.kept.vram_version {
        *tiles = line.tiles;
    } else {
        tiles.take(&machine.vram, background, right);
    }
    let is_kept = has_registers
        && line.background_colors == palettes.background
        && line.objects == *objects
        && (objects.is_none() || line.object_colors == palettes.object)
        && line.tiles == *tiles;
    line.seen_version = machine.kept.vram_version;
    if !is_kept {
        line.tiles = *tiles;
        line.objects = *objects;
        line.registers = registers;
        line.background_colors = palettes.background;
        line.object_colors = palettes.object;
    }
    is_kept
}

/// Notes that video RAM changes.
#[inline(always)]
pub(crate) fn note_vram_change(machine: &mut Machine) {
    machine.kept.vram_version = machine.kept.vram_version.wrapping_add(1);
    if machine.kept.vram_version == 0 {
        forget_picture(machine);
    }
}

/// Forgets the current line if it is drawn dot by dot.
pub(super) fn forget_line(machine: &mut Machine) {
    let line = machine.ppu.beam.line as usize;
    if let Some(line) = machine.kept.lines.get_mut(line)
        && machine.ppu.draw
    {
        line.registers = NOT_KEPT;
    }
}

/// Forgets all lines.
pub(super) fn forget_picture(machine: &mut Machine) {
    for line in &mut machine.kept.lines {
        line.registers = NOT_KEPT;
    }
}
