//! The meaning of each dot: LY, the compared line, the mode, and the blocked accesses to VRAM and
//! OAM.
//!
//! A line has 456 dots. An access at T-cycle t sees the events of the dots before t. The constants
//! here are the dots of the events themselves; a CPU accesses only every fourth dot, so to programs
//! an event may seem up to 4 dots later. Sources: the mooneye acceptance tests,
//! mealybug-tearoom-tests and the research on which these are based.

use crate::machine::{COLOR, Machine};
#[cfg(not(color))]
use crate::ppu::LineProgress;
#[cfg(color)]
use crate::ppu::color_timing::{HDMA_DOTS, in_mode3};
use crate::ppu::whole_line::{is_next_line_plain, mode3_end, next_mode3_end};
use crate::ppu::{LAST_LINE, LINE_TCYCLES, Ppu, VBLANK_DOT, VBLANK_LINE, stat, watches_hblank};

/// LY changes.
pub(super) const LY_DOT: u16 = 3;
/// Mode 2 begins, and the new line is compared with LYC.
pub(super) const MODE2_DOT: u16 = 4;
/// VRAM can no longer be read from this dot on; OAM can be written for four dots.
#[cfg(not(color))]
const SCAN_TAIL_DOT: u16 = 80;
/// Mode 3 begins.
pub(super) const MODE3_DOT: u16 = 84;
/// The renderer starts on this dot, except in the first line after the LCD was switched on.
pub(super) const MODE3_START: u16 = 89;
/// Mode 3 ends on this dot at the earliest.
const EARLIEST_MODE3_END: u16 = 256;
/// Mode 3 begins on the first line after the LCD was switched on.
const FIRST_LINE_MODE3_DOT: u16 = 86;
/// Value that means that LYC is compared with no line: on some dots of line 153 and on the first
/// dots of all lines.
pub(super) const NO_LINE: u16 = 0x1ff;
/// Dots of VBlank lines on which something can change.
#[cfg(not(color))]
pub(super) const VBLANK_EVENTS: [u16; 7] = [0, 2, 4, VBLANK_DOT, 6, 8, LYC_0_DOT];
/// Dots of VBlank lines on which something can change.
#[cfg(color)]
pub(super) const VBLANK_EVENTS: [u16; 4] = [VBLANK_OAM_DOT, MODE2_DOT, VBLANK_DOT, LYC_0_DOT];
/// Dot of line 153 from which line 0 is compared with LYC.
pub(super) const LYC_0_DOT: u16 = 13;
/// Dot of line 144 on which the OAM source rises.
const VBLANK_OAM_DOT: u16 = if COLOR { 3 } else { 2 };
/// Dot from which the comparison of the new line with LYC drives the interrupt line. On line 0 the
/// OAM source rises on this dot.
pub(super) const COMPARE_DOT: u16 = 5;
/// Dot of the last event of a visible line before mode 3; on the Color a comparison of WY.
pub(super) const LAST_BEGINNING_DOT: u16 = if COLOR { 7 } else { COMPARE_DOT };

/// Position in the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Beam {
    /// The line the PPU works on, 0 to 153. LY follows it with a delay.
    pub line: u8,
    /// Dots of the line that have passed: all events before `dot` are done.
    pub dot: u16,
    /// Time at which the line began, in T-cycles.
    pub line_start: u32,
    /// True for the first line after the LCD was switched on, which is shorter and has no mode 2.
    pub first_line: bool,
}

/// Meaning of the position. `late` is the Color's `Ppu::lateness`.
impl Beam {
    /// LY as the CPU reads it.
    #[cfg(not(color))]
    pub fn ly(&self, _late: u16) -> u8 {
        let line = self.line;
        if line == LAST_LINE {
            // LY reads 153 for only four dots of line 153.
            if self.dot > 6 {
                0
            } else if self.dot > 2 {
                LAST_LINE
            } else {
                LAST_LINE - 1
            }
        } else if line == 0 {
            0
        } else {
            let change = if line < VBLANK_LINE { LY_DOT } else { 2 };
            if self.dot > change { line } else { line - 1 }
        }
    }

    /// The line that is compared with LYC, or `NO_LINE`.
    #[cfg(not(color))]
    pub(crate) fn compared_line(&self, _late: u16) -> u16 {
        let line = self.line as u16;
        let dot = self.dot;
        if line == 0 {
            0
        } else if line < VBLANK_LINE as u16 {
            if dot <= LY_DOT {
                line - 1
            } else if dot <= COMPARE_DOT {
                NO_LINE
            } else {
                line
            }
        } else if dot <= 2 {
            // wilbertpol's ly_lyc_144-GS and ly_lyc_153-GS.
            line - 1
        } else if line < LAST_LINE as u16 {
            if dot <= MODE2_DOT { NO_LINE } else { line }
        } else if dot > LYC_0_DOT {
            0
        } else if dot > 6 && dot <= 8 {
            line
        } else {
            NO_LINE
        }
    }

