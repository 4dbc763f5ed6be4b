//! The picture processor: registers, position in the frame, and when each kind of work is done.
//!
//! The position (`line`, `dot`) moves only when it is read (`sync_ppu`). A line is drawn at once
//! when it has passed (`whole_line`), or not at all in a frame that is not observed. If a register
//! or memory that the line depends on changes in its middle, the dot-by-dot `pipeline` draws the
//! line, from the beginning of mode 3 up to the change and then to the end; on the original
//! `rest_of_line` takes the pipeline's place as soon as it can. So timing never depends on reads of
//! the position. `timing` holds the meaning of each dot, `stat` the interrupt line,
//! `scan` the choice of a line's objects, `oam_bug` the corruption of OAM by badly timed accesses.

pub(crate) mod color_fetcher;
pub(crate) mod color_line;
pub mod color_palette;
pub(crate) mod color_pixel;
pub(crate) mod color_timing;
pub(crate) mod color_write;
pub(crate) mod eight_dots;
pub(crate) mod fetcher;
#[cfg(keeps_lines)]
pub(crate) mod kept_color_line;
#[cfg(keeps_lines)]
pub(crate) mod kept_line;
pub(crate) mod oam_bug;
pub(crate) mod packed_line;
pub(crate) mod pipeline;
pub(crate) mod registers;
pub(crate) mod rest_of_line;
pub(crate) mod scan;
pub(crate) mod shade;
pub(crate) mod stat;
pub(crate) mod timing;
pub(crate) mod whole_line;
pub(crate) mod whole_or_by_dots;

#[cfg(color)]
pub use color_palette::Palettes;
#[cfg(color)]
pub use color_write::{move_next_hblank, write_ppu};
#[cfg(all(keeps_lines, color))]
pub(crate) use kept_color_line::{self as kept_lines, KeptColorLines as KeptLines};
#[cfg(all(keeps_lines, not(color)))]
pub(crate) use kept_line::{self as kept_lines, KeptLines};
pub use pipeline::{Pipeline, run_pipeline, start_pipeline};
#[cfg(not(color))]
pub use registers::write_ppu;
pub use registers::{read_ppu, read_vram};
pub use scan::Scan;
pub use timing::{Beam, schedule_ppu};
pub use whole_line::{draw_line, mode3_end};
pub use whole_or_by_dots::LineProgress;

#[cfg(color)]
use crate::color::has_color_registers;
use crate::cpu::Mode;
use crate::interrupts::VBLANK;
#[cfg(color)]
use crate::machine::is_before;
use crate::machine::{COLOR, Machine};
#[cfg(color)]
use crate::ppu::color_palette::MODE2_MCYCLES;
#[cfg(color)]
use crate::ppu::color_timing::{follow_lyc, is_vram_read_blocked};
use crate::ppu::stat::{line_event, pass_line_events, update_stat_line};
use crate::ppu::whole_or_by_dots::{finish_line, skip_quiet_lines};

/// LCDC bit 0: background and window enable.
pub const LCDC_BACKGROUND: u8 = 0x01;
/// LCDC bit 1: object enable.
pub const LCDC_OBJECTS: u8 = 0x02;
/// LCDC bit 2: objects are 16 lines high.
pub const LCDC_TALL_OBJECTS: u8 = 0x04;
/// LCDC bit 3: background map at 9C00.
pub const LCDC_BACKGROUND_MAP: u8 = 0x08;
/// LCDC bit 4: tile data at 8000, counted unsigned.
pub const LCDC_TILE_DATA: u8 = 0x10;
/// LCDC bit 5: window enable.
pub const LCDC_WINDOW: u8 = 0x20;
/// LCDC bit 6: window map at 9C00.
pub const LCDC_WINDOW_MAP: u8 = 0x40;
/// LCDC bit 7: LCD and PPU enable.
pub const LCDC_ON: u8 = 0x80;

/// Value of `used_fine_scroll` while SCX still holds the bits.
pub const FINE_SCROLL_UNUSED: u8 = 0xff;
/// T-cycles of one line.
pub const LINE_TCYCLES: u16 = 456;
/// The first line of VBlank.
pub const VBLANK_LINE: u8 = 144;
/// The last line of a frame.
pub const LAST_LINE: u8 = 153;
/// The dot of line 144 on which VBlank is requested.
pub const VBLANK_DOT: u16 = 5;

/// Bytes of one picture: 160 x 144 pixels of 2 bits, four to a byte, the leftmost in the top bits.
#[cfg(not(color))]
pub const FRAME_BYTES: usize = 5760;
/// Bytes of one picture: 160 x 144 pixels of 2 bytes, the lower one first: RGB555, red lowest.
#[cfg(color)]
pub const FRAME_BYTES: usize = 46080;

