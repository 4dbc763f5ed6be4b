//! Mode 3 dot by dot: background fetcher, the two pixel queues, objects and the window.
//!
//! The pipeline defines mode 3. The shortcut `whole_line` must give the same pixels for an
//! undisturbed line, which a property test checks. Pixels are put into the frame only if the frame
//! is observed; timing does not depend on this. Sources: Pan Docs "Pixel FIFO",
//! mealybug-tearoom-tests.

use crate::machine::{COLOR, Machine};
#[cfg(color)]
use crate::ppu::color_pixel::{load_pixel, store_pixel};
use crate::ppu::eight_dots::has_rendered_eight_dots;
#[cfg(not(color))]
use crate::ppu::rest_of_line::{end_of_plain_rest, is_rest_plain, render_rest};
use crate::ppu::scan::{read_object_beside_dma, scan_objects};
#[cfg(not(color))]
use crate::ppu::shade::{load_pixel, store_pixel};
use crate::ppu::{
    FRAME_BYTES, LCDC_OBJECTS, LCDC_TALL_OBJECTS, LCDC_WINDOW, LINE_TCYCLES, LineProgress, Ppu,
    Scan, VRAM_BYTES,
};

/// `fetch_step` once a row of tile data waits to be pushed.
pub(super) const FETCH_PUSH: u8 = 6;
/// `fetch_step` from which an object may interrupt the fetcher.
const FETCH_INTERRUPTIBLE: u8 = 5;

/// `object_step`: no object is being fetched.
const OBJECT_NONE: u8 = 0;
/// `object_step`: an object waits for the background fetcher.
const OBJECT_WAITS: u8 = 1;
/// `object_step`: the object's tile number and attributes were read on the last dot.
pub(super) const OBJECT_READ: u8 = 4;
/// `object_step`: the lower plane of the object's row was read on the last dot.
#[cfg(color)]
pub(super) const OBJECT_HAS_LOW: u8 = 6;
/// `object_step`: the object's data has arrived.
pub(super) const OBJECT_ARRIVED: u8 = 8;

/// The renderer's state within a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Pipeline {
    /// The dot to be worked on next.
    pub dot: u16,
    /// The next pixel to be put out; below -8 until the fine scroll has matched.
    pub position: i16,
    /// The panel's column, which lags behind `position` if the window desynchronises them.
    pub column: u8,
    /// Two bit planes of background pixels, the next one in the top bit.
    pub background_low: u8,
    /// Upper plane.
    pub background_high: u8,
    /// Background pixels queued.
    pub background_count: u8,
    /// Two bit planes of object pixels, the next one in the top bit; 0 is transparent.
    pub object_low: u8,
    /// Upper plane.
    pub object_high: u8,
    /// Object pixels that use OBP1; on the Color bit 0 of their palettes' numbers.
    pub object_palette: u8,
    /// Bit 1 of their palettes' numbers.
    #[cfg(color)]
    pub object_palette_1: u8,
    /// Bit 2 of their palettes' numbers.
    #[cfg(color)]
    pub object_palette_2: u8,
    /// OAM entry of each pixel's object, by the lower bits of the pixel's column.
    #[cfg(color)]
    pub object_entries: [u8; 8],
    /// Attributes of the queued background pixels.
    #[cfg(color)]
    pub background_attributes: u8,
    /// Attributes of the tile fetched last.
    #[cfg(color)]
    pub tile_attributes: u8,
    /// Row of the map's pixels for which the tile was fetched.
    #[cfg(color)]
    pub tile_line: u8,
    /// True if LCDC moves the tile data away from 8000 on this dot.
    #[cfg(color)]
    pub leaves_8000: bool,
    /// True if LCDC moves the tile data to 8000 on this dot.
    #[cfg(color)]
    pub enters_8000: bool,
    /// Upper plane that was read last, of the background or an object.
    #[cfg(color)]
    pub last_high: u8,
    /// True if the window begins while the fetcher forms an address, so that the fetch reads
    /// nothing.
    #[cfg(color)]
    pub misses_fetch: bool,
    /// True if the fine scroll has discarded a pixel.
    #[cfg(color)]
    pub scrolls_finely: bool,
    /// True if the queue waits for the window's first tile; it goes on if the window is disabled.
    #[cfg(color)]
    pub holds_pixels: bool,
    /// Dots since the second-to-last pixel was put out.
    #[cfg(color)]
    pub last_pixel_dots: u16,
    /// True if the window could begin on the preceding dot: it was enabled, and WY had matched.
    #[cfg(color)]
    pub window_allowed: bool,
    /// Object pixels that lie behind background colours 1 to 3.
    pub object_behind: u8,
    /// Step of the background fetcher: tile number, low data and high data take two dots each.
    pub fetch_step: u8,
    /// The tile number fetched last.
    pub tile: u8,
    /// The data fetched last.
    pub data_low: u8,
    /// The data fetched last, upper plane.
    pub data_high: u8,
    /// True if the fetcher works on the window, whose line is `window_line`.
    pub window_active: bool,
    /// The next window tile's column in the map.
    pub window_column: u8,
    /// True if no pixel was put out since the window began.
    pub window_just_started: bool,
    /// True if the window was disabled while it started.
    pub window_cut_short: bool,
    /// Number of dots on which the pipeline waits.
    pub stall: u8,
    /// True if a blank pixel comes before the queue's next pixel.
    pub inserts_pixel: bool,
    /// True if WX was written one dot ago.
    pub wx_just_changed: bool,
    /// The next object of the scan.
    pub object: u8,
    /// Step of the object's fetch.
    pub object_step: u8,
    /// True if objects were disabled during the fetch.
    pub object_aborted: bool,
    /// Attributes of the object being fetched.
    pub object_flags: u8,
    /// Tile number of the object.
    pub object_tile: u8,
    /// Data of the object's row, lower plane.
    pub object_data_low: u8,
    /// Data of the object's row, upper plane.
    pub object_data_high: u8,
}

