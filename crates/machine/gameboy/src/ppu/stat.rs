//! The STAT interrupt line: the OR of its enabled sources. Only its rise requests an interrupt, so
//! one source can hide another ("STAT blocking").

use crate::interrupts::{Interrupts, STAT};
use crate::machine::COLOR;
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
    /// Evaluates the line for the sources, besides LY = LYC, that drive it now.
    pub(crate) fn update_stat_line(&mut self, interrupts: &mut Interrupts, sources: u8) {
        let compared = self.compared_line();
        // Between two lines nothing is compared, and the line keeps what it saw last.
        let is_new = !COLOR || self.dot > timing::COMPARE_DOT || self.line == 0;
        if compared != timing::NO_LINE && is_new {
            self.lyc_line = compared == self.lyc as u16;
        }
        let level = self.stat & sources != 0 || self.lyc_line && self.stat & LYC_SOURCE != 0;
        if level && !self.stat_line {
            interrupts.request(STAT);
        }
        self.stat_line = level;
    }

    /// One of the moments at the beginning of a visible line on which the interrupt line can
    /// change.
    pub(crate) fn line_event(&mut self, interrupts: &mut Interrupts, at: u16) {
        self.dot = at + 1;
        if at == timing::COMPARE_DOT {
            // Mode 2 drives the line once more.
            self.update_stat_line(interrupts, OAM_SOURCE);
            self.update_stat_line(interrupts, 0);
        } else {
            let sources = self.sources(0);
            self.update_stat_line(interrupts, sources);
        }
    }

    /// STAT bit 2.
    pub(crate) fn lyc_bit(&self) -> bool {
        if self.is_on() { self.compared_line() == self.lyc as u16 } else { self.lyc_frozen }
    }

    /// Evaluates the line while the LCD is off: of its sources only the frozen comparison is left
    /// (gambatte `lcdoff_lycirqen_*`).
    pub(crate) fn update_lcd_off_stat_line(&mut self, interrupts: &mut Interrupts) {
        let level = self.lyc_frozen && self.stat & LYC_SOURCE != 0;
        if level && !self.stat_line {
            interrupts.request(STAT);
        }
        self.stat_line = level;
    }
}
