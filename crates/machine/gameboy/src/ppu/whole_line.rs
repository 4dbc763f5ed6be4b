//! A whole line at once: the shortcut for lines in whose middle nothing changes.
//!
//! A property test compares the pixels and the length of mode 3 with `pipeline`.

use crate::machine::{COLOR, Machine};
#[cfg(color)]
use crate::ppu::color_line::draw_plain_line;
#[cfg(all(keeps_lines, not(color)))]
use crate::ppu::kept_lines::{follow_memory, forget_line, is_kept};
#[cfg(not(color))]
use crate::ppu::packed_line;
use crate::ppu::pipeline::{probe_mode3_end, start_pipeline};
use crate::ppu::scan::scan_line;
#[cfg(not(color))]
use crate::ppu::scan::{Candidates, scan_candidates};
use crate::ppu::{LCDC_WINDOW, LINE_TCYCLES, LineProgress, Ppu, Scan, timing};

/// Dots of mode 3's renderer without scrolling, window or objects.
const PLAIN_DOTS: u16 = 167;
/// Dots the window takes to fill the queue anew.
const WINDOW_DOTS: u16 = 6;
/// Dots an object takes once the background fetcher can be interrupted.
const OBJECT_DOTS: u16 = 6;

/// Returns the dot on which mode 3 ends if nothing changes. Mode 2 must be over.
#[inline(always)]
pub fn mode3_end(machine: &mut Machine) -> u16 {
    if machine.ppu.mode3_end == 0 {
        work_out_mode3_end(machine);
    }
    machine.ppu.mode3_end
}

#[inline(never)]
fn work_out_mode3_end(machine: &mut Machine) {
    scan_line(machine);
    #[cfg(color)]
    {
        machine.ppu.hblank_ahead = 0;
    }
    machine.ppu.mode3_end =
        if machine.ppu.stage == LineProgress::Untouched && machine.ppu.is_plain_line() {
            machine.ppu.plain_mode3_end()
        } else {
            probe_mode3_end(machine)
        };
}

/// Draws the current line as a whole.
pub fn draw_line(machine: &mut Machine) {
    if machine.ppu.fetches_objects() {
        scan_line(machine);
    }
    if !machine.ppu.is_plain_line() {
        start_pipeline(machine);
        return;
    }
    #[cfg(all(keeps_lines, not(color)))]
    forget_line(machine);
    #[cfg(color)]
    draw_plain_line(machine);
    #[cfg(not(color))]
    draw_plain_line(machine, &mut packed_line::TileRows::none(false));
    machine.ppu.stage = LineProgress::Done;
}

/// Draws a line for which the shortcut is valid, after its scan of objects. `tiles` holds the tiles
/// of the line before.
#[cfg(not(color))]
pub(super) fn draw_plain_line(machine: &mut Machine, tiles: &mut packed_line::TileRows) {
    let window_at = machine.ppu.window_at();
    let background =
        packed_line::PackedLine::background(&machine.ppu, &machine.vram, window_at, tiles);
    if window_at < 160 {
        machine.ppu.window_line += 1;
    }
    let mut shades = background.shaded(machine.ppu.bgp);
    if machine.ppu.scan.count > 0 && machine.ppu.fetches_objects() {
        shades = background.under_objects(&machine.ppu, &machine.vram, &machine.oam, shades, 0);
    }
    packed_line::store_line(&mut machine.frame, machine.ppu.beam.line, shades);
}