    /// The mode, except after `mode3_dot` in a visible line.
    pub(crate) fn mode_before_drawing(&self, late: u16) -> u8 {
        if self.line >= VBLANK_LINE {
            (self.line > VBLANK_LINE || self.dot > VBLANK_DOT) as u8
        } else if self.first_line {
            0
        } else if self.dot > MODE2_DOT {
            2
        } else {
            (self.line == 0 && self.dot <= LY_DOT + late) as u8
        }
    }

    /// The dot on which the renderer starts.
    pub(crate) fn mode3_start(&self) -> u16 {
        if self.first_line { 91 } else { MODE3_START }
    }

    /// The dot on which mode 3 begins.
    pub(super) fn mode3_dot(&self) -> u16 {
        if self.first_line { FIRST_LINE_MODE3_DOT } else { MODE3_DOT }
    }

    /// Returns the sources of STAT, besides LY = LYC, that drive the interrupt line, if mode 3 ends
    /// on `mode3_end`.
    pub fn sources(&self, mode3_end: u16) -> u8 {
        if self.line > VBLANK_LINE || self.line == VBLANK_LINE && self.dot > VBLANK_DOT {
            stat::VBLANK_SOURCE
        } else if self.line == VBLANK_LINE {
            // At the beginning of line 144 the OAM source drives the interrupt line up to mode 1,
            // without a scan (mooneye vblank_stat_intr).
            if self.dot > VBLANK_OAM_DOT {
                stat::HBLANK_SOURCE | stat::OAM_SOURCE
            } else {
                stat::HBLANK_SOURCE
            }
        } else if self.first_line {
            let is_over = self.dot > mode3_end + 1 && self.dot > FIRST_LINE_MODE3_DOT;
            if is_over { stat::HBLANK_SOURCE } else { 0 }
        } else if self.line == 0 && self.dot <= COMPARE_DOT {
            stat::VBLANK_SOURCE
        } else if self.dot <= LY_DOT {
            stat::HBLANK_SOURCE
        } else if self.dot <= COMPARE_DOT {
            // The OAM source rises one dot before the mode does, except on line 0.
            stat::OAM_SOURCE
        } else if self.dot > MODE3_DOT && self.dot > mode3_end + 1 {
            stat::HBLANK_SOURCE
        } else {
            0
        }
    }

    /// T-cycles from the current line's start to the next time at which the PPU reaches a dot of
    /// another line.
    pub(super) fn tcycles_to(&self, line: u8, dot: u16) -> u32 {
        let is_past = line < self.line || line == self.line && dot < self.dot;
        let lines = if is_past { line as u32 + 154 } else { line as u32 } - self.line as u32;
        lines * LINE_TCYCLES as u32 + dot as u32
    }

    /// T-cycles from the current line's start to the next comparison that finds LYC equal.
    fn tcycles_to_lyc(&self, lyc: u8) -> u32 {
        match lyc {
            0 => self.tcycles_to(LAST_LINE, LYC_0_DOT),
            153 => self.tcycles_to(LAST_LINE, if COLOR { COMPARE_DOT } else { 6 }),
            1..=152 => self.tcycles_to(lyc, COMPARE_DOT),
            // No line has this number.
            _ => self.tcycles_to(VBLANK_LINE, VBLANK_DOT),
        }
    }

    // The Color's dot is 0.
    #[allow(clippy::absurd_extreme_comparisons)]
    fn tcycles_to_oam_source(&self) -> u32 {
        if self.line == VBLANK_LINE && self.dot <= VBLANK_OAM_DOT {
            self.tcycles_to(VBLANK_LINE, VBLANK_OAM_DOT)
        } else if self.line > VBLANK_LINE {
            self.tcycles_to(0, COMPARE_DOT)
        } else if self.dot <= LY_DOT {
            LY_DOT as u32
        } else if self.dot <= COMPARE_DOT {
            COMPARE_DOT as u32
        } else if self.line == VBLANK_LINE {
            self.tcycles_to(0, COMPARE_DOT)
        } else if self.line == VBLANK_LINE - 1 {
            LINE_TCYCLES as u32 + VBLANK_OAM_DOT as u32
        } else {
            LINE_TCYCLES as u32 + LY_DOT as u32
        }
    }

    /// Returns true if this line has used the lower bits of SCX, which delay the first pixel.
    pub(super) fn is_fine_scroll_over(&self) -> bool {
        self.dot > self.mode3_start() + 10
    }
}

impl Ppu {
    /// Dots by which some events come later on the Color at double speed.
    #[inline(always)]
    pub(crate) fn lateness(&self) -> u16 {
        #[cfg(color)]
        let late = self.double_speed as u16;
        #[cfg(not(color))]
        let late = 0;
        late
    }
}

