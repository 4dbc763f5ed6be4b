//! The joypad matrix: P1 (FF00) and its interrupt.

use crate::interrupts::{Interrupts, JOYPAD};

/// Buttons held, and the row the program selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Joypad {
    /// A set bit is a held button: right, left, up, down, A, B, SELECT, START from bit 0.
    pub pressed: u8,
    /// Bits 4 and 5 of P1 as written: a zero selects the directions or the buttons.
    pub select: u8,
}

impl Joypad {
    /// The four input lines as P1 shows them: zero where a selected button is held.
    #[inline(always)]
    pub fn lines(&self) -> u8 {
        let mut held = 0;
        if self.select & 0x10 == 0 {
            held |= self.pressed & 0x0f;
        }
        if self.select & 0x20 == 0 {
            held |= self.pressed >> 4;
        }
        held ^ 0x0f
    }

    /// Returns the value of P1.
    pub fn read(&self) -> u8 {
        0xc0 | self.select | self.lines()
    }

    /// A write to P1: only the selection can be written.
    pub fn write(&mut self, interrupts: &mut Interrupts, value: u8) {
        let before = self.lines();
        self.select = value & 0x30;
        self.request_on_fall(interrupts, before);
    }

    /// Holds exactly these buttons from now on.
    pub fn set_pressed(&mut self, interrupts: &mut Interrupts, pressed: u8) {
        let before = self.lines();
        self.pressed = pressed;
        self.request_on_fall(interrupts, before);
    }

    // Pan Docs "Joypad interrupt": requested when any of P1's lower four bits falls.
    fn request_on_fall(&self, interrupts: &mut Interrupts, before: u8) {
        if before & !self.lines() != 0 {
            interrupts.request(JOYPAD);
        }
    }
}
