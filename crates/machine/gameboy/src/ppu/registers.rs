//! The PPU as the CPU sees it: FF40-FF4B, VRAM and OAM.
//!
//! The T-cycle within the CPU's M-cycle at which a write takes effect differs from register to
//! register, and some registers show a mixture of the old and the new value for one dot. Times are
//! relative to the T-cycle `t` at which a read in the same M-cycle would take its value. Source:
//! pictures of a DMG in mealybug-tearoom-tests.
//!
//! | register | old value up to | between | new value after |
//! |---|---|---|---|
//! | LCDC: tile maps, tile data, height of objects | `t - 2` | | `t - 2` |
//! | LCDC: background | `t - 2` | old or new value, whichever is set | `t - 1` |
//! | LCDC: objects, window, LCD | `t - 1` | off at `t - 2`: objects, a window's row | `t - 1` |
//! | SCY, SCX | `t - 2` | | `t - 2` |
//! | BGP, OBP0, OBP1 | `t - 2` | old and new value ORed | `t - 1` |
//! | STAT | `t` | all sources of interrupts, for no dot | `t` |
//! | LYC, WY | `t` | | `t` |
//! | WX | `t` | the new value, as one that just changed | `t + 1` |

#[cfg(color)]
use crate::machine::is_before;
use crate::machine::{COLOR, Machine};
#[cfg(color)]
use crate::ppu::color_timing::{
    is_oam_read_blocked, is_oam_write_blocked, is_vram_read_blocked, is_vram_write_blocked,
};
#[cfg(color)]
use crate::ppu::forget_hblank;
#[cfg(keeps_lines)]
use crate::ppu::kept_lines::note_vram_change;
use crate::ppu::oam_bug::{corrupt_after_write, corrupt_before_write, corrupt_oam_by_read};
#[cfg(color)]
use crate::ppu::scan::drop_carried_scan;
use crate::ppu::stat::{update_lcd_off_stat_line, update_stat_line};
#[cfg(not(color))]
use crate::ppu::sync_ppu;
use crate::ppu::timing::end_lateness;
use crate::ppu::timing::ppu_mode;
#[cfg(not(color))]
use crate::ppu::timing::schedule_ppu;
#[cfg(not(color))]
use crate::ppu::timing::{
    is_oam_read_blocked, is_oam_write_blocked, is_vram_read_blocked, is_vram_write_blocked,
};
use crate::ppu::whole_line::mode3_end;
#[cfg(not(color))]
use crate::ppu::whole_or_by_dots::catch_up;
use crate::ppu::whole_or_by_dots::{before_picture_change, before_timing_change};
use crate::ppu::{
    FINE_SCROLL_UNUSED, LAST_LINE, LCDC_OBJECTS, LCDC_ON, LCDC_TALL_OBJECTS, LCDC_WINDOW,
    LineProgress, Ppu, VBLANK_LINE, stat, sync_ppu_now,
};
#[cfg(not(color))]
use crate::ppu::{
    LCDC_BACKGROUND, LCDC_BACKGROUND_MAP, LCDC_TILE_DATA, LCDC_WINDOW_MAP, VRAM_BYTES,
};

/// Bits of LCDC that address memory; the bits that mix pixels take effect one dot later.
#[cfg(not(color))]
const FETCHER_BITS: u8 = LCDC_BACKGROUND_MAP | LCDC_TILE_DATA | LCDC_WINDOW_MAP | LCDC_TALL_OBJECTS;

/// A read of FF41 or FF44. In an HBlank that was found, LY needs no sync.
#[inline(always)]
pub(crate) fn read_beam(machine: &mut Machine, low: u8) -> u8 {
    #[cfg(color)]
    let is_known = low == 0x44 && is_before(machine.now, machine.ppu.hblank_until);
    #[cfg(not(color))]
    let is_known = false;
    if is_known { machine.ppu.beam.line } else { read_ppu(machine, low) }
}

/// A read of FF40-FF4B.
#[inline(never)]
pub fn read_ppu(machine: &mut Machine, low: u8) -> u8 {
    if low == 0x41 || low == 0x44 {
        sync_ppu_now(machine);
    }
    let register = ppu_register(&machine.ppu, low);
    if low == 0x41 && machine.ppu.is_on() { register & !3 | ppu_mode(machine) } else { register }
}