impl Pipeline {
    /// Makes a pipeline before its first line.
    pub const fn idle() -> Pipeline {
        Pipeline {
            dot: 0,
            position: 0,
            column: 0,
            background_low: 0,
            background_high: 0,
            background_count: 0,
            object_low: 0,
            object_high: 0,
            object_palette: 0,
            #[cfg(color)]
            object_palette_1: 0,
            #[cfg(color)]
            object_palette_2: 0,
            #[cfg(color)]
            object_entries: [0; 8],
            #[cfg(color)]
            background_attributes: 0,
            #[cfg(color)]
            tile_attributes: 0,
            #[cfg(color)]
            tile_line: 0,
            #[cfg(color)]
            leaves_8000: false,
            #[cfg(color)]
            enters_8000: false,
            #[cfg(color)]
            last_high: 0,
            #[cfg(color)]
            misses_fetch: false,
            #[cfg(color)]
            scrolls_finely: false,
            #[cfg(color)]
            holds_pixels: false,
            #[cfg(color)]
            last_pixel_dots: 0,
            #[cfg(color)]
            window_allowed: false,
            object_behind: 0,
            fetch_step: 0,
            tile: 0,
            data_low: 0,
            data_high: 0,
            window_active: false,
            window_column: 0,
            window_just_started: false,
            window_cut_short: false,
            stall: 0,
            inserts_pixel: false,
            wx_just_changed: false,
            object: 0,
            object_step: OBJECT_NONE,
            object_aborted: false,
            object_flags: 0,
            object_tile: 0,
            object_data_low: 0,
            object_data_high: 0,
        }
    }

    /// Returns true if an object's data is being fetched.
    #[cfg(not(color))]
    pub(crate) fn is_fetching_object(&self) -> bool {
        self.object_step != OBJECT_NONE && self.object_step < OBJECT_ARRIVED
    }

    fn restart(&mut self, dot: u16) {
        self.dot = dot;
        self.position = -16;
        self.column = 0;
        // Eight blank pixels fill the queue; they are discarded before the first real pixel.
        self.background_low = 0;
        self.background_high = 0;
        self.background_count = 8;
        self.object_low = 0;
        self.object_high = 0;
        self.fetch_step = 0;
        self.window_just_started = false;
        self.window_cut_short = false;
        self.stall = 0;
        self.inserts_pixel = false;
        self.object = 0;
        self.object_step = OBJECT_NONE;
        self.object_aborted = false;
        #[cfg(color)]
        {
            self.scrolls_finely = false;
            self.holds_pixels = false;
            self.last_pixel_dots = 0;
        }
    }

    /// The X with which objects are compared.
    fn object_x(&self) -> i16 {
        if self.position < -8 { 0 } else { self.position + 8 }
    }