/// Draws the next lines for which the shortcut is valid, and returns their number. These lines have
/// no effect but their pixels.
#[cfg(not(color))]
pub(crate) fn draw_lines(machine: &mut Machine, lines: u8) -> u8 {
    let first = machine.ppu.beam.line;
    #[cfg(keeps_lines)]
    follow_memory(machine);
    let candidates = Candidates::all().on_lines(machine, lines);
    let mut near = candidates;
    // The first line that `near` does not hold for.
    let mut near_end = 0;
    let mut tiles = packed_line::TileRows::none(lines > 1);
    let mut drawn = 0;
    while drawn < lines {
        machine.ppu.beam.line = first + drawn;
        machine.ppu.meet_wy();
        if machine.ppu.carries_window() || !machine.ppu.is_plain_line() {
            break;
        }
        drawn += 1;
        #[cfg(keeps_lines)]
        if is_kept(machine) {
            machine.ppu.window_line += (machine.ppu.window_at() < 160) as u8;
            continue;
        }
        if machine.ppu.fetches_objects() {
            if drawn > near_end {
                near = candidates.on_lines(machine, 8);
                near_end = drawn + 7;
            }
            scan_candidates(machine, &near);
        }
        draw_plain_line(machine, &mut tiles);
        machine.ppu.scan.restart();
    }
    machine.ppu.beam.line = first;
    drawn
}

impl Ppu {
    /// Returns true if the shortcut is valid for this line. The pipeline draws lines with a window
    /// at the left edge, at WX 166, or disabled after WY has matched.
    pub(crate) fn is_plain_line(&self) -> bool {
        if self.pipeline.window_active || self.scan.outlasts_line() {
            false
        } else if !self.is_window_met() {
            true
        } else if self.lcdc & LCDC_WINDOW != 0 {
            self.wx >= 7 && self.wx != 166
        } else {
            COLOR || self.wx > 166
        }
    }

    /// The screen column at which the window begins, 160 or more if it does not.
    pub(super) fn window_at(&self) -> u16 {
        if self.is_window_met() && self.lcdc & LCDC_WINDOW != 0 && self.wx >= 7 && self.wx < 166 {
            self.wx as u16 - 7
        } else {
            LINE_TCYCLES
        }
    }

    fn plain_mode3_end(&self) -> u16 {
        let fine = self.fine_scroll() as u16;
        let window_at = self.window_at();
        let mut end = self.beam.mode3_start() + PLAIN_DOTS + fine;
        if window_at < 160 {
            end += WINDOW_DOTS;
        }
        if self.fetches_objects() {
            end += self.scan.object_dots(0, -(fine as i16), window_at);
        }
        end
    }
}

/// Returns true if the shortcut is valid for the next line, which has this one's objects and no
/// window.
pub(super) fn is_next_line_plain(ppu: &Ppu) -> bool {
    ppu.lcdc & LCDC_WINDOW == 0 && !ppu.carries_window() && !ppu.scan.outlasts_line()
}

/// The dot on which mode 3 of the next line ends, if `is_next_line_plain` holds.
#[inline(always)]
pub(super) fn next_mode3_end(ppu: &Ppu) -> u16 {
    let fine = (ppu.scx & 7) as u16;
    let end = timing::MODE3_START + PLAIN_DOTS + fine;
    if ppu.scan.count > 0 && ppu.fetches_objects() {
        end + ppu.scan.object_dots(0, -(fine as i16), LINE_TCYCLES)
    } else {
        end
    }
}

impl Scan {
    /// Returns true if an object lies at the last column: on the Color, HBlank comes before its
    /// fetch ends.
    fn outlasts_line(&self) -> bool {
        let count = self.count as usize;
        COLOR && count > 0 && self.x[count - 1] > 166
    }

    /// Dots that objects from `first` on take: six for each object, and for the first object over a
    /// tile the dots that the fetcher needs to finish the tile. `origin` is the X of an object over
    /// the first pixel of a tile.
    pub(super) fn object_dots(&self, first: usize, origin: i16, window_at: u16) -> u16 {
        let mut dots = 0;
        let mut last_tile = 0xffff;
        for object in first..self.count as usize {
            let x = self.x[object] as u16;
            if x < 168 {
                // Background pixels since the queue got the tile under the object.
                let in_window = x >= window_at + 8;
                let pixels = if x == 0 {
                    0
                } else if in_window {
                    x - 8 - window_at
                } else {
                    (x as i16 - origin) as u16
                };
                let tile = pixels >> 3 | (in_window as u16) << 8;
                dots += OBJECT_DOTS;
                if tile != last_tile && pixels & 7 < 5 {
                    dots += 5 - (pixels & 7);
                }
                last_tile = tile;
            }
        }
        dots
    }
}