/// A register's value without a sync. FF41 shows mode 2 also in modes 3 and 0.
pub(crate) fn ppu_register(ppu: &Ppu, low: u8) -> u8 {
    let late = ppu.lateness();
    match low {
        0x40 => ppu.lcdc,
        0x41 => {
            let late = end_lateness(ppu);
            let mode = if ppu.is_on() { ppu.beam.mode_before_drawing(late) } else { 0 };
            0x80 | ppu.stat | (ppu.lyc_bit() as u8) << 2 | mode
        }
        0x42 => ppu.scy,
        0x43 => ppu.scx,
        0x44 => {
            if ppu.is_on() {
                ppu.beam.ly(if ppu.beam.line == LAST_LINE { end_lateness(ppu) } else { late })
            } else {
                0
            }
        }
        0x45 => ppu.lyc,
        0x47 => ppu.bgp,
        0x48 => ppu.obp0,
        0x49 => ppu.obp1,
        0x4a => ppu.wy,
        _ => ppu.wx,
    }
}

/// A write to FF40-FF4B.
#[cfg(not(color))]
#[expect(clippy::too_many_lines, reason = "one arm for each register")]
#[inline(never)]
pub fn write_ppu(machine: &mut Machine, low: u8, value: u8) {
    let t = machine.tcycles();
    match low {
        0x40 => write_lcdc(machine, t, value),
        0x41 => write_stat(machine, t, value),
        0x42 => {
            sync_ppu(machine, t.wrapping_sub(2));
            before_picture_change(machine);
            machine.ppu.scy = value;
        }
        0x43 => {
            sync_ppu(machine, t.wrapping_sub(2));
            if !machine.ppu.beam.is_fine_scroll_over() {
                // The lower bits change a dot later (gambatte `scx_m3_extend_1`).
                sync_ppu(machine, t.wrapping_sub(1));
            }
            if machine.ppu.beam.is_fine_scroll_over() {
                machine.ppu.latch_fine_scroll();
                before_picture_change(machine);
            } else {
                before_timing_change(machine);
            }
            machine.ppu.scx = value;
        }
        0x44 => {}
        0x45 => {
            sync_ppu(machine, t);
            machine.ppu.lyc = value;
            if machine.ppu.beam.line < VBLANK_LINE
                && machine.ppu.beam.dot > super::timing::MODE3_DOT
            {
                // HBlank can keep the interrupt line high (gambatte `lycdisable_ff45_*`).
                sync_ppu(machine, t.wrapping_add(1));
            }
            reconsider_stat_line(machine);
        }
        0x47 => {
            write_palette(machine, t, machine.ppu.bgp | value, value, 0);
        }
        0x48 => {
            write_palette(machine, t, machine.ppu.obp0 | value, value, 1);
        }
        0x49 => {
            write_palette(machine, t, machine.ppu.obp1 | value, value, 2);
        }
        0x4a => {
            sync_ppu(machine, t);
            before_timing_change(machine);
            machine.ppu.wy = value;
            if machine.ppu.beam.dot > super::timing::COMPARE_DOT {
                // Within a line the comparison comes two dots later (gambatte
                // `late_wy_FFto2_ly2_scx*`).
                sync_ppu(machine, t.wrapping_add(2));
                before_timing_change(machine);
            }
            machine.ppu.meet_written_wy();
        }
        _ => {
            sync_ppu(machine, t);
            before_timing_change(machine);
            machine.ppu.wx = value;
            machine.ppu.pipeline.wx_just_changed = true;
            sync_ppu(machine, t.wrapping_add(1));
            catch_up(machine);
            machine.ppu.pipeline.wx_just_changed = false;
        }
    }
    if machine.ppu.is_on() {
        schedule_ppu(machine);
    }
}

