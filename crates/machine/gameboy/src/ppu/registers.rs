//! The PPU as the CPU sees it: FF40-FF4B, VRAM and OAM.
//!
//! A write reaches the PPU at a moment of its own within the CPU's M-cycle, different for each
//! register, and some registers show a mixture of the old and the new value for one dot. The
//! moments are those at which mealybug-tearoom-tests show a DMG to change its picture; they are
//! relative to the T-cycle `t` at which a read in the same M-cycle would look.
//!
//! | register | old value up to | between | new value after |
//! |---|---|---|---|
//! | LCDC: tile maps, tile data, height of objects | `t - 2` | | `t - 2` |
//! | LCDC: background | `t - 2` | old or new value, whichever is set | `t - 1` |
//! | LCDC: objects, window, LCD | `t - 1` | objects that go off do so at `t - 2` | `t - 1` |
//! | SCY, SCX | `t - 2` | | `t - 2` |
//! | BGP, OBP0, OBP1 | `t - 2` | old and new value ORed | `t - 1` |
//! | STAT | `t` | all sources of interrupts, for no dot | `t` |
//! | LYC, WY | `t` | | `t` |
//! | WX | `t` | the new value, as one that just changed | `t + 1` |

use crate::machine::{COLOR, Machine};
use crate::ppu::{
    FINE_SCROLL_UNUSED, LCDC_OBJECTS, LCDC_ON, LCDC_TALL_OBJECTS, LCDC_WINDOW, LineProgress, Ppu,
    VBLANK_LINE, stat,
};
#[cfg(not(color))]
use crate::ppu::{
    LCDC_BACKGROUND, LCDC_BACKGROUND_MAP, LCDC_TILE_DATA, LCDC_WINDOW_MAP, VRAM_BYTES,
};

/// Bits of LCDC that address memory; those that mix pixels are seen one dot later.
#[cfg(not(color))]
const FETCHER_BITS: u8 = LCDC_BACKGROUND_MAP | LCDC_TILE_DATA | LCDC_WINDOW_MAP | LCDC_TALL_OBJECTS;

impl Machine {
    /// A read of FF40-FF4B.
    pub fn read_ppu(&mut self, low: u8) -> u8 {
        match low {
            0x40 => self.ppu.lcdc,
            0x41 => {
                self.sync_ppu(self.tcycles());
                let mode = if self.ppu.is_on() { self.ppu_mode() } else { 0 };
                0x80 | self.ppu.stat | (self.ppu.lyc_bit() as u8) << 2 | mode
            }
            0x42 => self.ppu.scy,
            0x43 => self.ppu.scx,
            0x44 => {
                self.sync_ppu(self.tcycles());
                if self.ppu.is_on() { self.ppu.ly() } else { 0 }
            }
            0x45 => self.ppu.lyc,
            0x47 => self.ppu.bgp,
            0x48 => self.ppu.obp0,
            0x49 => self.ppu.obp1,
            0x4a => self.ppu.wy,
            _ => self.ppu.wx,
        }
    }

    /// A write to FF40-FF4B.
    #[cfg(not(color))]
    #[expect(clippy::too_many_lines, reason = "one arm for each register")]
    #[inline(never)]
    pub fn write_ppu(&mut self, low: u8, value: u8) {
        let t = self.tcycles();
        match low {
            0x40 => self.write_lcdc(t, value),
            0x41 => self.write_stat(t, value),
            0x42 => {
                self.sync_ppu(t.wrapping_sub(2));
                self.before_picture_change();
                self.ppu.scy = value;
            }
            0x43 => {
                self.sync_ppu(t.wrapping_sub(2));
                if !self.ppu.is_fine_scroll_over() {
                    // The lower bits change a dot later (gambatte `scx_m3_extend_1`).
                    self.sync_ppu(t.wrapping_sub(1));
                }
                if self.ppu.is_fine_scroll_over() {
                    self.ppu.latch_fine_scroll();
                    self.before_picture_change();
                } else {
                    self.before_timing_change();
                }
                self.ppu.scx = value;
            }
            0x44 => {}
            0x45 => {
                self.sync_ppu(t);
                self.ppu.lyc = value;
                if self.ppu.line < VBLANK_LINE && self.ppu.dot > super::timing::MODE3_DOT {
                    // HBlank can take the interrupt line over (gambatte `lycdisable_ff45_*`).
                    self.sync_ppu(t.wrapping_add(1));
                }
                self.reconsider_stat_line();
            }
            0x47 => {
                self.write_palette(t, self.ppu.bgp | value, value, 0);
            }
            0x48 => {
                self.write_palette(t, self.ppu.obp0 | value, value, 1);
            }
            0x49 => {
                self.write_palette(t, self.ppu.obp1 | value, value, 2);
            }
            0x4a => {
                self.sync_ppu(t);
                self.before_timing_change();
                self.ppu.wy = value;
                if self.ppu.dot > super::timing::COMPARE_DOT {
                    // Within a line the comparison takes two dots more (gambatte
                    // `late_wy_FFto2_ly2_scx*`).
                    self.sync_ppu(t.wrapping_add(2));
                    self.before_timing_change();
                }
                self.ppu.meet_written_wy();
            }
            _ => {
                self.sync_ppu(t);
                self.before_timing_change();
                self.ppu.wx = value;
                self.ppu.pipeline.wx_just_changed = true;
                self.sync_ppu(t.wrapping_add(1));
                self.ppu.pipeline.wx_just_changed = false;
            }
        }
        if self.ppu.is_on() {
            self.schedule_ppu();
        }
    }