/// Dots by which LY 153, the mode of VBlank and the lock of OAM last longer on a CPU CGB E, and on
/// any Color at double speed (AGE `ly-cgbE`, `mode-timing-cgbE`, `read-timing-oam-cgbE`).
#[inline(always)]
pub(crate) fn end_lateness(ppu: &Ppu) -> u16 {
    let late = ppu.lateness();
    #[cfg(color)]
    #[cfg(not(usual_revision))]
    let late = late | ppu.is_cgb_e as u16;
    late
}

/// T-cycles from the current line's start to the earliest dot on which the interrupt line can see
/// HBlank of this line. A write to SCX schedules again. In line 0, in which frames end, the guess
/// is not used before mode 3, so saved states do not depend on it.
fn tcycles_to_guessed_hblank(ppu: &Ppu) -> u32 {
    if ppu.beam.line == 0 && ppu.beam.dot <= MODE3_DOT {
        MODE3_DOT as u32
    } else {
        earliest_hblank(ppu.fine_scroll()) as u32
    }
}

/// T-cycles from the current line's start to the earliest dot of the following lines on which the
/// interrupt line can see HBlank.
fn tcycles_to_next_hblank(ppu: &Ppu) -> u32 {
    if ppu.beam.line >= VBLANK_LINE - 1 {
        ppu.beam.tcycles_to(0, MODE3_DOT)
    } else {
        (LINE_TCYCLES + next_hblank(ppu)) as u32
    }
}

/// The earliest dot of the next line on which the interrupt line can see HBlank; the exact dot if
/// the line has the objects of this one. A write that may move it schedules again.
fn next_hblank(ppu: &Ppu) -> u16 {
    if ppu.scan.is_carried_on() && is_next_line_plain(ppu) {
        next_mode3_end(ppu) + 1
    } else {
        earliest_hblank(ppu.scx & 7)
    }
}

/// The earliest dot on which the interrupt line can see HBlank: each of 168 pixels takes a dot, and
/// so does each pixel that is scrolled away, except one if the window begins among them.
fn earliest_hblank(fine_scroll: u8) -> u16 {
    EARLIEST_MODE3_END + fine_scroll.min(6) as u16 + 1
}

/// T-cycles from the current line's start to the next dot on which HBlank has an effect; may be too
/// early, never too late.
fn tcycles_to_hblank(machine: &mut Machine) -> u32 {
    let dot = machine.ppu.beam.dot;
    if machine.ppu.beam.line >= VBLANK_LINE {
        return tcycles_to_next_hblank(&machine.ppu);
    }
    // `mode3_end` is set only after an access has asked for it, so the guess must not depend on it.
    let guess = tcycles_to_guessed_hblank(&machine.ppu);
    if (dot as u32) < guess {
        return guess;
    }
    let end = mode3_end(machine);
    #[cfg(color)]
    let end = end - machine.ppu.hblank_ahead;
    if dot <= end + 1 {
        return end as u32 + 1;
    }
    #[cfg(color)]
    if machine.hdma.active && dot < machine.ppu.mode3_end + HDMA_DOTS {
        return machine.ppu.mode3_end as u32 + HDMA_DOTS as u32 - 1;
    }
    tcycles_to_next_hblank(&machine.ppu)
}

/// The mode in STAT.
pub(crate) fn ppu_mode(machine: &mut Machine) -> u8 {
    if machine.ppu.beam.line >= VBLANK_LINE || machine.ppu.beam.dot <= machine.ppu.beam.mode3_dot()
    {
        let mode = machine.ppu.beam.mode_before_drawing(end_lateness(&machine.ppu));
        // On a DMG, STAT shows mode 0 while OAM DMA blocks the scan (docboy
        // `oam_scan_blocked_by_dma_*`).
        if !COLOR && mode == 2 && machine.dma.active { 0 } else { mode }
    } else if in_mode3(machine) {
        3
    } else {
        0
    }
}

/// Returns true if mode 3 has begun and not ended yet.
#[cfg(not(color))]
pub(crate) fn in_mode3(machine: &mut Machine) -> bool {
    machine.ppu.stage != LineProgress::Done && machine.ppu.beam.dot <= mode3_end(machine)
}

/// Returns true if the PPU keeps the CPU from reading VRAM.
#[cfg(not(color))]
pub(crate) fn is_vram_read_blocked(machine: &mut Machine) -> bool {
    let begins = if machine.ppu.beam.first_line { FIRST_LINE_MODE3_DOT } else { SCAN_TAIL_DOT };
    blocks_from(machine, begins)
}

/// Returns true if the PPU keeps the CPU from writing VRAM.
#[cfg(not(color))]
pub(crate) fn is_vram_write_blocked(machine: &mut Machine) -> bool {
    let begins = machine.ppu.beam.mode3_dot();
    blocks_from(machine, begins)
}