/// A palette shows the old and the new value ORed for one dot.
#[cfg(not(color))]
fn write_palette(machine: &mut Machine, t: u32, mixed: u8, value: u8, palette: u8) {
    sync_ppu(machine, t.wrapping_sub(2));
    before_picture_change(machine);
    // The first pixel of a line stays at the panel's edge until the second pixel is put out.
    let is_first = machine.ppu.pipeline.position == 0;
    machine.ppu.set_palette(palette, if is_first { value } else { mixed });
    sync_ppu(machine, t.wrapping_sub(1));
    before_picture_change(machine);
    machine.ppu.set_palette(palette, value);
}

#[cfg(not(color))]
pub(crate) fn write_lcdc(machine: &mut Machine, t: u32, value: u8) {
    sync_ppu(machine, t.wrapping_sub(2));
    catch_up(machine);
    let old = machine.ppu.lcdc;
    before_lcdc_change(machine, old ^ value);
    let ppu = &mut machine.ppu;
    // For one dot the background bit is the old and new value ORed, and the window and object bits
    // keep their old values; but the fetcher sees at once that objects are off.
    let mut mixed = old & !FETCHER_BITS | value & (FETCHER_BITS | LCDC_BACKGROUND);
    let fetches_object = ppu.pipeline.is_fetching_object();
    let is_first = ppu.pipeline.position == 0;
    if value & LCDC_OBJECTS == 0 && (fetches_object || is_first) {
        mixed &= !LCDC_OBJECTS;
    }
    if is_first {
        mixed &= value | !LCDC_BACKGROUND;
    }
    if ppu.pipeline.fetches_window_row() {
        mixed &= value | !LCDC_WINDOW;
    }
    ppu.lcdc = mixed;
    ppu.abort_object_if_off();
    sync_ppu(machine, t.wrapping_sub(1));
    catch_up(machine);
    before_lcdc_change(machine, old ^ value);
    switch_off_lcd(machine, old, value);
    let ppu = &mut machine.ppu;
    ppu.lcdc = value;
    ppu.abort_object_if_off();
    if old & !value & LCDC_WINDOW != 0 {
        ppu.forget_window_tile(&machine.vram);
        if ppu.pipeline.window_just_started {
            ppu.pipeline.window_cut_short = true;
        }
        if ppu.stage != LineProgress::Rendering {
            ppu.pipeline.window_active = false;
        }
    }
    switch_on_lcd(machine, t, old);
}

pub(crate) fn switch_off_lcd(machine: &mut Machine, old: u8, value: u8) {
    if old & LCDC_ON != 0 && value & LCDC_ON == 0 {
        machine.ppu.switch_off();
        #[cfg(color)]
        forget_hblank(machine);
        // PyBoy counts a frame with the LCD off from the M-cycle before the write.
        machine.lcd_off_since = machine.now.wrapping_sub(1);
    }
}

/// Called after LCDC was written.
pub(crate) fn switch_on_lcd(machine: &mut Machine, t: u32, old: u8) {
    let switches_on = old & LCDC_ON == 0 && machine.ppu.is_on();
    if switches_on {
        machine.ppu.switch_on(t);
    }
    // In the line that begins when the LCD is switched on, WY is compared only here.
    if !COLOR || switches_on {
        machine.ppu.meet_wy();
    }
    if switches_on {
        reconsider_stat_line(machine);
    }
}

/// Prepares for a change of LCDC. Only the bits of objects, window and LCD can move the end of mode
/// 3.
pub(crate) fn before_lcdc_change(machine: &mut Machine, changed: u8) {
    if changed & (LCDC_OBJECTS | LCDC_TALL_OBJECTS | LCDC_WINDOW | LCDC_ON) != 0 {
        before_timing_change(machine);
    } else {
        before_picture_change(machine);
    }
}

// Pan Docs "STAT bug": for a moment all sources are enabled. Exactly between HBlank and the next
// line's OAM scan, if only HBlank is enabled, the OAM source is not enabled and does not fire on
// that dot.
#[cfg(not(color))]
pub(crate) fn write_stat(machine: &mut Machine, t: u32, value: u8) {
    sync_ppu(machine, t);
    let at_line_edge = machine.ppu.beam.line < VBLANK_LINE && machine.ppu.beam.dot == 4;
    let only_hblank = machine.ppu.stat & (stat::OAM_SOURCE | stat::HBLANK_SOURCE);
    if at_line_edge && only_hblank == stat::HBLANK_SOURCE {
        set_stat(machine, stat::ALL_SOURCES & !stat::OAM_SOURCE);
        set_stat(machine, value & stat::ALL_SOURCES & !stat::OAM_SOURCE);
        sync_ppu(machine, t.wrapping_add(2));
    } else {
        set_stat(machine, stat::ALL_SOURCES);
    }
    set_stat(machine, value & stat::ALL_SOURCES);
}

