//! The rest of a line of the original at once, after the pipeline has drawn it up to a change.
//!
//! `pipeline` asks here whenever the line stays undisturbed to its end. A property test compares
//! this code with the pipeline, stepped dot by dot.
#![cfg(not(color))]

use crate::machine::Machine;
use crate::ppu::packed_line::{PackedLine, load_line, store_line};
use crate::ppu::{LCDC_WINDOW, LINE_TCYCLES, Pipeline, Ppu};

/// Returns true if only tiles and whole objects come until mode 3 ends. A row of tile data was
/// just queued.
pub(super) fn is_rest_plain(ppu: &Ppu) -> bool {
    let pipeline = &ppu.pipeline;
    let is_aligned = pipeline.fetch_step == 0
        && pipeline.background_count == 8
        && pipeline.object_step == 0
        && pipeline.object_low | pipeline.object_high == 0
        && pipeline.stall == 0
        && pipeline.position >= -7
        && pipeline.position <= 152
        && pipeline.column as i16 == pipeline.position.max(0);
    if !is_aligned {
        return false;
    }
    let is_disturbed = pipeline.object_aborted
        || pipeline.inserts_pixel
        || pipeline.window_active
        || pipeline.window_is_due()
        || ppu.wy_met && (ppu.lcdc & LCDC_WINDOW == 0 || ppu.wx <= 166)
        || object_moves_fetch(ppu);
    !is_disturbed && end_of_plain_rest(ppu) < LINE_TCYCLES
}

/// Returns true if the fetcher would read another tile for an object than without it, as it
/// then reads one pixel earlier. This needs an SCX that changed after the fine scroll matched.
fn object_moves_fetch(ppu: &Ppu) -> bool {
    (ppu.scx as i16 + ppu.pipeline.position) & 7 == 7
        && ppu.fetches_objects()
        && next_object(ppu) < ppu.scan.count as usize
}

/// The dot on which mode 3 ends.
pub(super) fn end_of_plain_rest(ppu: &Ppu) -> u16 {
    let position = ppu.pipeline.position;
    let mut end = ppu.pipeline.dot + (159 - position) as u16;
    if ppu.fetches_objects() {
        end += ppu.scan.object_dots(next_object(ppu), position + 8, LINE_TCYCLES);
    }
    end
}

/// The first object that begins at the current position or right of it.
fn next_object(ppu: &Ppu) -> usize {
    let mut object = ppu.pipeline.object as usize;
    while object < ppu.scan.count as usize
        && (ppu.scan.x[object] as i16) < ppu.pipeline.position + 8
    {
        object += 1;
    }
    object
}

/// Works on all dots but the last one of mode 3. `is_rest_plain` must hold.
pub(super) fn render_rest(machine: &mut Machine) {
    let end = end_of_plain_rest(&machine.ppu);
    if machine.ppu.draw {
        let ppu = &machine.ppu;
        let position = ppu.pipeline.position;
        let background = PackedLine::rest_of_background(ppu, &machine.vram);
        let mut shades = background.shaded(ppu.bgp);
        let next = next_object(ppu);
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

impl Pipeline {
    /// Clears what no later line sees, so that the state does not depend on the way in which the
    /// line was drawn.
    pub(super) fn forget_fetches(&mut self) {
        let end = *self;
        *self = Pipeline::idle();
        self.dot = end.dot;
        self.position = end.position;
        self.column = end.column;
        self.window_active = end.window_active;
        self.window_column = end.window_column;
        if end.window_active {
            self.fetch_step = end.fetch_step;
        }
    }
}