/// Bytes of video RAM.
#[cfg(not(color))]
pub const VRAM_BYTES: usize = 0x2000;
/// Bytes of video RAM, two banks.
#[cfg(color)]
pub const VRAM_BYTES: usize = 0x4000;

/// Registers and position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Ppu {
    /// FF40.
    pub lcdc: u8,
    /// FF41, bits 3 to 6 only: which sources drive the interrupt line.
    pub stat: u8,
    /// FF42.
    pub scy: u8,
    /// FF43.
    pub scx: u8,
    /// FF45.
    pub lyc: u8,
    /// FF47.
    pub bgp: u8,
    /// FF48.
    pub obp0: u8,
    /// FF49.
    pub obp1: u8,
    /// FF4A.
    pub wy: u8,
    /// FF4B.
    pub wx: u8,
    /// Position in the frame.
    pub beam: Beam,
    /// The interrupt line's level: only its rise requests an interrupt.
    pub stat_line: bool,
    /// LY = LYC as the interrupt line sees it.
    pub lyc_line: bool,
    /// STAT bit 2 at the time at which the LCD was switched off.
    pub lyc_frozen: bool,
    /// True if WY has matched a line of this frame.
    pub wy_met: bool,
    /// Window lines drawn so far in this frame.
    pub window_line: u8,
    /// True if this frame is observed.
    pub draw: bool,
    /// True if the LCD was switched on within this frame, so that the panel stays white.
    pub frame_blank: bool,
    /// True if VBlank began in this frame.
    pub entered_vblank: bool,
    /// True from line 0 after a VBlank until the machine ends the frame.
    pub frame_over: bool,
    /// Time at which the PPU may raise an interrupt next, in M-cycles.
    pub deadline: u32,
    /// M-cycle in which the PPU stops after a STOP.
    #[cfg(not(color))]
    pub stops_at: u32,
    /// The lower bits of SCX that the current line used, if SCX was written since then.
    pub used_fine_scroll: u8,
    /// Progress of the current line's picture.
    pub stage: LineProgress,
    /// The dot at which mode 3 ends if nothing changes; 0 if it is not computed yet.
    pub mode3_end: u16,
    /// Dots by which the interrupt of HBlank comes before `mode3_end`.
    #[cfg(color)]
    pub hblank_ahead: u16,
    /// Objects on the current line.
    pub scan: Scan,
    /// The dot-by-dot renderer's state, valid while `stage` is `Rendering`.
    pub pipeline: Pipeline,
    /// Colours.
    #[cfg(color)]
    pub palettes: Palettes,
    /// True for a program for the original: the Color's registers are locked, and colours come from
    /// BGP, OBP0 and OBP1.
    #[cfg(color)]
    pub compatible: bool,
    /// True if X decides which object lies in front, as on the original: OPRI after the boot ROM.
    #[cfg(color)]
    pub sorts_by_x: bool,
    /// True at double speed, at which an M-cycle has two dots.
    #[cfg(color)]
    pub double_speed: bool,
    /// True for a CPU CGB E, false for a C.
    #[cfg(color)]
    pub is_cgb_e: bool,
    /// The value of WY that is compared while a line is drawn.
    #[cfg(color)]
    pub drawn_wy: u8,
    /// True if a write to LYC will request an interrupt.
    #[cfg(color)]
    pub lyc_request: bool,
    /// True if a write to LYC will end the comparison that drives the interrupt line.
    #[cfg(color)]
    pub lyc_release: bool,
    /// T-cycle at which `lyc_request` or `lyc_release` takes effect.
    #[cfg(color)]
    pub lyc_request_at: u32,
    /// M-cycle in which the HBlank ends that `find_hblank` found, in which colours can be written
    /// in place, or a moment at least `MODE2_MCYCLES` ago.
    #[cfg(color)]
    pub hblank_until: u32,
}

impl Ppu {
    /// Returns true if the LCD is on.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.lcdc & LCDC_ON != 0
    }
}

/// Advances the PPU to a T-cycle: executes all events before this T-cycle.
pub fn sync_ppu(machine: &mut Machine, until: u32) {
    let elapsed = until.wrapping_sub(machine.ppu.beam.line_start);
    #[cfg(color)]
    let follows_lyc = machine.ppu.lyc_request || machine.ppu.lyc_release;
    #[cfg(not(color))]
    let follows_lyc = false;
    if machine.ppu.is_on() && !follows_lyc && passes_no_event(machine, elapsed) {
        if elapsed as u16 > machine.ppu.beam.dot {
            machine.ppu.beam.dot = elapsed as u16;
        }
        return;
    }
    sync_ppu_with_events(machine, until);
}