    /// A palette shows the old and the new value ORed for one dot.
    #[cfg(not(color))]
    fn write_palette(&mut self, t: u32, mixed: u8, value: u8, palette: u8) {
        self.sync_ppu(t.wrapping_sub(2));
        self.before_picture_change();
        // The first pixel of a line stays on the panel's edge until the next one is put out.
        let is_first = self.ppu.pipeline.position == 0;
        self.ppu.set_palette(palette, if is_first { value } else { mixed });
        self.sync_ppu(t.wrapping_sub(1));
        self.before_picture_change();
        self.ppu.set_palette(palette, value);
    }

    #[cfg(not(color))]
    fn write_lcdc(&mut self, t: u32, value: u8) {
        self.sync_ppu(t.wrapping_sub(2));
        let old = self.ppu.lcdc;
        self.before_lcdc_change(old ^ value);
        let ppu = &mut self.ppu;
        // For one dot the background bit shows its old and new value ORed, and the window and
        // object bits the old one; but the fetcher sees at once that objects are off.
        let mut mixed = old & !FETCHER_BITS | value & (FETCHER_BITS | LCDC_BACKGROUND);
        let fetches_object = ppu.pipeline.is_fetching_object();
        let is_first = ppu.pipeline.position == 0;
        if value & LCDC_OBJECTS == 0 && (fetches_object || is_first) {
            mixed &= !LCDC_OBJECTS;
        }
        if is_first {
            mixed &= value | !LCDC_BACKGROUND;
        }
        ppu.lcdc = mixed;
        ppu.abort_object_if_off();
        self.sync_ppu(t.wrapping_sub(1));
        self.before_lcdc_change(old ^ value);
        self.switch_off_lcd(old, value);
        let ppu = &mut self.ppu;
        ppu.lcdc = value;
        ppu.abort_object_if_off();
        if old & !value & LCDC_WINDOW != 0 {
            ppu.forget_window_tile(&self.vram);
            if ppu.pipeline.window_just_started {
                ppu.pipeline.window_cut_short = true;
            }
            if ppu.stage != LineProgress::Rendering {
                ppu.pipeline.window_active = false;
            }
        }
        self.switch_on_lcd(t, old);
    }

    pub(super) fn switch_off_lcd(&mut self, old: u8, value: u8) {
        if old & LCDC_ON != 0 && value & LCDC_ON == 0 {
            self.ppu.switch_off();
            // PyBoy counts a frame with the LCD off from the M-cycle before the write.
            self.lcd_off_since = self.now.wrapping_sub(1);
        }
    }

    /// Called after LCDC was written.
    pub(super) fn switch_on_lcd(&mut self, t: u32, old: u8) {
        let switches_on = old & LCDC_ON == 0 && self.ppu.is_on();
        if switches_on {
            self.ppu.switch_on(t);
        }
        // The line that begins with the LCD has no other moment at which WY is compared.
        if !COLOR || switches_on {
            self.ppu.meet_wy();
        }
        if switches_on {
            self.reconsider_stat_line();
        }
    }

    /// Only the objects, the window and the LCD's switch can move the end of mode 3.
    pub(super) fn before_lcdc_change(&mut self, changed: u8) {
        if changed & (LCDC_OBJECTS | LCDC_TALL_OBJECTS | LCDC_WINDOW | LCDC_ON) != 0 {
            self.before_timing_change();
        } else {
            self.before_picture_change();
        }
    }

    // Pan Docs "STAT bug": for a moment all sources are enabled. Right between HBlank and the next
    // line's OAM scan, with only HBlank enabled, the OAM source is not, and neither does it come on
    // that dot.
    #[cfg(not(color))]
    fn write_stat(&mut self, t: u32, value: u8) {
        self.sync_ppu(t);
        let at_line_edge = self.ppu.line < VBLANK_LINE && self.ppu.dot == 4;
        let only_hblank = self.ppu.stat & (stat::OAM_SOURCE | stat::HBLANK_SOURCE);
        if at_line_edge && only_hblank == stat::HBLANK_SOURCE {
            self.set_stat(stat::ALL_SOURCES & !stat::OAM_SOURCE);
            self.set_stat(value & stat::ALL_SOURCES & !stat::OAM_SOURCE);
            self.sync_ppu(t.wrapping_add(2));
        } else {
            self.set_stat(stat::ALL_SOURCES);
        }
        self.set_stat(value & stat::ALL_SOURCES);
    }

    #[cfg(not(color))]
    fn set_stat(&mut self, sources: u8) {
        self.ppu.stat = sources;
        self.reconsider_stat_line();
    }

