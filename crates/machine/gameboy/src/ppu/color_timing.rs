//! The meaning of each dot on the Color, where it differs from the original, and at double speed;
//! `timing` has the common part. Sources: gambatte's tests of a CPU CGB C and, where a CPU CGB E
//! differs, AGE's tests (`timing::end_lateness`).
//!
//! | what an access on this dot sees | single speed | double speed |
//! |---|---|---|
//! | LY of the new line | 4 | 4 |
//! | of LY the bits that both lines share (AGE `lcd-align-ly`) | 2, 3 | 3 |
//! | line 153 as 0 | 8 | 9 |
//! | no line compared with LYC | 4, 5 | 5 |
//! | mode 0 or open VRAM and OAM, after the end of mode 3 | 1 | 2 |
//! | open palettes, after the end of mode 3 | 5 | 4 |
//! | VRAM closed | 87 | 86 |
//! | palettes closed | 88 | 87 |
//! | OAM closed for reads, writes | 4, 4 | 5, 4 |
//! | HDMA due, after the end of mode 3 | 3 | 3 |
#![cfg(color)]

use crate::interrupts::STAT;
use crate::machine::{Machine, is_before};
use crate::ppu::stat::update_lcd_off_stat_line;
use crate::ppu::timing::{Beam, COMPARE_DOT, MODE3_DOT, NO_LINE, end_lateness};
use crate::ppu::whole_line::mode3_end;
use crate::ppu::{LAST_LINE, LINE_TCYCLES, LineProgress, Ppu, VBLANK_DOT, VBLANK_LINE, stat};
use crate::ppu::{advance_ppu, sync_ppu};

/// Dot of line 153 from which line 0 is compared.
const LYC_0_FROM: u16 = 14;
/// Dots after the end of mode 3 on which HDMA is due.
pub(super) const HDMA_DOTS: u16 = 3;
/// Dots after the end of mode 3 after which HBlank has no more effects, and all memory is open.
pub(super) const HBLANK_EDGE_DOTS: u16 = 4;
/// Dot of a line on which WY is compared with it, at its beginning.
const WY_DOT: u16 = 3;
/// Dot of line 0 on which WY is compared with it.
const WY_0_DOT: u16 = 7;
/// Dots of the next line in which HBlank goes on for HDMA.
const HDMA_TAIL_DOT: u16 = 5;

impl Ppu {
    /// Compares WY with the line at the line's beginning. A second comparison follows on the line's
    /// last dot.
    pub(super) fn meet_wy_between(&mut self, from: u16, to: u16) {
        let dot = if self.beam.line == 0 { WY_0_DOT } else { WY_DOT };
        if from <= dot && to > dot {
            self.meet_wy_on(self.beam.line);
        }
    }
}

impl Beam {
    /// LY as the CPU reads it.
    pub fn ly(&self, late: u16) -> u8 {
        let line = self.line;
        if line == 0 || line == LAST_LINE && self.dot > 7 + late {
            0
        } else if self.dot > 3 {
            line
        } else if self.dot > 1 + late {
            line & (line - 1)
        } else {
            line - 1
        }
    }

    /// The line that is compared with LYC, or `NO_LINE`.
    pub(crate) fn compared_line(&self, late: u16) -> u16 {
        let line = self.line as u16;
        let unseen = 2 - late;
        if line == 0 {
            0
        } else if self.dot > COMPARE_DOT {
            if line < LAST_LINE as u16 || self.dot < LYC_0_FROM - unseen {
                line
            } else if self.dot < LYC_0_FROM {
                NO_LINE
            } else {
                0
            }
        } else if self.dot + unseen > COMPARE_DOT {
            NO_LINE
        } else {
            line - 1
        }
    }

    /// The line that STAT of a CPU CGB E compares with LYC. On dots without a comparison, STAT
    /// keeps the preceding line (docboy `ly_152_lyc_eq_ly_*`, gbc-hw-tests `lcd_frame_timings`).
    // UNVERIFIED: a LYC that is written on such a dot is compared with that line.
    #[cfg(not(usual_revision))]
    pub(crate) fn line_compared_last(&self, compared: u16) -> u16 {
        if compared != NO_LINE {
            compared
        } else if self.dot > COMPARE_DOT {
            self.line as u16
        } else {
            self.line as u16 - 1
        }
    }

    /// Sources, besides LY = LYC, that a write to STAT finds active, given when mode 3 ends.
    pub(super) fn written_sources(&self, mode3_end: u16, late: u16) -> u8 {
        let dot = self.dot;
        let is_edge = dot > 3 && dot <= COMPARE_DOT;
        if self.line > VBLANK_LINE || self.line == VBLANK_LINE && dot > VBLANK_DOT {
            stat::VBLANK_SOURCE
        } else if self.line == VBLANK_LINE {
            let hblank = if dot <= 3 + late { stat::HBLANK_SOURCE } else { 0 };
            let scan = if late != 0 && dot == 4 { stat::OAM_SOURCE } else { 0 };
            hblank | scan
        } else if self.first_line {
            self.sources(mode3_end)
        } else if self.line == 0 && dot <= 3 + late {
            stat::VBLANK_SOURCE
        } else if self.line == 0 && dot <= 6 {
            if late != 0 && dot == 6 { stat::OAM_SOURCE } else { 0 }
        } else if dot <= 3 {
            stat::HBLANK_SOURCE
        } else if is_edge || late != 0 && dot == 6 {
            stat::OAM_SOURCE
        } else if dot > MODE3_DOT && dot > mode3_end + 1 {
            stat::HBLANK_SOURCE
        } else {
            0
        }
    }
}