#[inline(never)]
fn sync_ppu_with_events(machine: &mut Machine, until: u32) {
    #[cfg(color)]
    follow_lyc(machine, until);
    advance_ppu(machine, until);
}

/// Brings the PPU to now.
#[inline(always)]
pub fn sync_ppu_now(machine: &mut Machine) {
    let now = machine.tcycles();
    sync_ppu(machine, now);
}

#[inline(always)]
pub(crate) fn advance_ppu(machine: &mut Machine, until: u32) {
    if !machine.ppu.is_on() {
        return;
    }
    let mut elapsed = until.wrapping_sub(machine.ppu.beam.line_start);
    if elapsed as i32 <= machine.ppu.beam.dot as i32 {
        return;
    }
    while elapsed >= LINE_TCYCLES as u32 {
        advance_in_line(machine, LINE_TCYCLES);
        machine.ppu.begin_next_line();
        elapsed -= LINE_TCYCLES as u32;
        if machine.ppu.is_quiet() && !watches_hblank(machine) {
            elapsed -= skip_quiet_lines(machine, elapsed);
        }
    }
    advance_in_line(machine, elapsed as u16);
}

/// Returns true if there is no event from the current dot up to `to`, in T-cycles of the line; also
/// if `to` lies before the current dot.
#[inline(always)]
fn passes_no_event(machine: &Machine, to: u32) -> bool {
    let ppu = &machine.ppu;
    if to >= LINE_TCYCLES as u32 || ppu.beam.dot <= timing::LYC_0_DOT {
        false
    } else if ppu.beam.line >= VBLANK_LINE || to <= timing::MODE3_DOT as u32 {
        true
    } else if ppu.stage == LineProgress::Rendering && is_pipeline_watched(machine) {
        false
    } else {
        // A block of HDMA becomes due one dot after HBlank's interrupt.
        let last = ppu.mode3_end + 1 + is_hdma_active(machine) as u16;
        !watches_hblank(machine) || ppu.mode3_end != 0 && ppu.beam.dot > last
    }
}

/// Returns true if HBlank has had all its effects and still lasts, and the line's picture is
/// complete: memory and colours may then change without a sync.
#[cfg(color)]
#[inline(always)]
pub(crate) fn stays_in_hblank(machine: &mut Machine) -> bool {
    is_before(machine.now, machine.ppu.hblank_until) || find_hblank(machine)
}

/// Finds the HBlank in which the handler of its interrupt begins, so that the handler's writes to
/// colours and scroll need no sync.
#[cfg(color)]
#[inline(always)]
pub(crate) fn find_hblank_of_handler(machine: &mut Machine) {
    if machine.ppu.stat & stat::HBLANK_SOURCE != 0 && machine.ppu.is_on() {
        find_hblank(machine);
    }
}

/// Forgets an HBlank that was found, as the clock or the LCD changes.
#[cfg(color)]
#[inline(always)]
pub(crate) fn forget_hblank(machine: &mut Machine) {
    machine.ppu.hblank_until = machine.now.wrapping_sub(MODE2_MCYCLES);
}

/// Returns what `stays_in_hblank` does, and notes when HBlank ends.
#[cfg(color)]
#[inline(never)]
fn find_hblank(machine: &mut Machine) -> bool {
    let ppu = &machine.ppu;
    let elapsed = machine.tcycles().wrapping_sub(ppu.beam.line_start);
    // Behind these dots no event is left in the line, so that its dots pass without a sync.
    let last = ppu.mode3_end + 1 + is_hdma_active(machine) as u16;
    let stays = ppu.mode3_end != 0
        && ppu.beam.dot > last
        && elapsed > (ppu.mode3_end + color_timing::HBLANK_EDGE_DOTS) as u32
        && ppu.stage != LineProgress::Rendering
        && !(ppu.lyc_request || ppu.lyc_release)
        && elapsed < LINE_TCYCLES as u32;
    if stays {
        pass_in_hblank(machine, elapsed);
    }
    stays
}

/// Moves on in an HBlank that has had all its effects, and notes when it ends.
#[cfg(color)]
#[inline(always)]
fn pass_in_hblank(machine: &mut Machine, elapsed: u32) {
    if elapsed as u16 > machine.ppu.beam.dot {
        machine.ppu.beam.dot = elapsed as u16;
    }
    if machine.ppu.draw && machine.ppu.beam.line < VBLANK_LINE {
        finish_line(machine);
    }
    if has_color_registers(machine) {
        let shift = machine.tcycle_shift();
        let left = (LINE_TCYCLES as u32 - elapsed + (1 << shift) - 1) >> shift;
        machine.ppu.hblank_until = machine.now.wrapping_add(left);
    }
}