/// Returns true if the PPU keeps the CPU from reading OAM.
#[cfg(not(color))]
pub(crate) fn is_oam_read_blocked(machine: &mut Machine) -> bool {
    let begins = if machine.ppu.beam.first_line { FIRST_LINE_MODE3_DOT } else { LY_DOT };
    blocks_from(machine, begins)
}

/// Returns true if the PPU keeps the CPU from writing OAM.
#[cfg(not(color))]
pub(crate) fn is_oam_write_blocked(machine: &mut Machine) -> bool {
    if machine.ppu.beam.first_line {
        return blocks_from(machine, MODE3_DOT);
    }
    let is_tail = machine.ppu.beam.dot > SCAN_TAIL_DOT && machine.ppu.beam.dot <= MODE3_DOT;
    !is_tail && blocks_from(machine, MODE2_DOT)
}

#[cfg(not(color))]
fn blocks_from(machine: &mut Machine, begins: u16) -> bool {
    machine.ppu.is_on()
        && machine.ppu.beam.line < VBLANK_LINE
        && machine.ppu.beam.dot > begins
        && (machine.ppu.beam.dot <= MODE3_DOT || in_mode3(machine))
}

/// T-cycles from the current line's start to the frame's end, VBlank or, if it is watched, HBlank.
#[inline(never)]
fn tcycles_to_vblank(machine: &mut Machine, watches_hblank: bool) -> u32 {
    let frame_end = machine.ppu.beam.tcycles_to(0, MODE2_DOT);
    let first = frame_end.min(machine.ppu.beam.tcycles_to(VBLANK_LINE, VBLANK_DOT));
    if watches_hblank { first.min(tcycles_to_hblank(machine)) } else { first }
}

/// Computes the next time at which the PPU may raise an interrupt or end the frame; may be too
/// early, never too late.
pub fn schedule_ppu(machine: &mut Machine) {
    let watches = watches_hblank(machine);
    let line = machine.ppu.beam.line;
    let mut tcycles = if watches && line > 0 && line < VBLANK_LINE - 1 {
        // HBlank comes before the frame's end and VBlank.
        tcycles_to_hblank(machine)
    } else {
        tcycles_to_vblank(machine, watches)
    };
    let sources = machine.ppu.stat;
    if sources & stat::ALL_SOURCES != 0 {
        if sources & stat::LYC_SOURCE != 0 {
            tcycles = tcycles.min(machine.ppu.beam.tcycles_to_lyc(machine.ppu.lyc));
        }
        if sources & stat::OAM_SOURCE != 0 {
            tcycles = tcycles.min(machine.ppu.beam.tcycles_to_oam_source());
        }
    }
    #[cfg(color)]
    if machine.ppu.lyc_request || machine.ppu.lyc_release {
        tcycles = tcycles.min(machine.ppu.lyc_request_at.wrapping_sub(machine.ppu.beam.line_start));
    }
    set_deadline(machine, tcycles);
}

/// Sets the deadline to a time after the current line's start. Accesses see an event of dot d after
/// that dot.
#[inline(always)]
fn set_deadline(machine: &mut Machine, tcycles: u32) {
    let moment = machine.ppu.beam.line_start.wrapping_add(tcycles);
    let mcycles = (moment.wrapping_sub(machine.tcycles()) as i32 >> machine.tcycle_shift()) + 1;
    machine.ppu.deadline = machine.now.wrapping_add(mcycles.max(1) as u32);
}

/// Schedules as `schedule_ppu` does, in an HBlank that has had all its effects.
#[cfg(color)]
pub(super) fn schedule_in_hblank(machine: &mut Machine) {
    let ppu = &machine.ppu;
    let is_hblank_next = ppu.stat & stat::ALL_SOURCES == stat::HBLANK_SOURCE
        && ppu.beam.line < VBLANK_LINE - 1
        && !(ppu.lyc_request || ppu.lyc_release);
    if is_hblank_next && !machine.hdma.active {
        let dot = next_hblank(&machine.ppu);
        set_deadline(machine, (LINE_TCYCLES + dot) as u32);
    } else {
        schedule_ppu(machine);
    }
}

/// Schedules after `pass_to_next_hblank`.
#[cfg(color)]
pub(super) fn schedule_next_hblank(machine: &mut Machine) {
    let ppu = &machine.ppu;
    if ppu.beam.line >= VBLANK_LINE - 1 {
        schedule_ppu(machine);
        return;
    }
    // With this line's objects and scroll, the next line's mode 3 is as long.
    let is_alike = ppu.scan.is_carried_on();
    let dot = if is_alike { ppu.mode3_end + 1 } else { earliest_hblank(ppu.scx & 7) };
    set_deadline(machine, (LINE_TCYCLES + dot) as u32);
}