/// The dot on which mode 3 of this line ends or has ended.
fn end_of_mode3(machine: &mut Machine) -> u16 {
    if machine.ppu.stage == LineProgress::Done { machine.ppu.mode3_end } else { mode3_end(machine) }
}

/// Returns true if the CPU sees mode 3, which has begun, go on.
pub(crate) fn in_mode3(machine: &mut Machine) -> bool {
    machine.ppu.beam.dot <= end_of_mode3(machine) + machine.ppu.lateness()
}

/// Returns true if the chip is a CPU CGB E.
#[inline(always)]
pub(crate) fn is_cgb_e(_machine: &Machine) -> bool {
    #[cfg(not(usual_revision))]
    let is_cgb_e = _machine.ppu.is_cgb_e;
    #[cfg(usual_revision)]
    let is_cgb_e = false;
    is_cgb_e
}

fn blocks(machine: &mut Machine, begins: u16, beyond_end: u16) -> bool {
    machine.ppu.is_on()
        && machine.ppu.beam.line < VBLANK_LINE
        && machine.ppu.beam.dot >= begins
        && (machine.ppu.beam.dot <= MODE3_DOT
            || machine.ppu.beam.dot <= end_of_mode3(machine) + beyond_end)
}

/// Returns true if the PPU keeps the CPU from reading VRAM.
pub(crate) fn is_vram_read_blocked(machine: &mut Machine) -> bool {
    let late = machine.ppu.lateness();
    blocks(machine, if machine.ppu.beam.first_line { 89 - late } else { 87 - late }, late)
}

/// Returns true if the PPU keeps the CPU from writing VRAM.
pub(crate) fn is_vram_write_blocked(machine: &mut Machine) -> bool {
    is_vram_read_blocked(machine)
}

/// Returns true if the PPU keeps the CPU from reading OAM.
pub(crate) fn is_oam_read_blocked(machine: &mut Machine) -> bool {
    let late = machine.ppu.lateness();
    let begins = if machine.ppu.beam.first_line {
        85 + 2 * late
    } else if is_cgb_e(machine) {
        4
    } else {
        4 + late
    };
    let end_late = end_lateness(&machine.ppu);
    blocks(machine, begins, end_late)
}

/// Returns true if the PPU keeps the CPU from writing OAM.
pub(crate) fn is_oam_write_blocked(machine: &mut Machine) -> bool {
    let late = machine.ppu.lateness();
    blocks(machine, if machine.ppu.beam.first_line { 85 + late } else { 4 }, late)
}

/// Returns true if the PPU keeps the CPU from the Color's palettes.
pub(crate) fn is_palette_blocked(machine: &mut Machine) -> bool {
    let late = machine.ppu.lateness();
    blocks(machine, if machine.ppu.beam.first_line { 89 } else { 88 - late }, 4 - late)
}

/// Returns true if HDMA copies a block at once, some dots from now.
pub(crate) fn is_hdma_period(machine: &mut Machine, ahead: u16) -> bool {
    let dot = machine.ppu.beam.dot + ahead;
    if !machine.ppu.is_on() || machine.ppu.beam.line > VBLANK_LINE {
        false
    } else if dot < HDMA_TAIL_DOT {
        machine.ppu.beam.line > 0
    } else if machine.ppu.beam.line == VBLANK_LINE || dot <= MODE3_DOT {
        machine.ppu.beam.first_line
    } else {
        dot >= end_of_mode3(machine) + HDMA_DOTS && dot < LINE_TCYCLES + HDMA_TAIL_DOT
    }
}

/// Returns the sources, besides LY = LYC, that drive the interrupt line now. The end of mode 3 is
/// computed only if STAT selects HBlank as a source.
fn driving_sources(machine: &mut Machine) -> u8 {
    let asks = machine.ppu.stat & stat::HBLANK_SOURCE != 0;
    let end = if asks { end_of_mode3_or_none(machine) } else { 0 };
    machine.ppu.beam.sources(end)
}

fn end_of_mode3_or_none(machine: &mut Machine) -> u16 {
    let draws = machine.ppu.beam.line < VBLANK_LINE && machine.ppu.beam.dot > MODE3_DOT;
    if draws { end_of_mode3(machine) - machine.ppu.hblank_ahead } else { 0 }
}