/// Finds the HBlank in which a handler begins whose interrupt `pass_to_next_hblank` requested: its
/// dispatch takes longer than HBlank's last effects.
#[cfg(color)]
#[inline(always)]
pub(crate) fn find_passed_hblank(machine: &mut Machine) {
    let elapsed = machine.tcycles().wrapping_sub(machine.ppu.beam.line_start);
    if elapsed < LINE_TCYCLES as u32 {
        pass_in_hblank(machine, elapsed);
    }
}

fn advance_in_line(machine: &mut Machine, to: u16) {
    let from = machine.ppu.beam.dot;
    if machine.ppu.beam.line < VBLANK_LINE {
        advance_in_visible_line(machine, from, to);
    } else {
        advance_in_vblank(machine, from, to);
    }
    machine.ppu.beam.dot = to;
}

fn advance_in_visible_line(machine: &mut Machine, from: u16, to: u16) {
    if from <= timing::LAST_BEGINNING_DOT && !machine.ppu.beam.first_line {
        begin_visible_line(machine, from, to);
    }
    if to <= timing::MODE3_DOT {
        return;
    }
    if machine.ppu.stage == LineProgress::Rendering && is_pipeline_watched(machine) {
        run_pipeline(machine, to);
    }
    if watches_hblank(machine) && is_hblank_known(machine) {
        let rise = hblank_dot(machine);
        if from <= rise && to > rise {
            machine.ppu.beam.dot = rise + 1;
            update_stat_line(machine, stat::HBLANK_SOURCE);
        }
        #[cfg(color)]
        {
            let due = machine.ppu.mode3_end + 2;
            if from <= due && to > due && machine.cpu.mode == Mode::Running {
                machine.hdma.begin_hblank();
            }
        }
    }
    if to == LINE_TCYCLES {
        finish_line(machine);
        #[cfg(color)]
        machine.ppu.meet_wy();
    }
}

/// Returns true if the pipeline must follow the dots: HBlank or OAM DMA depends on it, or the model
/// is a Color, whose writes read its state. Otherwise the pipeline waits until a register changes
/// (`catch_up`) or the line ends.
#[inline(always)]
fn is_pipeline_watched(machine: &Machine) -> bool {
    COLOR || machine.dma.active || watches_hblank(machine)
}

/// Events of a line's first dots.
fn begin_visible_line(machine: &mut Machine, from: u16, to: u16) {
    if from == 0 && to > timing::LAST_BEGINNING_DOT && machine.ppu.beam.line > 0 {
        // WY did not change between the two dots on which it is compared.
        machine.ppu.meet_wy();
        pass_line_events(machine);
        return;
    }
    if from <= 3 && to > 3 {
        line_event(machine, 3);
    }
    #[cfg(color)]
    machine.ppu.meet_wy_between(from, to);
    if from <= 4 && to > 4 {
        let ppu = &mut machine.ppu;
        ppu.beam.dot = 5;
        ppu.frame_over |= ppu.beam.line == 0 && ppu.entered_vblank;
        #[cfg(not(color))]
        ppu.meet_wy();
    }
    if from <= timing::COMPARE_DOT && to > timing::COMPARE_DOT {
        line_event(machine, timing::COMPARE_DOT);
    }
}

fn advance_in_vblank(machine: &mut Machine, from: u16, to: u16) {
    for event in 0..timing::VBLANK_EVENTS.len() {
        let at = timing::VBLANK_EVENTS[event];
        if from <= at && to > at {
            machine.ppu.beam.dot = at + 1;
            vblank_event(machine, at);
        }
    }
}

fn vblank_event(machine: &mut Machine, at: u16) {
    let begins = machine.ppu.beam.line == VBLANK_LINE;
    if begins && at == VBLANK_DOT {
        machine.interrupts.request(VBLANK);
        machine.ppu.entered_vblank = true;
        if machine.ppu.draw && machine.ppu.frame_blank {
            clear_picture(machine);
        }
        machine.ppu.frame_blank = false;
    }
    let sources = machine.ppu.beam.sources(0);
    if COLOR && at == timing::MODE2_DOT && begins {
        // An interrupt line that is high because of LYC does not block VBlank's request (gambatte
        // `lycint143_m1irq_*`).
        machine.ppu.stat_line &= machine.ppu.stat & sources != 0;
    } else {
        update_stat_line(machine, sources);
    }
}

