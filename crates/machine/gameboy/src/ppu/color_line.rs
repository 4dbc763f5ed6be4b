//! The pixels of a whole line of the Color, tile by tile. Called by `whole_line` for lines in which
//! nothing changes; `packed_line` does the same for the original. `LineTiles` and `LineObjects`
//! first take from memory what the line shows, and the host compares it with the last frame's line
//! (`kept_color_line`).
//!
//! The fetcher's state is set as the pipeline would leave it at the end of mode 3: a later line
//! that is drawn dot by dot may show the last fetched data (`misses_fetch`, `last_high`).
#![cfg(color)]

use crate::machine::Machine;
use crate::ppu::color_pixel::{FourColors, IN_FRONT, background_planes};
#[cfg(keeps_lines)]
use crate::ppu::kept_lines::is_kept;
use crate::ppu::scan::MAX_OBJECTS;
use crate::ppu::{
    LCDC_BACKGROUND, LCDC_BACKGROUND_MAP, LCDC_OBJECTS, LCDC_TILE_DATA, LCDC_WINDOW,
    LCDC_WINDOW_MAP, Ppu, VRAM_BYTES,
};

/// Columns of the screen.
const COLUMNS: i16 = 160;
/// Maximum of tiles that both runs of a line have, with the tile that is fetched behind the last
/// one.
const TILES: usize = 24;

/// A run of tiles in a line: the background's, or the window's.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileRun {
    /// Column of the screen at which the first tile begins; negative if the tile is partly scrolled
    /// out.
    column: i16,
    /// Column after the last pixel.
    end: i16,
    /// Place of the first tile in `LineTiles`.
    first: usize,
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

/// The tiles of a line as video RAM has them: the background's, then the window's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct LineTiles {
    /// Both planes of the tiles' rows, the lower one in the lower byte.
    planes: [u16; TILES],
    numbers: [u8; TILES],
    attributes: [u8; TILES],
}

/// The objects of a line as OAM and video RAM have them, in the scan's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct LineObjects {
    /// Both planes of the objects' rows, the lower one in the lower byte.
    planes: [u16; MAX_OBJECTS as usize],
    x: [u8; MAX_OBJECTS as usize],
    flags: [u8; MAX_OBJECTS as usize],
    entries: [u8; MAX_OBJECTS as usize],
    count: u8,
}

/// Pixels of objects in a line, the leftmost in the top bit of a byte, from eight pixels left of
/// the screen on.
#[derive(Clone, Copy, Debug)]
struct PixelBits {
    bytes: [u8; 24],
}

impl PixelBits {
    const fn none() -> PixelBits {
        PixelBits { bytes: [0; 24] }
    }

    /// Eight pixels from a column on, which is counted from eight pixels left of the screen.
    #[inline(always)]
    fn eight(&self, column: usize) -> u8 {
        let at = column >> 3;
        let both = (self.bytes[at] as u16) << 8 | self.bytes[at + 1] as u16;
        (both >> (8 - (column & 7))) as u8
    }

    /// Sets those of eight pixels that `bits` marks.
    #[inline(always)]
    fn set(&mut self, column: usize, bits: u8) {
        let at = column >> 3;
        let both = (bits as u16) << (8 - (column & 7));
        self.bytes[at] |= (both >> 8) as u8;
        self.bytes[at + 1] |= both as u8;
    }
}

/// Draws a line for which the shortcut is valid, after its scan of objects.
pub(crate) fn draw_plain_line(machine: &mut Machine) {
    let window_at = machine.ppu.window_at() as i16;
    let mut run = TileRun::background(&machine.ppu);
    let mut ground = run;
    if window_at < COLUMNS {
        ground.end = window_at;
        run = TileRun::window(&machine.ppu, window_at);
        run.first = ground.tiles();
    }
    let mut tiles = LineTiles::none();
    let objects = LineObjects::of(machine);
    #[cfg(keeps_lines)]
    let is_drawn = is_kept(machine, &mut tiles, &objects, &ground, &run);
    #[cfg(not(keeps_lines))]
    let is_drawn = false;
    #[cfg(not(keeps_lines))]
    tiles.take(&machine.vram, &ground, &run);
    if !is_drawn {
        let mut attributes = 0;
        if window_at < COLUMNS {
            attributes = draw_run(machine, &ground, &tiles);
        }
        attributes |= draw_run(machine, &run, &tiles);
        let has_tiles_in_front = attributes & IN_FRONT != 0;
        draw_objects(machine, &objects, &tiles, &ground, &run, has_tiles_in_front);
    }
    if window_at < COLUMNS {
        machine.ppu.window_line = machine.ppu.window_line.wrapping_add(1);
    }
    machine.ppu.leave_last_fetch(&machine.vram, &machine.oam, &tiles, &run);
    machine.ppu.hblank_ahead = 0;
}