    fn object_matches(&self, scan: &Scan) -> bool {
        self.object < scan.count && scan.x[self.object as usize] as i16 == self.object_x()
    }

    pub(super) fn skip_passed_objects(&mut self, scan: &Scan) {
        while self.object < scan.count && (scan.x[self.object as usize] as i16) < self.object_x() {
            self.object += 1;
        }
    }

    /// The colour number of the background pixel that comes next.
    pub(super) fn front_background(&self) -> u8 {
        if self.inserts_pixel {
            0
        } else {
            self.background_low >> 7 | self.background_high >> 7 << 1
        }
    }

    /// Takes one pixel off both queues.
    fn pop_pixels(&mut self) {
        if self.inserts_pixel {
            self.inserts_pixel = false;
        } else {
            self.background_low <<= 1;
            self.background_high <<= 1;
            self.background_count -= 1;
        }
        self.object_low <<= 1;
        self.object_high <<= 1;
        self.object_palette <<= 1;
        #[cfg(color)]
        {
            self.object_palette_1 <<= 1;
            self.object_palette_2 <<= 1;
        }
        self.object_behind <<= 1;
    }
}

/// Starts the pipeline on the current line, at the beginning of mode 3.
pub fn start_pipeline(machine: &mut Machine) {
    #[cfg(keeps_lines)]
    super::kept_lines::forget_line(machine);
    scan_objects(machine, super::timing::MODE3_DOT + 1);
    let start = machine.ppu.beam.mode3_start();
    machine.ppu.pipeline.restart(start);
    machine.ppu.note_window();
    machine.ppu.stage = LineProgress::Rendering;
}

/// Renders every dot before `until`, or to the end of mode 3.
#[inline(never)]
pub fn run_pipeline(machine: &mut Machine, until: u16) {
    while machine.ppu.pipeline.dot < until && machine.ppu.stage == LineProgress::Rendering {
        #[cfg(not(color))]
        if until == LINE_TCYCLES && !machine.dma.active && is_rest_plain(&machine.ppu) {
            render_rest(machine);
            machine.ppu.end_mode3(&mut machine.frame);
            machine.ppu.pipeline.dot += 1;
            return;
        }
        let draws = machine.ppu.draw;
        let room = until - machine.ppu.pipeline.dot;
        if room >= 8
            && has_rendered_eight_dots(&mut machine.ppu, &machine.vram, &mut machine.frame, draws)
        {
            if machine.ppu.pipeline.position >= 160 {
                machine.ppu.end_mode3(&mut machine.frame);
                machine.ppu.pipeline.dot += 1;
            }
            continue;
        }
        if machine.ppu.render_dot(&machine.vram, &machine.oam, &mut machine.frame, draws) {
            machine.ppu.end_mode3(&mut machine.frame);
        }
        if machine.dma.active && machine.ppu.pipeline.object_step == OBJECT_READ {
            read_object_beside_dma(machine);
        }
        machine.ppu.note_window();
        machine.ppu.pipeline.dot += 1;
    }
}

/// Renders a copy without pixels to find the dot at which mode 3 ends if nothing changes.
pub(crate) fn probe_mode3_end(machine: &mut Machine) -> u16 {
    let mut probe = machine.ppu;
    if probe.stage == LineProgress::Untouched {
        let start = probe.beam.mode3_start();
        probe.pipeline.restart(start);
        probe.note_window();
    }
    let limit = LINE_TCYCLES - 2;
    while probe.pipeline.dot < limit && probe.pipeline.position < 160 {
        #[cfg(not(color))]
        if is_rest_plain(&probe) {
            return end_of_plain_rest(&probe);
        }
        if limit - probe.pipeline.dot >= 8
            && has_rendered_eight_dots(&mut probe, &machine.vram, &mut machine.frame, false)
        {
            continue;
        }
        if probe.render_dot(&machine.vram, &machine.oam, &mut machine.frame, false) {
            break;
        }
        probe.note_window();
        probe.pipeline.dot += 1;
    }
    #[cfg(color)]
    {
        machine.ppu.hblank_ahead = probe.pipeline.hblank_ahead();
    }
    probe.pipeline.dot
}