/// Returns true if the dot on which the interrupt line sees HBlank may have come: the pipeline is
/// done, or, on the Color, at the last pixel, which the interrupt does not wait for.
#[inline(always)]
fn is_hblank_known(machine: &Machine) -> bool {
    machine.ppu.stage != LineProgress::Rendering || COLOR && machine.ppu.pipeline.position == 159
}

/// Returns the dot on which the interrupt line sees HBlank. Mode 2 must be over.
#[inline(always)]
fn hblank_dot(machine: &mut Machine) -> u16 {
    let dot = mode3_end(machine) + 1;
    #[cfg(color)]
    let dot = dot - machine.ppu.hblank_ahead;
    dot
}

/// Finishes the picture at the end of a frame: it is white if the LCD is off.
pub(crate) fn finish_picture(machine: &mut Machine) {
    #[cfg(all(keeps_lines, not(color)))]
    kept_line::note_vram_change(machine);
    if machine.ppu.draw && (!machine.ppu.is_on() || machine.cpu.mode == Mode::Stopped) {
        #[cfg(color)]
        if machine.ppu.is_on() {
            blacken_stopped_picture(machine);
            return;
        }
        clear_picture(machine);
    }
}

/// Notes whether the PPU draws in the M-cycle of a STOP.
#[cfg(color)]
pub(crate) fn note_mode_at_stop(machine: &mut Machine, now: u32) {
    machine.now = now;
    sync_ppu_now(machine);
    machine.color.stopped_in_mode3 = is_vram_read_blocked(machine);
}

/// Blanks the picture in STOP. The Color's PPU goes on without video RAM and shows black, unless it
/// was drawing when STOP came (daid's `stop_instr` and `stop_instr_gbc_mode3`).
#[cfg(color)]
fn blacken_stopped_picture(machine: &mut Machine) {
    if !machine.color.stopped_in_mode3 {
        #[cfg(keeps_lines)]
        kept_lines::forget_picture(machine);
        for index in 0..FRAME_BYTES as u32 {
            machine.frame[index as usize] = 0;
        }
    }
}

/// Fills the picture with the panel's white.
#[inline(never)]
fn clear_picture(machine: &mut Machine) {
    #[cfg(keeps_lines)]
    kept_lines::forget_picture(machine);
    for index in 0..FRAME_BYTES as u32 {
        // RGB555, the lower byte first, or shade 0.
        let white = if index & 1 == 0 { 0xff } else { 0x7f };
        machine.frame[index as usize] = if COLOR { white } else { 0 };
    }
}

/// Returns true if the beginning of HBlank has an effect.
#[inline(always)]
pub(crate) fn watches_hblank(machine: &Machine) -> bool {
    machine.ppu.stat & stat::HBLANK_SOURCE != 0 || is_hdma_active(machine)
}

/// Returns true if a block of HDMA is copied in each HBlank.
#[cfg(color)]
#[inline(always)]
fn is_hdma_active(machine: &Machine) -> bool {
    machine.hdma.active
}

/// Returns false: the original has no HDMA.
#[cfg(not(color))]
#[inline(always)]
fn is_hdma_active(_machine: &Machine) -> bool {
    false
}

impl Ppu {
    /// Clears the state of the last line between two frames, so that drawn and undrawn frames leave
    /// the same state: the scan must be up to now.
    pub(crate) fn drop_line(&mut self) {
        let window_active = self.pipeline.window_active;
        let window_column = self.pipeline.window_column;
        self.pipeline = Pipeline::idle();
        self.pipeline.window_active = window_active;
        self.pipeline.window_column = window_column;
        self.scan.clear_rest();
        self.draw = false;
    }

    pub(crate) fn begin_next_line(&mut self) {
        self.beam.line_start = self.beam.line_start.wrapping_add(LINE_TCYCLES as u32);
        self.beam.dot = 0;
        self.beam.first_line = false;
        self.mode3_end = 0;
        #[cfg(color)]
        {
            self.hblank_ahead = 0;
        }
        self.used_fine_scroll = FINE_SCROLL_UNUSED;
        self.stage = LineProgress::Untouched;
        self.beam.line += 1;
        if self.beam.line < VBLANK_LINE {
            self.scan.begin_line();
        } else {
            self.scan.restart();
        }
        if self.beam.line == VBLANK_LINE {
            self.window_line = self.pipeline.window_active as u8;
        } else if self.beam.line > LAST_LINE {
            self.beam.line = 0;
            self.wy_met = false;
        }
    }
}
