//! Writes to FF40-FF4B on the Color.
//!
//! Times at which a write takes effect, relative to the T-cycle `t` at which a read in the same
//! M-cycle would take its value. Sources for a CPU CGB C: mealybug-tearoom-tests for the picture,
//! gambatte's tests for the timing. `registers` has the original's times.
//!
//! | register | single speed | double speed |
//! |---|---|---|
//! | LCDC: LCD | `t` | `t` |
//! | LCDC: height of objects | `t + 1` | `t` |
//! | LCDC: others | `t`; tiles' data garbles what is fetched on that dot | `t - 1` |
//! | SCY, SCX | `t` | `t - 1` |
//! | BGP, OBP0, OBP1 | `t - 1`, of a CPU CGB D or E `t - 2` | `t` |
//! | WX | `t + 1` | `t` |
//! | WY, compared at a line's beginning and end | `t` | `t - 1` |
//! | WY, compared within the line | `t + 4` | `t` |
#![cfg(color)]

use crate::bus::bring_deadline_forward;
use crate::machine::Machine;
use crate::ppu::color_timing::{is_cgb_e, is_hdma_period, write_lyc, write_stat};
use crate::ppu::registers::{before_lcdc_change, switch_off_lcd, switch_on_lcd};
use crate::ppu::scan::{drop_carried_scan, scan_objects};
use crate::ppu::sync_ppu;
use crate::ppu::timing::{schedule_in_hblank, schedule_ppu};
use crate::ppu::whole_or_by_dots::{before_picture_change, before_timing_change};
use crate::ppu::{
    LCDC_ON, LCDC_TALL_OBJECTS, LCDC_TILE_DATA, LCDC_WINDOW, LineProgress, VBLANK_LINE,
    stays_in_hblank, timing,
};

/// A write to SCY or SCX in an HBlank that was found: this line is drawn already, so the PPU need
/// not be synced.
#[inline(always)]
pub(crate) fn write_scroll_in_hblank(machine: &mut Machine, low: u8, value: u8) {
    if low == 0x42 {
        machine.ppu.scy = value;
        return;
    }
    let moves = (machine.ppu.scx ^ value) & 7 != 0;
    machine.ppu.latch_fine_scroll();
    machine.ppu.scx = value;
    if moves {
        move_next_hblank(machine);
    }
}

/// Schedules the next line's HBlank, which the lower bits of SCX move.
#[inline(never)]
pub fn move_next_hblank(machine: &mut Machine) {
    schedule_in_hblank(machine);
    bring_deadline_forward(machine);
}

/// A write to FF40-FF4B.
#[inline(never)]
pub fn write_ppu(machine: &mut Machine, low: u8, value: u8) {
    if (low == 0x42 || low == 0x43) && stays_in_hblank(machine) {
        write_scroll_in_hblank(machine, low, value);
        return;
    }
    let t = machine.tcycles();
    let double = machine.speed.double as u32;
    match low {
        0x40 => write_lcdc(machine, t, value),
        0x41 => write_stat(machine, t, value),
        0x42 => {
            sync_ppu(machine, t.wrapping_sub(double));
            before_picture_change(machine);
            machine.ppu.scy = value;
        }
        0x43 => write_scx(machine, t.wrapping_sub(double), value),
        0x45 => write_lyc(machine, t, value),
        0x47..=0x49 => {
            let early = (1 - double) << is_cgb_e(machine) as u32;
            sync_ppu(machine, t.wrapping_sub(early));
            before_picture_change(machine);
            machine.ppu.set_palette(low - 0x47, value);
        }
        0x4a => write_wy(machine, t, value),
        0x4b => {
            sync_ppu(machine, t.wrapping_add(1 - double));
            before_timing_change(machine);
            machine.ppu.wx = value;
        }
        _ => {}
    }
    if machine.ppu.is_on() {
        schedule_ppu(machine);
    }
}

fn write_scx(machine: &mut Machine, moment: u32, value: u8) {
    sync_ppu(machine, moment);
    if is_scrolled_finely(machine) {
        machine.ppu.latch_fine_scroll();
        before_picture_change(machine);
    } else {
        before_timing_change(machine);
    }
    machine.ppu.scx = value;
}