impl Ppu {
    /// Renders one dot; returns true if mode 3 ends on this dot.
    fn render_dot(
        &mut self,
        vram: &[u8; VRAM_BYTES],
        oam: &[u8; 0xa0],
        frame: &mut [u8; FRAME_BYTES],
        draws: bool,
    ) -> bool {
        #[cfg(color)]
        {
            self.pipeline.last_pixel_dots += (self.pipeline.position == 159) as u16;
        }
        if self.pipeline.stall > 0 {
            self.pipeline.stall -= 1;
            if self.pipeline.stall > 0 {
                return false;
            }
        } else if self.pipeline.object_step == OBJECT_NONE && self.start_window() {
            return false;
        }
        if self.fetch_objects(vram, oam) {
            return false;
        }
        self.put_pixel(frame, draws);
        self.fetch_background(vram);
        self.pipeline.position >= 160
    }

    /// Begins the window if this dot is its start; returns true if this takes an extra dot.
    fn start_window(&mut self) -> bool {
        let position = self.pipeline.position;
        let enabled = self.lcdc & LCDC_WINDOW != 0;
        if !self.pipeline.window_active && self.is_window_allowed() && enabled {
            if self.window_starts_here() {
                self.window_line = self.window_line.wrapping_add(1);
                self.pipeline.window_column = 0;
                self.pipeline.stop_queue();
                self.pipeline.window_active = true;
                self.pipeline.window_just_started = true;
                self.pipeline.fetch_step = 0;
                if self.wx == 0 && self.fine_scroll() != 0 {
                    self.pipeline.stall = 1;
                    return true;
                }
            } else if !COLOR && self.wx == 166 && position == 159 {
                self.window_line = self.window_line.wrapping_add(1);
            }
        }
        if self.wx as i16 == position + 7
            && self.pipeline.window_active
            && !self.pipeline.window_just_started
            && self.pipeline.fetch_step == 0
            && self.pipeline.background_count == 8
        {
            self.pipeline.inserts_pixel = true;
        }
        false
    }

    fn window_starts_here(&mut self) -> bool {
        let position = self.pipeline.position;
        if self.wx == 0 {
            if position == -16 { self.fine_scroll() != 0 } else { position <= -7 }
        } else if self.wx >= 166 + COLOR as u8 {
            false
        } else if self.wx as i16 == position + 7 {
            true
        } else if !COLOR && self.wx as i16 == position + 6 && !self.pipeline.wx_just_changed {
            // The panel falls one pixel behind the PPU (seen on most DMGs).
            if self.pipeline.column > 0 {
                self.pipeline.column -= 1;
            }
            true
        } else {
            false
        }
    }

    /// Fetches the object that begins here, if there is one; returns true if this takes the dot.
    fn fetch_objects(&mut self, vram: &[u8; VRAM_BYTES], oam: &[u8; 0xa0]) -> bool {
        if self.pipeline.object_step == OBJECT_NONE {
            self.pipeline.skip_passed_objects(&self.scan);
        }
        if self.pipeline.object_aborted {
            self.pipeline.object_aborted = false;
            self.pipeline.object_step = OBJECT_NONE;
            return false;
        }
        loop {
            if self.pipeline.object_step == OBJECT_NONE {
                if !self.fetches_objects() || !self.pipeline.object_matches(&self.scan) {
                    return false;
                }
                self.pipeline.object_step = OBJECT_WAITS;
            }
            if self.pipeline.object_step < OBJECT_ARRIVED {
                self.fetch_object_step(vram, oam);
                return true;
            }
            self.queue_object();
            self.pipeline.object += 1;
            self.pipeline.object_step = OBJECT_NONE;
        }
    }

    /// One dot of an object's fetch: it waits until the background fetcher can be interrupted, then
    /// takes six dots.
    fn fetch_object_step(&mut self, vram: &[u8; VRAM_BYTES], oam: &[u8; 0xa0]) {
        if self.pipeline.object_step == OBJECT_WAITS {
            let waits =
                self.pipeline.fetch_step < FETCH_INTERRUPTIBLE || self.pipeline.is_queue_empty();
            if waits {
                self.fetch_background(vram);
                return;
            }
            self.pipeline.object_step = 2;
        }
        match self.pipeline.object_step {
            2 => self.fetch_background(vram),
            3 => {
                self.fetch_background(vram);
                let entry = self.scan.entry[self.pipeline.object as usize] as usize * 4;
                self.pipeline.object_tile = oam[(entry + 2) % 0xa0];
                self.pipeline.object_flags = oam[(entry + 3) % 0xa0];
            }
            5 | 7 => {
                let y = self.scan.y[self.pipeline.object as usize];
                let (tile, flags) = (self.pipeline.object_tile, self.pipeline.object_flags);
                let address = self.object_row(y, tile, flags);
                if self.pipeline.object_step == 5 {
                    self.pipeline.object_data_low = vram[address & (VRAM_BYTES - 1)];
                } else {
                    self.pipeline.object_data_high = vram[(address | 1) & (VRAM_BYTES - 1)];
                    #[cfg(color)]
                    {
                        self.pipeline.last_high = self.pipeline.object_data_high;
                    }
                }
            }
            _ => {}
        }
        self.pipeline.object_step += 1;
    }