/// Draws a run of tiles, whose last tile may reach beyond its end, into the next run. Returns the
/// attributes that any of the tiles has.
fn draw_run(machine: &mut Machine, run: &TileRun, tiles: &LineTiles) -> u8 {
    let visible = background_planes(&machine.ppu) as u16 * 0x0101;
    let line = machine.ppu.beam.line;
    let mut column = run.column;
    let mut at = run.first;
    // Most tiles have the attributes of their left neighbour, many its pixels.
    let mut attributes = tiles.attributes[at];
    let mut found_attributes = attributes;
    let mut colors = FourColors::of(&machine.ppu, attributes & 7);
    let mut shown = 0;
    let mut pixels = colors.eight_pixels(0);
    while column < run.end {
        let planes = tiles.planes[at];
        let is_other = tiles.attributes[at] != attributes;
        if is_other {
            attributes = tiles.attributes[at];
            found_attributes |= attributes;
            colors = FourColors::of(&machine.ppu, attributes & 7);
        }
        if is_other || planes != shown {
            shown = planes;
            pixels = colors.eight_pixels(from_left(planes, attributes) & visible);
        }
        pixels.show_in_line(&mut machine.frame, line, column);
        column += 8;
        at += 1;
    }
    found_attributes
}

/// Both planes of a tile's row, with the leftmost pixel in the top bits.
#[inline(always)]
fn from_left(planes: u16, attributes: u8) -> u16 {
    if attributes & 0x20 != 0 { planes.reverse_bits().swap_bytes() } else { planes }
}

/// Draws the line's objects, the front object first. Pixels of an object that the background hides
/// hide the objects behind them all the same. Behind the objects lies the background and, right of
/// it, another run, which may be the same.
fn draw_objects(
    machine: &mut Machine,
    objects: &LineObjects,
    tiles: &LineTiles,
    background: &TileRun,
    right: &TileRun,
    has_tiles_in_front: bool,
) {
    let ppu = &machine.ppu;
    let can_hide = ppu.compatible || ppu.lcdc & LCDC_BACKGROUND != 0;
    let planes = background_planes(ppu);
    let order = objects.by_priority(ppu.sorts_by_x);
    let mut taken = PixelBits::none();
    for place in 0..objects.count as usize {
        let object = order[place] as usize;
        let x = objects.x[object];
        if x > 0 && x < 168 {
            let flags = objects.flags[object];
            let both = from_left(objects.planes[object], flags);
            let opaque = (both | both >> 8) as u8;
            let column = x as i16 - 8;
            let mut shown = opaque & !taken.eight(x as usize);
            taken.set(x as usize, opaque);
            let is_behind = flags & 0x80 != 0;
            if can_hide && (is_behind || has_tiles_in_front) {
                let mut hidden = background.hiding_pixels(tiles, column, is_behind);
                if background.end < COLUMNS {
                    hidden |= right.hiding_pixels(tiles, column, is_behind);
                }
                shown &= !(hidden & planes);
            }
            if x < 8 {
                shown &= 0xff >> (8 - x);
            } else if x > 160 {
                shown &= 0xff << (x - 160);
            }
            if shown != 0 {
                let colors = FourColors::of_objects(ppu, ppu.object_palette(flags));
                let pixels = colors.eight_pixels(both);
                pixels.show_over_line(&mut machine.frame, ppu.beam.line, column, shown);
            }
        }
    }
}

impl LineTiles {
    /// Makes a line without tiles.
    pub(super) const fn none() -> LineTiles {
        LineTiles { planes: [0; TILES], numbers: [0; TILES], attributes: [0; TILES] }
    }