    /// Evaluates the STAT interrupt line after a register that drives it was written.
    pub(super) fn reconsider_stat_line(&mut self) {
        if self.ppu.is_on() {
            let drawing = self.ppu.line < VBLANK_LINE && self.ppu.dot > super::timing::MODE3_DOT;
            let mode3_end = if drawing { self.mode3_end() } else { 0 };
            let sources = self.ppu.sources(mode3_end);
            self.ppu.update_stat_line(&mut self.interrupts, sources);
        } else {
            self.ppu.update_lcd_off_stat_line(&mut self.interrupts);
        }
    }

    /// A read of 8000-9FFF.
    pub fn read_vram(&mut self, address: u16) -> u8 {
        self.sync_ppu(self.tcycles());
        if self.is_vram_read_blocked() { 0xff } else { self.vram[self.vram_at(address)] }
    }

    /// A write to 8000-9FFF.
    pub(crate) fn write_vram(&mut self, address: u16, value: u8) {
        self.sync_ppu(self.tcycles());
        if !self.is_vram_write_blocked() {
            self.before_picture_change();
            let at = self.vram_at(address);
            self.vram[at] = value;
        }
    }

    /// A read of FE00-FEFF.
    pub(crate) fn read_oam(&mut self, address: u16) -> u8 {
        self.sync_ppu(self.tcycles());
        if self.is_oam_read_blocked() {
            self.corrupt_oam_by_read();
            0xff
        } else if address < 0xfea0 {
            self.oam[(address & 0xff) as usize]
        } else {
            self.read_behind_oam(address)
        }
    }

    /// A write to FE00-FEFF.
    pub(crate) fn write_oam(&mut self, address: u16, value: u8) {
        self.sync_ppu(self.tcycles());
        if self.is_oam_write_blocked() {
            self.corrupt_oam_by_write();
        } else if address < 0xfea0 {
            self.before_timing_change();
            self.oam[(address & 0xff) as usize] = value;
        } else {
            self.write_behind_oam(address, value);
        }
    }

    /// FEA0-FEFF.
    #[cfg(not(color))]
    fn read_behind_oam(&self, _address: u16) -> u8 {
        0
    }

    /// FEA0-FEFF.
    #[cfg(not(color))]
    fn write_behind_oam(&mut self, _address: u16, _value: u8) {}
}

impl Ppu {
    pub(super) fn set_palette(&mut self, palette: u8, value: u8) {
        match palette {
            0 => self.bgp = value,
            1 => self.obp0 = value,
            _ => self.obp1 = value,
        }
    }

    /// SCX's lower bits, which delay the first pixel, have been used on this line.
    pub(super) fn is_fine_scroll_over(&self) -> bool {
        self.dot > self.mode3_start() + 10
    }

    /// Keeps the bits that this line has used, for the computation of its length later.
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
    #[cfg(not(color))]
    #[inline(always)]
    pub(super) fn is_window_met(&self) -> bool {
        self.wy_met
    }

    /// Returns true if the window may begin on this dot.
    #[cfg(not(color))]
    #[inline(always)]
    pub(super) fn is_window_allowed(&self) -> bool {
        self.wy_met
    }

    /// Called after each dot.
    #[cfg(not(color))]
    #[inline(always)]
    pub(super) fn note_window(&mut self) {}

    /// WY is compared all the time while the window is enabled, not only when a line begins.
    pub(crate) fn meet_wy(&mut self) {
        self.meet_wy_on(self.line);
    }

    // A write to WY can still meet the line before, on the first dots of the next (gambatte
    // `late_wy_*`); enabling the window can't (`late_enable_afterVblank_*`).
    #[cfg(not(color))]
    fn meet_written_wy(&mut self) {
        let compared = self.compared_line();
        self.meet_wy_on(if compared > 0xff { self.line } else { compared as u8 });
    }

    pub(super) fn meet_wy_on(&mut self, line: u8) {
        if self.lcdc & (LCDC_ON | LCDC_WINDOW) == LCDC_ON | LCDC_WINDOW {
            self.wy_met |= line == self.wy;
        }
    }

    /// Called when the window is switched off: on the dot before, its start still saw it, but the
    /// fetcher took the background's tile (mealybug `m3_lcdc_win_en_change_multiple_wx`).
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
        self.line = 0;
        self.dot = 0;
        self.wy_met = false;
        self.stage = LineProgress::Done;
        self.pipeline.window_active = false;
        self.pipeline.window_column = 0;
    }

    // The first line is 8 dots short at its beginning, has no mode 2 and shows no objects, and the
    // panel stays white until the next frame.
    fn switch_on(&mut self, t: u32) {
        self.line = 0;
        self.dot = 8;
        self.line_start = t.wrapping_sub(8);
        self.first_line = true;
        self.frame_blank = true;
        self.wy_met = false;
        self.window_line = 0;
        self.mode3_end = 0;
        self.scan.restart();
        self.stage = LineProgress::Untouched;
        self.pipeline.window_active = false;
    }
}