#[cfg(not(color))]
fn set_stat(machine: &mut Machine, sources: u8) {
    machine.ppu.stat = sources;
    reconsider_stat_line(machine);
}

/// Evaluates the STAT interrupt line after a register that drives it was written.
fn reconsider_stat_line(machine: &mut Machine) {
    if machine.ppu.is_on() {
        // The end of mode 3 matters only if STAT selects HBlank as a source.
        let asks = machine.ppu.stat & stat::HBLANK_SOURCE != 0
            && machine.ppu.beam.line < VBLANK_LINE
            && machine.ppu.beam.dot > super::timing::MODE3_DOT;
        let mode3_end = if asks { mode3_end(machine) } else { 0 };
        let sources = machine.ppu.beam.sources(mode3_end);
        update_stat_line(machine, sources);
    } else {
        update_lcd_off_stat_line(machine);
    }
}

/// A read of 8000-9FFF.
pub fn read_vram(machine: &mut Machine, address: u16) -> u8 {
    sync_ppu_now(machine);
    if is_vram_read_blocked(machine) { 0xff } else { machine.vram[machine.vram_index(address)] }
}

/// A write to 8000-9FFF.
pub(crate) fn write_vram(machine: &mut Machine, address: u16, value: u8) {
    sync_ppu_now(machine);
    if !is_vram_write_blocked(machine) {
        before_picture_change(machine);
        let at = machine.vram_index(address);
        put_vram(machine, at, value);
    }
}

/// Changes a byte of video RAM within a frame.
#[inline(always)]
pub(crate) fn put_vram(machine: &mut Machine, at: usize, value: u8) {
    #[cfg(keeps_lines)]
    if machine.vram[at] != value {
        note_vram_change(machine);
    }
    machine.vram[at] = value;
}

/// A read of FE00-FEFF.
pub(crate) fn read_oam(machine: &mut Machine, address: u16) -> u8 {
    sync_ppu_now(machine);
    if is_oam_read_blocked(machine) {
        corrupt_oam_by_read(machine, address);
        return 0xff;
    }
    if address < 0xfea0 {
        return machine.oam[(address & 0xff) as usize];
    }
    // A CPU CGB E has no memory there, but shows the upper half of the address's low byte twice
    // (Pan Docs "FEA0-FEFF range", docboy `not_usable_area_*`).
    #[cfg(color)]
    #[cfg(not(usual_revision))]
    if machine.ppu.is_cgb_e {
        return (address & 0xf0) as u8 | (address >> 4 & 0x0f) as u8;
    }
    #[cfg(color)]
    let byte = machine.color.read_behind_oam(address);
    #[cfg(not(color))]
    let byte = 0;
    byte
}

/// A write to FE00-FEFF.
pub(crate) fn write_oam(machine: &mut Machine, address: u16, value: u8) {
    sync_ppu_now(machine);
    corrupt_before_write(machine, address);
    if is_oam_write_blocked(machine) {
        return;
    }
    if address < 0xfea0 {
        #[cfg(color)]
        drop_carried_scan(machine);
        before_timing_change(machine);
        machine.oam[(address & 0xff) as usize] = value;
        corrupt_after_write(machine, address);
    } else {
        #[cfg(color)]
        machine.color.write_behind_oam(address, value);
    }
}

impl Ppu {
    pub(super) fn set_palette(&mut self, palette: u8, value: u8) {
        match palette {
            0 => self.bgp = value,
            1 => self.obp0 = value,
            _ => self.obp1 = value,
        }
    }

    /// Keeps the bits of SCX that this line used, for a later computation of its length.
    pub(super) fn latch_fine_scroll(&mut self) {
        if self.used_fine_scroll == FINE_SCROLL_UNUSED {
            self.used_fine_scroll = self.scx & 7;
        }
    }