    /// Returns the address in VRAM of an object's row on this line.
    pub(super) fn object_row(&self, y: u8, tile: u8, flags: u8) -> usize {
        let tall = self.lcdc & LCDC_TALL_OBJECTS != 0;
        let last_row = if tall { 15 } else { 7 };
        let mut row = self.beam.line.wrapping_sub(y) & last_row;
        if flags & 0x40 != 0 {
            row ^= last_row;
        }
        let tile = if tall { tile & 0xfe } else { tile };
        #[cfg(color)]
        let bank = if self.compatible { 0 } else { (flags as usize & 8) << 10 };
        #[cfg(not(color))]
        let bank = 0;
        tile as usize * 16 + row as usize * 2 + bank
    }

    /// Returns true if objects are fetched, which takes dots.
    #[inline(always)]
    pub(super) fn fetches_objects(&self) -> bool {
        // The Color fetches objects also while they are off.
        COLOR || self.lcdc & LCDC_OBJECTS != 0
    }

    fn put_pixel(&mut self, frame: &mut [u8; FRAME_BYTES], draws: bool) {
        let first_object_waits = self.fetches_objects()
            && self.pipeline.object < self.scan.count
            && self.scan.x[self.pipeline.object as usize] == 0;
        #[cfg(color)]
        {
            self.pipeline.holds_pixels &= self.lcdc & LCDC_WINDOW != 0;
        }
        if first_object_waits || self.pipeline.is_queue_empty() {
            return;
        }
        let pixel = self.mixed_front();
        self.pipeline.pop_pixels();
        let fine = self.fine_scroll() as i16;
        let pipeline = &mut self.pipeline;
        if pipeline.position < -8 {
            // The fine scroll discards pixels until it matches.
            let discarded = pipeline.position & 7;
            if discarded == fine || pipeline.window_just_started && discarded == 6 && fine == 7 {
                pipeline.position = -8;
            } else if pipeline.position == -9 {
                pipeline.position = -16;
                return;
            } else {
                pipeline.note_fine_scroll();
            }
        }
        pipeline.window_just_started = false;
        if pipeline.position >= 0 {
            if draws && pipeline.column < 160 {
                store_pixel(frame, self.beam.line, pipeline.column, pixel);
            }
            pipeline.column = pipeline.column.wrapping_add(1);
        }
        pipeline.position += 1;
    }

    fn end_mode3(&mut self, frame: &mut [u8; FRAME_BYTES]) {
        self.mode3_end = self.pipeline.dot;
        #[cfg(color)]
        {
            self.hblank_ahead = self.pipeline.hblank_ahead();
        }
        self.stage = LineProgress::Done;
        if COLOR && (self.pipeline.fetch_step == 4 || self.pipeline.fetch_step == 5) {
            // The next line may show the last fetched data.
            self.pipeline.data_high = self.pipeline.data_low;
        }
        if self.draw {
            // The panel fell behind the PPU: the line's rest repeats the last pixel.
            while self.pipeline.column < 160 {
                let column = self.pipeline.column;
                let shown =
                    if column == 0 { 0 } else { load_pixel(frame, self.beam.line, column - 1) };
                store_pixel(frame, self.beam.line, column, shown);
                self.pipeline.column += 1;
            }
        }
        // A window that begins in the last column continues in the next line, after its first tile;
        // if it is disabled now, it continues as soon as it is enabled.
        let goes_on = !COLOR && self.wy_met && self.wx == 166;
        self.pipeline.window_column = goes_on as u8;
        self.pipeline.window_active = goes_on && self.lcdc & LCDC_WINDOW != 0;
        if self.pipeline.window_active {
            self.window_line = self.window_line.wrapping_add(1);
        }
        #[cfg(not(color))]
        self.pipeline.forget_fetches();
    }
}
