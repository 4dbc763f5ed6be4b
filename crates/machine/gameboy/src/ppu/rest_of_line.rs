//! The rest of a line of the original at once, after the pipeline has drawn it up to a change.
//!
//! `pipeline` asks here whenever the line stays undisturbed to its end. A property test compares
//! this code with the pipeline, stepped dot by dot.
#![cfg(not(color))]

use crate::machine::Machine;
use crate::ppu::packed_line::{PackedLine, load_line, store_line};
use crate::ppu::{LCDC_WINDOW, LINE_TCYCLES, Ppu};

impl Ppu {
    /// Returns true if only tiles and whole objects come until mode 3 ends. A row of tile data was
    /// just queued.
    pub(super) fn is_rest_plain(&self) -> bool {
        let pipeline = &self.pipeline;
        let is_aligned = pipeline.fetch_step == 0
            && pipeline.background_count == 8
            && pipeline.object_step == 0
            && pipeline.object_low | pipeline.object_high == 0
            && pipeline.stall == 0
            && pipeline.position >= -7
            && pipeline.position <= 152
            && pipeline.column as i16 == pipeline.position.max(0);
        let is_disturbed = pipeline.object_aborted
            || pipeline.inserts_pixel
            || pipeline.window_active
            || pipeline.window_is_due()
            || self.wy_met && (self.lcdc & LCDC_WINDOW == 0 || self.wx <= 166)
            || self.object_moves_fetch();
        is_aligned && !is_disturbed && self.end_of_plain_rest() < LINE_TCYCLES
    }

    /// Returns true if the fetcher would read another tile for an object than without it, as it
    /// then reads one pixel earlier. This needs an SCX that changed after the fine scroll matched.
    fn object_moves_fetch(&self) -> bool {
        (self.scx as i16 + self.pipeline.position) & 7 == 7
            && self.fetches_objects()
            && self.next_object() < self.scan.count as usize
    }

    /// The dot on which mode 3 ends.
    pub(super) fn end_of_plain_rest(&self) -> u16 {
        let position = self.pipeline.position;
        let mut end = self.pipeline.dot + (159 - position) as u16;
        if self.fetches_objects() {
            end += self.scan.object_dots(self.next_object(), position + 8, LINE_TCYCLES);
        }
        end
    }

    /// The first object that begins at the current position or right of it.
    fn next_object(&self) -> usize {
        let mut object = self.pipeline.object as usize;
        while object < self.scan.count as usize
            && (self.scan.x[object] as i16) < self.pipeline.position + 8
        {
            object += 1;
        }
        object
    }
}

/// Works on all dots but the last one of mode 3. `is_rest_plain` must hold.
pub(super) fn render_rest(machine: &mut Machine) {
    let end = machine.ppu.end_of_plain_rest();
    if machine.ppu.draw {
        let ppu = &machine.ppu;
        let position = ppu.pipeline.position;
        let background = PackedLine::rest_of_background(ppu, &machine.vram);
        let mut shades = background.shaded(ppu.bgp);
        let next = ppu.next_object();
        if next < ppu.scan.count as usize && ppu.fetches_objects() {
            shades = background.under_objects(ppu, &machine.vram, &machine.oam, shades, next);
        }
        let line = ppu.beam.line;
        let drawn = load_line(&machine.frame, line);
        store_line(&mut machine.frame, line, drawn.before(position.max(0) as u8, shades));
    }
    let pipeline = &mut machine.ppu.pipeline;
    pipeline.dot = end;
    pipeline.position = 160;
    pipeline.column = 160;
}
