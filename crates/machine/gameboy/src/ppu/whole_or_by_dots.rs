//! Progress of the current line's picture, and the choice of its renderer: at once when the line
//! has passed (`whole_line`), or dot by dot (`pipeline`).
//!
//! Registers and memory call `before_picture_change` or `before_timing_change` before they change:
//! a change in the middle of mode 3 makes the line go dot by dot. Lines without events are skipped
//! together.

#[cfg(color)]
use crate::interrupts::STAT;
use crate::machine::{COLOR, Machine};
#[cfg(color)]
use crate::ppu::color_timing::HBLANK_EDGE_DOTS;
use crate::ppu::pipeline::{run_pipeline, start_pipeline};
use crate::ppu::scan::scan_objects;
#[cfg(color)]
use crate::ppu::timing::schedule_next_hblank;
#[cfg(not(color))]
use crate::ppu::whole_line::draw_lines;
use crate::ppu::whole_line::{draw_line, mode3_end};
#[cfg(color)]
use crate::ppu::whole_line::{is_next_line_plain, next_mode3_end};
use crate::ppu::{LAST_LINE, LCDC_WINDOW, LINE_TCYCLES, Pipeline, Ppu, VBLANK_LINE, stat};

/// Progress of the current line's picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LineProgress {
    /// No pixel is drawn yet, and the registers have the values of the line's beginning.
    Untouched = 0,
    /// `pipeline` has drawn the line up to the current dot.
    Rendering = 1,
    /// Mode 3 is over and the pixels, if wanted, are drawn.
    Done = 2,
}

/// Skips whole lines that have no effect but their pixels, and draws them if this frame is
/// observed; returns their T-cycles.
pub(crate) fn skip_quiet_lines(machine: &mut Machine, available: u32) -> u32 {
    let mut lines = available / LINE_TCYCLES as u32;
    let most = machine.ppu.quiet_lines();
    if lines > most {
        lines = most;
    }
    if machine.dma.active && machine.ppu.beam.line < VBLANK_LINE {
        // The objects that OAM DMA hides depend on the moment.
        lines = 0;
    }
    if lines > 0 && machine.ppu.draw && machine.ppu.beam.line < VBLANK_LINE {
        #[cfg(not(color))]
        {
            lines = draw_lines(machine, lines as u8) as u32;
        }
        // The Color's lines are drawn one by one.
        #[cfg(color)]
        {
            lines = 0;
        }
    }
    if lines > 0 {
        machine.ppu.skip_lines(lines as u8);
    }
    lines * LINE_TCYCLES as u32
}

/// Passes at once from the HBlank of a line to that of the next one, if the objects are the same
/// and no other event has an effect, and schedules the HBlank after it. Returns true if it did.
#[cfg(color)]
#[inline(always)]
pub(crate) fn pass_to_next_hblank(machine: &mut Machine) -> bool {
    let ppu = &machine.ppu;
    let elapsed = machine.tcycles().wrapping_sub(ppu.beam.line_start);
    let is_in_next_line = elapsed > LINE_TCYCLES as u32 && elapsed < 2 * LINE_TCYCLES as u32;
    let is_hblank = ppu.stage != LineProgress::Rendering
        && ppu.mode3_end != 0
        && ppu.beam.dot > ppu.mode3_end + HBLANK_EDGE_DOTS;
    let is_plain = ppu.beam.line < VBLANK_LINE - 1
        && ppu.stat & stat::ALL_SOURCES == stat::HBLANK_SOURCE
        && ppu.scan.is_carried_on()
        && !(ppu.lyc_request || ppu.lyc_release)
        && is_next_line_plain(ppu);
    if !(is_in_next_line && is_hblank && is_plain) || machine.hdma.active || machine.dma.active {
        return false;
    }
    let mode3_end = next_mode3_end(ppu);
    let dot = elapsed as u16 - LINE_TCYCLES;
    if dot <= mode3_end + 1 {
        return false;
    }
    if machine.ppu.draw {
        finish_line(machine);
    }
    machine.ppu.begin_next_line();
    machine.ppu.mode3_end = mode3_end;
    machine.ppu.beam.dot = dot;
    // Mode 2 has ended the preceding HBlank, so the interrupt line rises again.
    machine.ppu.lyc_line = machine.ppu.beam.line == machine.ppu.lyc;
    machine.ppu.stat_line = true;
    machine.interrupts.request(STAT);
    schedule_next_hblank(machine);
    true
}

