//! The pixels of a whole line of the Color, tile by tile. Called by `whole_line` for lines in which
//! nothing changes; `packed_line` does the same for the original.
//!
//! The fetcher's state is set as the pipeline would leave it at the end of mode 3: a later line
//! that is drawn dot by dot may show the last fetched data (`misses_fetch`, `last_high`).
#![cfg(color)]

use crate::machine::Machine;
use crate::ppu::color_pixel::{FourColors, Ground, ObjectPixels, background_planes};
use crate::ppu::scan::MAX_OBJECTS;
use crate::ppu::{
    LCDC_BACKGROUND_MAP, LCDC_OBJECTS, LCDC_TILE_DATA, LCDC_WINDOW, LCDC_WINDOW_MAP, Ppu, Scan,
    VRAM_BYTES,
};

/// Columns of the screen.
const COLUMNS: i16 = 160;

/// A run of tiles in a line: the background's, or the window's.
#[derive(Clone, Copy, Debug)]
struct TileRun {
    /// Column of the screen at which the first tile begins; negative if the tile is partly scrolled
    /// out.
    column: i16,
    /// Column after the last pixel.
    end: i16,
    /// Offset in video RAM of the map's row.
    map_row: u16,
    /// Column in the map of the first tile.
    map_column: u8,
    /// Line of the tiles, 0 to 7.
    line: u8,
    /// Offset in video RAM of the first tile of the tile data.
    origin: u16,
    /// Number of the tile at `origin`: 128 if tile numbers are signed, else 0.
    first_tile: u8,
    /// Mask of the attributes' bits: 0 in compatibility mode.
    attributes: u8,
}

/// A tile's row: number, attributes, and the planes from video RAM.
#[derive(Clone, Copy, Debug)]
struct FetchedTile {
    number: u8,
    attributes: u8,
    low: u8,
    high: u8,
}

/// Draws a line for which the shortcut is valid, after its scan of objects.
pub(crate) fn draw_plain_line(machine: &mut Machine) {
    let window_at = machine.ppu.window_at() as i16;
    let mut run = TileRun::background(&machine.ppu);
    if window_at < COLUMNS {
        run.end = window_at;
        draw_run(machine, &run);
        run = TileRun::window(&machine.ppu, window_at);
        machine.ppu.window_line = machine.ppu.window_line.wrapping_add(1);
    }
    draw_run(machine, &run);
    machine.ppu.leave_last_fetch(&machine.vram, &machine.oam, &run);
    machine.ppu.hblank_ahead = 0;
}

fn draw_run(machine: &mut Machine, run: &TileRun) {
    let order = machine.ppu.scan.by_priority(machine.ppu.sorts_by_x);
    let (after, before) = columns_of_objects(&machine.ppu);
    let planes = background_planes(&machine.ppu);
    let line = machine.ppu.beam.line;
    let mut column = run.column;
    let mut number = 0;
    let mut palette = 0;
    let mut colors = FourColors::of(&machine.ppu, palette);
    // Many tiles equal their left neighbour.
    let mut shown = 0;
    let mut pixels = colors.eight_pixels(0, 0);
    while column < run.end {
        let tile = FetchedTile::of(&machine.vram, run, number);
        let is_recolored = tile.attributes & 7 != palette;
        if is_recolored {
            palette = tile.attributes & 7;
            colors = FourColors::of(&machine.ppu, palette);
        }
        let mut low = tile.low & planes;
        let mut high = tile.high & planes;
        if tile.attributes & 0x20 != 0 {
            low = low.reverse_bits();
            high = high.reverse_bits();
        }
        let planes_shown = low as u16 | (high as u16) << 8;
        if is_recolored || planes_shown != shown {
            shown = planes_shown;
            pixels = colors.eight_pixels(low, high);
        }
        pixels.show(&mut machine.frame, line, column, run.end);
        if column > after && column < before {
            let ground = Ground { pixels: low | high, attributes: tile.attributes };
            let objects =
                ObjectPixels::over(&machine.ppu, &machine.vram, &machine.oam, &order, column);
            objects.show_over(&machine.ppu, &mut machine.frame, ground, column, run.end);
        }
        column += 8;
        number += 1;
    }
}

impl TileRun {
    fn background(ppu: &Ppu) -> TileRun {
        let row = ppu.beam.line.wrapping_add(ppu.scy);
        let map = if ppu.lcdc & LCDC_BACKGROUND_MAP != 0 { 0x1c00 } else { 0x1800 };
        TileRun::of_map(ppu, map, row, ppu.scx >> 3, -(ppu.fine_scroll() as i16))
    }

    fn window(ppu: &Ppu, column: i16) -> TileRun {
        let map = if ppu.lcdc & LCDC_WINDOW_MAP != 0 { 0x1c00 } else { 0x1800 };
        TileRun::of_map(ppu, map, ppu.window_line, 0, column)
    }

    /// Returns the run that shows a row of a map, from `map_column` on, at a column of the screen.
    fn of_map(ppu: &Ppu, map: u16, row: u8, map_column: u8, column: i16) -> TileRun {
        let unsigned = ppu.lcdc & LCDC_TILE_DATA != 0;
        TileRun {
            column,
            end: COLUMNS,
            map_row: map + (row >> 3) as u16 * 32,
            map_column,
            line: row & 7,
            origin: if unsigned { 0 } else { 0x800 },
            first_tile: if unsigned { 0 } else { 0x80 },
            attributes: if ppu.compatible { 0 } else { 0xff },
        }
    }
}