/// A write to STAT. Sources that it enables count at once. HBlank and LYC drive the line for two
/// more T-cycles of the CPU after a write disables them, and sources that hold the line high keep
/// it there (gambatte `m1irq_m0disable_*`, `lyc153_late_m1disable_*`).
pub(crate) fn write_stat(machine: &mut Machine, t: u32, value: u8) {
    sync_ppu(machine, t);
    let old = machine.ppu.stat;
    let new = value & stat::ALL_SOURCES;
    machine.ppu.stat = new;
    if !machine.ppu.is_on() {
        update_lcd_off_stat_line(machine);
        return;
    }
    let end = end_of_mode3_or_none(machine);
    let ppu = &mut machine.ppu;
    let compared = ppu.beam.compared_line(ppu.lateness());
    let mut sources = ppu.beam.written_sources(end, ppu.lateness());
    let driving = ppu.beam.sources(end);
    ppu.lyc_line = compared == ppu.lyc as u16;
    if compared == NO_LINE {
        // LYC does not drive the line on this dot (gambatte `late_enable_after_lycint_*`).
        ppu.stat_line = old & driving != 0;
    }
    if ppu.beam.line == 0 && ppu.beam.dot == COMPARE_DOT && !ppu.beam.first_line {
        // VBlank no longer drives the line (gambatte `lycstatwirq_trigger_ly00_10_50_*`).
        ppu.stat_line = ppu.lyc_line && old & stat::LYC_SOURCE != 0 || old & stat::OAM_SOURCE != 0;
    }
    if new & stat::HBLANK_SOURCE != 0 {
        // Both sources together are one level.
        sources &= !stat::OAM_SOURCE;
    }
    if ppu.stat_level(sources) && !ppu.stat_line && old & sources == 0 {
        machine.interrupts.request(STAT);
        machine.ppu.stat_line = true;
    }
    machine.ppu.stat = new | old & (stat::HBLANK_SOURCE | stat::LYC_SOURCE | driving);
    sync_ppu(machine, t.wrapping_add(2 - machine.ppu.lateness() as u32));
    machine.ppu.stat = new;
    let sources = driving_sources(machine);
    machine.ppu.stat_line = machine.ppu.stat_level(sources);
}

/// A write to LYC. The new value is compared with the line that the PPU will compare some dots
/// later; the old value is compared for two more T-cycles of the CPU. At single speed the interrupt
/// comes five dots later.
pub(crate) fn write_lyc(machine: &mut Machine, t: u32, value: u8) {
    sync_ppu(machine, t);
    let late = machine.ppu.lateness();
    let (line, dot) = (machine.ppu.beam.line, machine.ppu.beam.dot);
    let compared = machine.ppu.beam.compared_line(machine.ppu.lateness());
    let old = machine.ppu.lyc;
    if old == value {
        return;
    }
    sync_ppu(machine, t.wrapping_add(2 - late as u32));
    machine.ppu.lyc = value;
    if !machine.ppu.is_on() {
        return;
    }
    let is_ahead = dot <= COMPARE_DOT && line > 0;
    let target = if line == LAST_LINE && dot >= 8 + late {
        0
    } else if is_ahead && dot < late {
        line - 1
    } else {
        line
    };
    let matches = target == value;
    let was_high = if is_ahead && line <= VBLANK_LINE && target == line {
        compared == old as u16 && machine.ppu.stat & stat::LYC_SOURCE != 0
    } else {
        machine.ppu.stat_line
    };
    let sources = driving_sources(machine);
    if !matches && machine.ppu.lyc_line {
        // The line stays high for a while (gambatte `lycdisable_ff45_*`).
        machine.ppu.lyc_release = true;
        machine.ppu.lyc_request = false;
        machine.ppu.lyc_request_at = t.wrapping_add(if late != 0 { 2 } else { 6 });
        return;
    }
    machine.ppu.lyc_release = false;
    machine.ppu.lyc_line = matches;
    let requests = matches && machine.ppu.stat & stat::LYC_SOURCE != 0 && !was_high;
    machine.ppu.stat_line = machine.ppu.stat_level(sources);
    if requests && late != 0 {
        machine.interrupts.request(STAT);
    } else if requests {
        machine.ppu.lyc_request = true;
        machine.ppu.lyc_request_at = t.wrapping_add(4);
    }
}

/// Lets a write to LYC have its effect on the interrupt line.
pub(crate) fn follow_lyc(machine: &mut Machine, until: u32) {
    let at = machine.ppu.lyc_request_at;
    if !(machine.ppu.lyc_request || machine.ppu.lyc_release) || !is_before(at, until) {
        return;
    }
    let requests = machine.ppu.lyc_request;
    machine.ppu.lyc_request = false;
    machine.ppu.lyc_release = false;
    advance_ppu(machine, at);
    if requests {
        machine.interrupts.request(STAT);
    } else {
        let compared = machine.ppu.beam.compared_line(machine.ppu.lateness());
        machine.ppu.lyc_line = compared == machine.ppu.lyc as u16;
        let sources = driving_sources(machine);
        machine.ppu.stat_line &= machine.ppu.stat_level(sources);
    }
}