/// Draws the rest of the line, if this frame is observed.
pub(crate) fn finish_line(machine: &mut Machine) {
    if machine.ppu.stage == LineProgress::Untouched {
        // The fetch of objects during OAM DMA depends on the time within the line.
        if machine.ppu.carries_window() || machine.dma.active {
            start_pipeline(machine);
        } else if machine.ppu.draw {
            draw_line(machine);
        } else {
            machine.ppu.stage = LineProgress::Done;
        }
    }
    if machine.ppu.stage == LineProgress::Rendering {
        run_pipeline(machine, LINE_TCYCLES);
        // UNVERIFIED: mode 3 stretched past the end of its line is cut off here.
        machine.ppu.stage = LineProgress::Done;
    }
}

/// Renders the line up to now if it is drawn. Must be called before a change that affects the
/// pixels of the current line, but not the length of its mode 3.
pub(crate) fn before_picture_change(machine: &mut Machine) {
    if machine.ppu.draw {
        before_timing_change(machine);
    }
}

/// Renders the line up to now. Must be called before a change that affects the length of mode 3.
/// The PPU must be synced to the time of the change.
pub(crate) fn before_timing_change(machine: &mut Machine) {
    if !machine.ppu.is_on()
        || machine.ppu.beam.line >= VBLANK_LINE
        || machine.ppu.stage == LineProgress::Done
    {
        return;
    }
    let dot = machine.ppu.beam.dot;
    scan_objects(machine, dot);
    #[cfg(not(color))]
    catch_up(machine);
    if machine.ppu.stage == LineProgress::Untouched && dot > machine.ppu.beam.mode3_start() {
        if dot > mode3_end(machine) {
            finish_line(machine);
        } else {
            start_pipeline(machine);
            run_pipeline(machine, dot);
        }
    }
    if machine.ppu.stage != LineProgress::Done {
        machine.ppu.mode3_end = 0;
    }
}

/// Runs a waiting pipeline up to the present dot.
#[cfg(not(color))]
#[inline(always)]
pub(crate) fn catch_up(machine: &mut Machine) {
    if machine.ppu.stage == LineProgress::Rendering {
        let dot = machine.ppu.beam.dot;
        run_pipeline(machine, dot);
    }
}

impl Pipeline {
    /// Returns true between two lines if the window was put just off the screen in the first, but
    /// is disabled.
    pub(super) fn window_is_due(&self) -> bool {
        !self.window_active && self.window_column == 1
    }
}

impl Ppu {
    /// Returns true if WX puts the window just right of the screen, so that it may continue from
    /// the preceding line or into the next one.
    pub(crate) fn carries_window(&self) -> bool {
        self.pipeline.window_active
            || self.pipeline.window_is_due()
            || !COLOR && self.wy_met && self.wx == 166
    }

    /// Returns true if the only effects of a whole line are its pixels, LY and, if it is a source,
    /// LY = LYC.
    pub(super) fn is_quiet(&self) -> bool {
        let sources = self.stat & stat::ALL_SOURCES;
        sources & !stat::LYC_SOURCE == 0 && !self.carries_window()
    }

    /// Returns the number of whole lines that may be skipped, all visible or all in VBlank. The
    /// first and the last line of VBlank are never skipped, nor is a line that equals LYC while LYC
    /// is a source.
    fn quiet_lines(&self) -> u32 {
        let mut end = if self.beam.line == 0 && self.entered_vblank {
            // The frame ends on this line.
            self.beam.line
        } else if self.beam.line < VBLANK_LINE {
            VBLANK_LINE - 1
        } else if self.beam.line > VBLANK_LINE {
            LAST_LINE
        } else {
            self.beam.line
        };
        let compares = self.stat & stat::LYC_SOURCE != 0;
        if compares && self.lyc >= self.beam.line && self.lyc < end {
            end = self.lyc;
        }
        if self.beam.line >= end { 0 } else { (end - self.beam.line) as u32 }
    }

    /// Moves past lines that may be skipped, at least one.
    fn skip_lines(&mut self, lines: u8) {
        let past = self.beam.line + lines;
        #[cfg(color)]
        self.scan.restart();
        if self.lcdc & LCDC_WINDOW != 0 && self.wy >= self.beam.line && self.wy < past {
            self.wy_met |= self.beam.line < VBLANK_LINE;
        }
        self.beam.line = past;
        self.lyc_line = self.lyc == past - 1;
        self.stat_line = self.stat & stat::LYC_SOURCE != 0 && self.lyc_line;
        self.beam.line_start =
            self.beam.line_start.wrapping_add(lines as u32 * LINE_TCYCLES as u32);
    }
}
