//! Writes to FF40-FF4B on the Color.
//!
//! The moments are those at which mealybug-tearoom-tests show a CPU CGB C to change its picture and
//! gambatte's tests one to change its timing, relative to the T-cycle `t` at which a read in the
//! same M-cycle would look; `registers` has the original's.
//!
//! | register | single speed | double speed |
//! |---|---|---|
//! | LCDC: LCD | `t` | `t` |
//! | LCDC: height of objects | `t + 1` | `t` |
//! | LCDC: others | `t`; tiles' data garbles what is fetched on that dot | `t - 1` |
//! | SCY, SCX | `t` | `t - 1` |
//! | BGP, OBP0, OBP1 | `t - 1` | `t` |
//! | WX | `t + 1` | `t` |
//! | WY, compared at a line's beginning and end | `t` | `t - 1` |
//! | WY, compared within the line | `t + 4` | `t` |
#![cfg(color)]

use crate::machine::Machine;
use crate::ppu::{
    LCDC_ON, LCDC_TALL_OBJECTS, LCDC_TILE_DATA, LCDC_WINDOW, LineProgress, VBLANK_LINE, timing,
};

impl Machine {
    /// A write to FF40-FF4B.
    #[inline(never)]
    pub fn write_ppu(&mut self, low: u8, value: u8) {
        let t = self.tcycles();
        let double = self.speed.double as u32;
        match low {
            0x40 => self.write_lcdc(t, value),
            0x41 => self.write_stat(t, value),
            0x42 => {
                self.sync_ppu(t.wrapping_sub(double));
                self.before_picture_change();
                self.ppu.scy = value;
            }
            0x43 => self.write_scx(t.wrapping_sub(double), value),
            0x45 => self.write_lyc(t, value),
            0x47..=0x49 => {
                self.sync_ppu(t.wrapping_sub(1 - double));
                self.before_picture_change();
                self.ppu.set_palette(low - 0x47, value);
            }
            0x4a => self.write_wy(t, value),
            0x4b => {
                self.sync_ppu(t.wrapping_add(1 - double));
                self.before_timing_change();
                self.ppu.wx = value;
            }
            _ => {}
        }
        if self.ppu.is_on() {
            self.schedule_ppu();
        }
    }

    fn write_scx(&mut self, moment: u32, value: u8) {
        self.sync_ppu(moment);
        if self.is_scrolled_finely() {
            self.ppu.latch_fine_scroll();
            self.before_picture_change();
        } else {
            self.before_timing_change();
        }
        self.ppu.scx = value;
    }

    /// Returns true if this line's fine scroll has matched. Each write before that moves it on
    /// (gambatte `scx_m3_extend_ds_*`).
    fn is_scrolled_finely(&mut self) -> bool {
        match self.ppu.stage {
            LineProgress::Done => true,
            LineProgress::Rendering => self.ppu.pipeline.position >= -8,
            LineProgress::Untouched => {
                if self.ppu.line >= VBLANK_LINE || !self.ppu.is_fine_scroll_over() {
                    return false;
                }
                // An object at the very left keeps the first pixel waiting.
                self.scan_objects(timing::MODE3_DOT + 1);
                self.ppu.scan.count == 0 || self.ppu.scan.x[0] > 0
            }
        }
    }

    /// Changes, in mode 2, the height of the objects that are looked at later. One is looked at for
    /// two dots, and is tall if it is on either (gambatte `late_sizechange*`).
    fn write_object_size(&mut self, t: u32, size: u8) {
        self.sync_ppu(t.wrapping_sub(2));
        let elapsed = t.wrapping_sub(self.ppu.line_start);
        if self.ppu.is_on() && elapsed <= timing::MODE3_DOT as u32 {
            if elapsed > 6 {
                let dot = elapsed as u16 - self.ppu.double_speed as u16;
                self.scan_objects(if size == 0 { dot } else { dot - 1 });
            }
            self.ppu.lcdc = self.ppu.lcdc & !LCDC_TALL_OBJECTS | size;
        }
    }

    fn write_wy(&mut self, t: u32, value: u8) {
        // gambatte `late_wy_*`.
        let (seen, drawn) =
            if self.speed.double { (t.wrapping_sub(1), t) } else { (t, t.wrapping_add(4)) };
        self.sync_ppu(seen);
        self.ppu.wy = value;
        self.sync_ppu(drawn);
        self.before_timing_change();
        self.ppu.drawn_wy = value;
    }

    fn write_lcdc(&mut self, t: u32, value: u8) {
        if (self.ppu.lcdc ^ value) & LCDC_TALL_OBJECTS != 0 {
            self.write_object_size(t, value & LCDC_TALL_OBJECTS);
        }
        let old = self.ppu.lcdc;
        let switches = (old ^ value) & LCDC_ON != 0;
        let late = (self.speed.double && !switches) as u32;
        self.sync_ppu(t.wrapping_sub(late));
        self.before_lcdc_change(old ^ value);
        self.switch_off_lcd(old, value);
        if old & !value & LCDC_ON != 0 && self.hdma.active {
            // The block that waits for HBlank is copied (gambatte `hdma_disable_display_*`).
            self.hdma.due = 1;
            self.deadline = self.now;
        }
        self.ppu.lcdc = value;
        let changed = old ^ value;
        let stays_on = old & value & LCDC_ON != 0;
        if stays_on && changed & (LCDC_TILE_DATA | LCDC_TALL_OBJECTS) != 0 {
            self.ppu.lcdc = value & !LCDC_TALL_OBJECTS | old & LCDC_TALL_OBJECTS;
            if changed & LCDC_TILE_DATA != 0 && self.ppu.stage == LineProgress::Rendering {
                self.ppu.pipeline.leaves_8000 = value & LCDC_TILE_DATA == 0;
                self.ppu.pipeline.enters_8000 = value & LCDC_TILE_DATA != 0;
            }
            self.sync_ppu(t.wrapping_sub(late).wrapping_add(1));
            self.before_lcdc_change(changed);
            self.ppu.pipeline.leaves_8000 = false;
            self.ppu.pipeline.enters_8000 = false;
            self.ppu.lcdc = value;
        }
        if old & !value & LCDC_WINDOW != 0 && self.ppu.stage != LineProgress::Rendering {
            self.ppu.pipeline.window_active = false;
        }
        self.switch_on_lcd(t, old);
    }
}