impl FetchedTile {
    #[inline(always)]
    fn of(vram: &[u8; VRAM_BYTES], run: &TileRun, number: u8) -> FetchedTile {
        let cell = (run.map_row | (run.map_column.wrapping_add(number) & 0x1f) as u16) & 0x1fff;
        let tile = vram[cell as usize];
        let attributes = vram[0x2000 | cell as usize] & run.attributes;
        let upside_down = (attributes >> 6 & 1) * 7;
        let line = run.line ^ upside_down;
        let bank = (attributes as u16 & 8) << 10;
        let row = run.origin + (tile ^ run.first_tile) as u16 * 16 + line as u16 * 2;
        let address = (row | bank) as usize & 0x3ffe;
        FetchedTile { number: tile, attributes, low: vram[address], high: vram[address | 1] }
    }
}

impl Scan {
    /// Numbers of the line's objects, the front object first.
    fn by_priority(&self, sorts_by_x: bool) -> [u8; MAX_OBJECTS as usize] {
        let mut order = [0; MAX_OBJECTS as usize];
        for object in 0..self.count as usize {
            let entry = self.entry[object];
            let mut place = object;
            while !sorts_by_x && place > 0 && self.entry[order[place - 1] as usize] > entry {
                order[place] = order[place - 1];
                place -= 1;
            }
            order[place] = object as u8;
        }
        order
    }
}

impl ObjectPixels {
    /// The objects' pixels in eight columns.
    fn over(
        ppu: &Ppu,
        vram: &[u8; VRAM_BYTES],
        oam: &[u8; 0xa0],
        order: &[u8; MAX_OBJECTS as usize],
        column: i16,
    ) -> ObjectPixels {
        let mut pixels = ObjectPixels::none();
        let mut place = 0;
        while place < ppu.scan.count as usize {
            let object = order[place] as usize;
            place += 1;
            let begin = ppu.scan.x[object] as i16 - 8 - column;
            if begin > -8 && begin < 8 {
                let entry = ppu.scan.entry[object] as usize * 4;
                let flags = oam[(entry + 3) % 0xa0];
                let address = ppu.object_row(ppu.scan.y[object], oam[(entry + 2) % 0xa0], flags);
                let mut low = vram[address & (VRAM_BYTES - 1)];
                let mut high = vram[(address | 1) & (VRAM_BYTES - 1)];
                if flags & 0x20 != 0 {
                    low = low.reverse_bits();
                    high = high.reverse_bits();
                }
                if begin >= 0 {
                    low >>= begin;
                    high >>= begin;
                } else {
                    low <<= -begin;
                    high <<= -begin;
                }
                let takes = (low | high) & !(pixels.low | pixels.high);
                pixels.put(low, high, takes, ppu.object_palette(flags), flags >> 7);
            }
        }
        pixels
    }
}

impl Ppu {
    /// Sets the fetcher to its state at the end of mode 3, in the last of the line's runs. The
    /// fetcher is one tile ahead: it reads a tile's number with the first pixel of the preceding
    /// tile, the lower plane with the third pixel, and the upper plane with the fifth (valid from
    /// the sixth on). While an object is fetched, it reads the whole tile.
    fn leave_last_fetch(&mut self, vram: &[u8; VRAM_BYTES], oam: &[u8; 0xa0], run: &TileRun) {
        let put_out = (COLUMNS - run.column) as u16;
        let shown = (put_out >> 3) as u8;
        let rest = put_out & 7;
        let last_object = if self.scan.count > 0 { self.scan.count as usize - 1 } else { 0 };
        // The tile over which the last object begins; -2 if the object begins before the run.
        let mut object_tile = -2;
        if self.scan.count > 0 {
            let begin = self.scan.x[last_object] as i16 - 8 - run.column;
            object_tile = if begin >= 0 { begin >> 3 } else { -2 };
        }
        let reads_all = rest >= 6 || object_tile == shown as i16;
        let tile = FetchedTile::of(vram, run, shown);
        let next = FetchedTile::of(vram, run, shown + 1);
        let complete = if reads_all { next } else { tile };
        let of_object = object_tile >= shown as i16 - (!reads_all) as i16;
        if self.lcdc & LCDC_TILE_DATA != 0 {
            self.pipeline.last_high = complete.high;
        }
        if self.scan.count > 0 && (of_object || self.lcdc & LCDC_TILE_DATA == 0) {
            let entry = self.scan.entry[last_object] as usize * 4;
            let (number, flags) = (oam[(entry + 2) % 0xa0], oam[(entry + 3) % 0xa0]);
            let address = self.object_row(self.scan.y[last_object], number, flags);
            self.pipeline.last_high = vram[(address | 1) & (VRAM_BYTES - 1)];
        }
        // A window that would begin right of the screen keeps the last dot from reading.
        let misses = self.is_window_met() && self.lcdc & LCDC_WINDOW != 0 && self.wx == 167;
        let addressed = if rest == 0 || rest == 1 && misses { tile } else { next };
        self.pipeline.tile = addressed.number;
        self.pipeline.tile_attributes = addressed.attributes;
        self.pipeline.data_low = if rest == 3 && misses && !reads_all {
            tile.high
        } else if rest >= 3 || reads_all {
            next.low
        } else {
            tile.low
        };
        self.pipeline.data_high = complete.high;
        if (rest == 4 || rest == 5) && !reads_all {
            self.pipeline.data_high = next.low;
        }
    }
}

/// Returns bounds: eight columns can show an object only if their first column lies between these
/// two.
fn columns_of_objects(ppu: &Ppu) -> (i16, i16) {
    let count = ppu.scan.count as usize;
    if count == 0 || ppu.lcdc & LCDC_OBJECTS == 0 {
        (COLUMNS, 0)
    } else {
        (ppu.scan.x[0] as i16 - 16, ppu.scan.x[count - 1] as i16)
    }
}