/// Returns true if this line's fine scroll has matched. An earlier write changes the dot of the
/// match (gambatte `scx_m3_extend_ds_*`).
fn is_scrolled_finely(machine: &mut Machine) -> bool {
    match machine.ppu.stage {
        LineProgress::Done => true,
        LineProgress::Rendering => machine.ppu.pipeline.position >= -8,
        LineProgress::Untouched => {
            if machine.ppu.beam.line >= VBLANK_LINE || !machine.ppu.beam.is_fine_scroll_over() {
                return false;
            }
            // An object at X = 0 delays the first pixel.
            scan_objects(machine, timing::MODE3_DOT + 1);
            machine.ppu.scan.count == 0 || machine.ppu.scan.x[0] > 0
        }
    }
}

/// Changes, in mode 2, the height of the objects that are scanned later. The scan of an object
/// takes two dots, and the object is tall if LCDC says so on either dot (gambatte
/// `late_sizechange*`).
fn write_object_size(machine: &mut Machine, t: u32, size: u8) {
    sync_ppu(machine, t.wrapping_sub(2));
    drop_carried_scan(machine);
    let elapsed = t.wrapping_sub(machine.ppu.beam.line_start);
    if machine.ppu.is_on() && elapsed <= timing::MODE3_DOT as u32 {
        if elapsed > 6 {
            let dot = elapsed as u16 - machine.ppu.double_speed as u16;
            scan_objects(machine, if size == 0 { dot } else { dot - 1 });
        }
        machine.ppu.lcdc = machine.ppu.lcdc & !LCDC_TALL_OBJECTS | size;
    }
}

fn write_wy(machine: &mut Machine, t: u32, value: u8) {
    // gambatte `late_wy_*`.
    let (seen, drawn) =
        if machine.speed.double { (t.wrapping_sub(1), t) } else { (t, t.wrapping_add(4)) };
    sync_ppu(machine, seen);
    machine.ppu.wy = value;
    sync_ppu(machine, drawn);
    before_timing_change(machine);
    machine.ppu.drawn_wy = value;
}

pub(crate) fn write_lcdc(machine: &mut Machine, t: u32, value: u8) {
    if (machine.ppu.lcdc ^ value) & LCDC_TALL_OBJECTS != 0 {
        write_object_size(machine, t, value & LCDC_TALL_OBJECTS);
    }
    let old = machine.ppu.lcdc;
    let switches = (old ^ value) & LCDC_ON != 0;
    let late = (machine.speed.double && !switches) as u32;
    sync_ppu(machine, t.wrapping_sub(late));
    before_lcdc_change(machine, old ^ value);
    let waits = old & !value & LCDC_ON != 0 && machine.hdma.active && !is_hdma_period(machine, 0);
    switch_off_lcd(machine, old, value);
    if waits {
        // Switching the LCD off copies the block that waits for HBlank (gambatte
        // `hdma_disable_display_*`, docboy `hdma_ppu_on_turn_off_during_*`).
        machine.hdma.due = 1;
        machine.deadline = machine.now;
    }
    machine.ppu.lcdc = value;
    let changed = old ^ value;
    let stays_on = old & value & LCDC_ON != 0;
    if stays_on && changed & (LCDC_TILE_DATA | LCDC_TALL_OBJECTS) != 0 {
        machine.ppu.lcdc = value & !LCDC_TALL_OBJECTS | old & LCDC_TALL_OBJECTS;
        if changed & LCDC_TILE_DATA != 0 && machine.ppu.stage == LineProgress::Rendering {
            machine.ppu.pipeline.leaves_8000 = value & LCDC_TILE_DATA == 0;
            machine.ppu.pipeline.enters_8000 = value & LCDC_TILE_DATA != 0;
        }
        sync_ppu(machine, t.wrapping_sub(late).wrapping_add(1));
        if changed & LCDC_TALL_OBJECTS != 0 {
            // A line may have been scanned since `write_object_size`.
            drop_carried_scan(machine);
        }
        before_lcdc_change(machine, changed);
        machine.ppu.pipeline.leaves_8000 = false;
        machine.ppu.pipeline.enters_8000 = false;
        machine.ppu.lcdc = value;
    }
    if old & !value & LCDC_WINDOW != 0 && machine.ppu.stage != LineProgress::Rendering {
        machine.ppu.pipeline.window_active = false;
    }
    switch_on_lcd(machine, t, old);
}
