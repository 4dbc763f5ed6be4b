//! The STAT interrupt line: the OR of its enabled sources. Only its rise requests an interrupt, so
//! one source can hide another ("STAT blocking").

use crate::interrupts::STAT;
use crate::machine::{COLOR, Machine};
use crate::ppu::{Ppu, timing};

/// STAT bit 3: mode 0.
pub(super) const HBLANK_SOURCE: u8 = 0x08;
/// STAT bit 4: mode 1.
pub(super) const VBLANK_SOURCE: u8 = 0x10;
/// STAT bit 5: mode 2.
pub(super) const OAM_SOURCE: u8 = 0x20;
/// STAT bit 6: LY = LYC.
pub(super) const LYC_SOURCE: u8 = 0x40;
/// Every bit of STAT that can be written.
pub(super) const ALL_SOURCES: u8 = 0x78;

impl Ppu {
    /// Returns the level of the line: LY = LYC, or an enabled source.
    pub(super) fn stat_level(&self, sources: u8) -> bool {
        self.stat & sources != 0 || self.lyc_line && self.stat & LYC_SOURCE != 0
    }

    /// STAT bit 2.
    pub(crate) fn lyc_bit(&self) -> bool {
        if !self.is_on() {
            return self.lyc_frozen;
        }
        let compared = self.beam.compared_line(self.lateness());
        #[cfg(color)]
        #[cfg(not(usual_revision))]
        let compared =
            if self.is_cgb_e { self.beam.line_compared_last(compared) } else { compared };
        compared == self.lyc as u16
    }
}

/// Evaluates the line; `sources` are those, besides LY = LYC, that drive it now.
pub(crate) fn update_stat_line(machine: &mut Machine, sources: u8) {
    let ppu = &mut machine.ppu;
    let compared = ppu.beam.compared_line(ppu.lateness());
    // Between two lines there is no comparison, and the interrupt line keeps the last result.
    let is_new = !COLOR || ppu.beam.dot > timing::COMPARE_DOT || ppu.beam.line == 0;
    if compared != timing::NO_LINE && is_new {
        ppu.lyc_line = compared == ppu.lyc as u16;
    }
    let level = ppu.stat_level(sources);
    set_stat_line(machine, level);
}

/// Handles a dot at the beginning of a visible line on which the interrupt line can change.
pub(crate) fn line_event(machine: &mut Machine, at: u16) {
    machine.ppu.beam.dot = at + 1;
    if at == timing::COMPARE_DOT {
        // Mode 2 drives the line once more.
        update_stat_line(machine, OAM_SOURCE);
        update_stat_line(machine, 0);
    } else {
        let sources = machine.ppu.beam.sources(0);
        update_stat_line(machine, sources);
    }
}

/// Handles both dots of `line_event` at once, in a line after line 0: the OAM source rises while
/// the last line's LYC still drives the line, and falls when the new line is compared.
pub(super) fn pass_line_events(machine: &mut Machine) {
    let level = machine.ppu.stat_level(OAM_SOURCE);
    set_stat_line(machine, level);
    machine.ppu.lyc_line = machine.ppu.beam.line == machine.ppu.lyc;
    let level = machine.ppu.stat_level(OAM_SOURCE);
    set_stat_line(machine, level);
    let level = machine.ppu.stat_level(0);
    set_stat_line(machine, level);
}

/// Evaluates the line while the LCD is off: its only source is the frozen comparison (gambatte
/// `lcdoff_lycirqen_*`).
pub(crate) fn update_lcd_off_stat_line(machine: &mut Machine) {
    let level = machine.ppu.lyc_frozen && machine.ppu.stat & LYC_SOURCE != 0;
    set_stat_line(machine, level);
}

fn set_stat_line(machine: &mut Machine, level: bool) {
    if level && !machine.ppu.stat_line {
        machine.interrupts.request(STAT);
    }
    machine.ppu.stat_line = level;
}