    /// Takes the tiles of the background and of the run at the right edge of the screen, which may
    /// be the same, from video RAM.
    #[inline(always)]
    pub(super) fn take(&mut self, vram: &[u8; VRAM_BYTES], background: &TileRun, right: &TileRun) {
        if background.end < COLUMNS {
            self.take_run(vram, background);
        }
        self.take_run(vram, right);
    }

    #[inline(always)]
    fn take_run(&mut self, vram: &[u8; VRAM_BYTES], run: &TileRun) {
        let count = run.tiles();
        let mut attributes = vram[0x2000 | run.cell(0)] & run.attributes;
        let mut origin = run.row_origin(attributes);
        for number in 0..count {
            let cell = run.cell(number as u8);
            let tile = vram[cell];
            let cell_attributes = vram[0x2000 | cell] & run.attributes;
            // Most tiles have the attributes of their left neighbour.
            if cell_attributes != attributes {
                attributes = cell_attributes;
                origin = run.row_origin(attributes);
            }
            let address = run.tile_row(origin, tile);
            let at = run.first + number;
            self.planes[at] = vram[address] as u16 | (vram[address | 1] as u16) << 8;
            self.numbers[at] = tile;
            self.attributes[at] = attributes;
        }
    }

    fn low(&self, at: usize) -> u8 {
        self.planes[at] as u8
    }

    fn high(&self, at: usize) -> u8 {
        (self.planes[at] >> 8) as u8
    }
}

impl LineObjects {
    /// Makes a line without objects.
    pub(super) const fn none() -> LineObjects {
        LineObjects {
            planes: [0; MAX_OBJECTS as usize],
            x: [0; MAX_OBJECTS as usize],
            flags: [0; MAX_OBJECTS as usize],
            entries: [0; MAX_OBJECTS as usize],
            count: 0,
        }
    }

    /// Returns true if the line has no objects.
    #[cfg(keeps_lines)]
    pub(super) fn is_none(&self) -> bool {
        self.count == 0
    }

    /// Takes the objects that the scan found, if they are shown.
    #[inline(always)]
    fn of(machine: &Machine) -> LineObjects {
        let mut objects = LineObjects::none();
        let ppu = &machine.ppu;
        if ppu.scan.count > 0 && ppu.lcdc & LCDC_OBJECTS != 0 {
            objects.take(machine);
        }
        objects
    }

    fn take(&mut self, machine: &Machine) {
        let ppu = &machine.ppu;
        for object in 0..ppu.scan.count as usize {
            let entry = ppu.scan.entry[object] as usize * 4;
            let flags = machine.oam[(entry + 3) % 0xa0];
            let address =
                ppu.object_row(ppu.scan.y[object], machine.oam[(entry + 2) % 0xa0], flags);
            let low = machine.vram[address & (VRAM_BYTES - 1)];
            let high = machine.vram[(address | 1) & (VRAM_BYTES - 1)];
            self.planes[object] = low as u16 | (high as u16) << 8;
            self.x[object] = ppu.scan.x[object];
            self.flags[object] = flags;
            self.entries[object] = ppu.scan.entry[object];
        }
        self.count = ppu.scan.count;
    }

    /// Numbers of the line's objects, the front object first.
    fn by_priority(&self, sorts_by_x: bool) -> [u8; MAX_OBJECTS as usize] {
        let mut order = [0; MAX_OBJECTS as usize];
        for object in 0..self.count as usize {
            let entry = self.entries[object];
            let mut place = object;
            while !sorts_by_x && place > 0 && self.entries[order[place - 1] as usize] > entry {
                order[place] = order[place - 1];
                place -= 1;
            }
            order[place] = object as u8;
        }
        order
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
            first: 0,
            map_row: map + (row >> 3) as u16 * 32,
            map_column,
            line: row & 7,
            origin: if unsigned { 0 } else { 0x800 },
            first_tile: if unsigned { 0 } else { 0x80 },
            attributes: if ppu.compatible { 0 } else { 0xff },
        }
    }
}

impl TileRun {
    /// Number of tiles that are shown; of the run at the right edge of the screen, with the tile
    /// behind the last one.
    #[inline(always)]
    fn tiles(&self) -> usize {
        let columns = (self.end - self.column) as usize;
        if self.end < COLUMNS { (columns + 7) >> 3 } else { (columns >> 3) + 2 }
    }