    /// SCX's lower bits as this line uses them.
    pub(crate) fn fine_scroll(&self) -> u8 {
        if self.used_fine_scroll == FINE_SCROLL_UNUSED {
            self.scx & 7
        } else {
            self.used_fine_scroll
        }
    }

    /// Returns true if the window may begin on this line.
    #[inline(always)]
    pub(super) fn is_window_met(&self) -> bool {
        let met = self.wy_met;
        #[cfg(color)]
        let met = met || self.drawn_wy == self.beam.line;
        met
    }

    /// Returns true if the window may begin on this dot. The Color checks its conditions on the dot
    /// before (gambatte `late_reenable_*`, `late_enable_ly0_ds_*`).
    #[inline(always)]
    pub(super) fn is_window_allowed(&self) -> bool {
        #[cfg(color)]
        let allowed = self.pipeline.window_allowed;
        #[cfg(not(color))]
        let allowed = self.wy_met;
        allowed
    }

    /// Called after each dot.
    #[inline(always)]
    pub(super) fn note_window(&mut self) {
        #[cfg(color)]
        {
            self.pipeline.window_allowed = self.is_window_met() && self.lcdc & LCDC_WINDOW != 0;
        }
    }

    /// Compares WY. The comparison goes on all the time while the window is enabled, not only at a
    /// line's beginning.
    pub(crate) fn meet_wy(&mut self) {
        self.meet_wy_on(self.beam.line);
    }

    // On the first dots of a line a write to WY can still match the preceding line (gambatte
    // `late_wy_*`); enabling the window can't (`late_enable_afterVblank_*`).
    #[cfg(not(color))]
    fn meet_written_wy(&mut self) {
        let compared = self.beam.compared_line(self.lateness());
        self.meet_wy_on(if compared > 0xff { self.beam.line } else { compared as u8 });
    }

    pub(super) fn meet_wy_on(&mut self, line: u8) {
        if self.lcdc & (LCDC_ON | LCDC_WINDOW) == LCDC_ON | LCDC_WINDOW {
            self.wy_met |= line == self.wy;
        }
    }

    /// Called when the window is disabled. On the preceding dot the window could still begin, but
    /// the fetcher took the background's tile (mealybug `m3_lcdc_win_en_change_multiple_wx`).
    #[cfg(not(color))]
    fn forget_window_tile(&mut self, vram: &[u8; VRAM_BYTES]) {
        if self.stage == LineProgress::Rendering && self.pipeline.fetch_step == 1 {
            self.pipeline.window_active = false;
            self.fetch_tile(vram);
        }
    }

    /// Called after LCDC changed: an object whose fetch has begun is dropped if objects are off
    /// now.
    #[cfg(not(color))]
    fn abort_object_if_off(&mut self) {
        if !self.fetches_objects() && self.pipeline.is_fetching_object() {
            self.pipeline.object_aborted = true;
        }
    }

    // Hardware freezes: LY reads 0, the mode is 0, and STAT bit 2 stays as it was.
    fn switch_off(&mut self) {
        self.lyc_frozen = self.lyc_bit();
        self.stat_line = self.lyc_frozen && self.stat & stat::LYC_SOURCE != 0;
        self.beam.line = 0;
        self.beam.dot = 0;
        self.wy_met = false;
        self.stage = LineProgress::Done;
        self.pipeline.window_active = false;
        self.pipeline.window_column = 0;
    }

    // The first line is 8 dots short at its beginning, has no mode 2 and shows no objects, and the
    // panel stays white until the next frame.
    fn switch_on(&mut self, t: u32) {
        self.beam.line = 0;
        self.beam.dot = 8;
        self.beam.line_start = t.wrapping_sub(8);
        self.beam.first_line = true;
        self.frame_blank = true;
        self.wy_met = false;
        self.window_line = 0;
        self.mode3_end = 0;
        // The line in which the LCD was switched off may have used another SCX.
        self.used_fine_scroll = FINE_SCROLL_UNUSED;
        self.scan.restart();
        self.stage = LineProgress::Untouched;
        self.pipeline.window_active = false;
    }
}