    /// Offset in video RAM of a cell of the map, by its number in the run.
    #[inline(always)]
    fn cell(&self, number: u8) -> usize {
        let column = self.map_column.wrapping_add(number) & 0x1f;
        ((self.map_row | column as u16) & 0x1fff) as usize
    }

    /// Offset in video RAM of the run's line in the first tile, by the bank and the direction that
    /// attributes give.
    #[inline(always)]
    fn row_origin(&self, attributes: u8) -> u16 {
        let upside_down = (attributes >> 6 & 1) * 7;
        let bank = (attributes as u16 & 8) << 10;
        self.origin + (self.line ^ upside_down) as u16 * 2 + bank
    }

    /// Offset in video RAM of a tile's row: the lower plane, at an even place.
    #[inline(always)]
    fn tile_row(&self, origin: u16, tile: u8) -> usize {
        (origin + (tile ^ self.first_tile) as u16 * 16) as usize & 0x3ffe
    }

    /// Pixels of the run, out of eight from a column on, that hide an object: pixels of colours 1
    /// to 3, if the object lies behind them or their tile lies in front.
    #[inline(always)]
    fn hiding_pixels(&self, tiles: &LineTiles, column: i16, is_behind: bool) -> u8 {
        let from_start = column - self.column;
        let number = from_start >> 3;
        let left = self.hiding_tile(tiles, number, is_behind);
        let right = self.hiding_tile(tiles, number + 1, is_behind);
        let both = (left as u16) << 8 | right as u16;
        let pixels = (both >> (8 - (from_start & 7) as u32)) as u8;
        let beyond = column + 8 - self.end;
        if beyond <= 0 {
            pixels
        } else if beyond < 8 {
            pixels & 0xff << beyond as u32
        } else {
            0
        }
    }

    #[inline(always)]
    fn hiding_tile(&self, tiles: &LineTiles, number: i16, is_behind: bool) -> u8 {
        if number < 0 {
            return 0;
        }
        // Behind the run's last tile lies another run's tile, whose pixels are left out.
        let at = self.first + number as usize;
        if !is_behind && tiles.attributes[at] & IN_FRONT == 0 {
            return 0;
        }
        let planes = from_left(tiles.planes[at], tiles.attributes[at]);
        (planes | planes >> 8) as u8
    }
}

impl Ppu {
    /// Sets the fetcher to its state at the end of mode 3, in the last of the line's runs. The
    /// fetcher is one tile ahead: it reads a tile's number with the first pixel of the preceding
    /// tile, the lower plane with the third pixel, and the upper plane with the fifth (valid from
    /// the sixth on). While an object is fetched, it reads the whole tile.
    fn leave_last_fetch(
        &mut self,
        vram: &[u8; VRAM_BYTES],
        oam: &[u8; 0xa0],
        tiles: &LineTiles,
        run: &TileRun,
    ) {
        let put_out = (COLUMNS - run.column) as u16;
        let shown = put_out >> 3;
        let rest = put_out & 7;
        let last_object = if self.scan.count > 0 { self.scan.count as usize - 1 } else { 0 };
        // The tile over which the last object begins; -2 if the object begins before the run.
        let mut object_tile = -2;
        if self.scan.count > 0 {
            let begin = self.scan.x[last_object] as i16 - 8 - run.column;
            object_tile = if begin >= 0 { begin >> 3 } else { -2 };
        }
        let reads_all = rest >= 6 || object_tile == shown as i16;
        let tile = run.first + shown as usize;
        let next = tile + 1;
        let complete = if reads_all { next } else { tile };
        let of_object = object_tile >= shown as i16 - (!reads_all) as i16;
        if self.lcdc & LCDC_TILE_DATA != 0 {
            self.pipeline.last_high = tiles.high(complete);
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
        self.pipeline.tile = tiles.numbers[addressed];
        self.pipeline.tile_attributes = tiles.attributes[addressed];
        self.pipeline.data_low = if rest == 3 && misses && !reads_all {
            tiles.high(tile)
        } else if rest >= 3 || reads_all {
            tiles.low(next)
        } else {
            tiles.low(tile)
        };
        self.pipeline.data_high = tiles.high(complete);
        if (rest == 4 || rest == 5) && !reads_all {
            self.pipeline.data_high = tiles.low(next);
        }
    }
}
