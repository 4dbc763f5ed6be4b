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
    /// True for a Super Game Boy whose program may send commands.
    pub is_super: bool,
    /// Number of the controller that P1 shows, 0 to 3.
    pub controller: u8,
    /// Number of the last controller before P1 shows controller 0 again.
    pub last_controller: u8,
    /// True if P1 shows the next controller as soon as no row is selected.
    pub advances: bool,
    /// Buttons of the first controller while P1 shows another one.
    pub unseen: u8,
}

impl Joypad {
    /// Makes a joypad without pressed buttons, with these rows selected.
    pub const fn released(select: u8) -> Joypad {
        Joypad {
            pressed: 0,
            select,
            is_super: false,
            controller: 0,
            last_controller: 0,
            advances: false,
            unseen: 0,
        }
    }

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
        // Without a row, the number of the controller (Pan Docs "Reading Multiple Controllers").
        #[cfg(not(usual_revision))]
        if self.select == 0x30 {
            held = self.controller;
        }
        held ^ 0x0f
    }

    /// Returns the value of P1.
    #[inline]
    pub fn read(&self) -> u8 {
        0xc0 | self.select | self.lines()
    }

    /// A write to P1: only the selection can be written.
    #[inline]
    pub fn write(&mut self, interrupts: &mut Interrupts, value: u8) {
        let before = self.lines();
        self.select = value & 0x30;
        self.request_on_fall(interrupts, before);
    }

    /// Holds exactly these buttons from now on.
    #[inline]
    pub fn set_pressed(&mut self, interrupts: &mut Interrupts, pressed: u8) {
        #[cfg(not(usual_revision))]
        if self.controller != 0 {
            self.unseen = pressed;
            return;
        }
        self.press_shown(interrupts, pressed);
    }

    /// Holds exactly these buttons on the controller that P1 shows.
    pub(crate) fn press_shown(&mut self, interrupts: &mut Interrupts, pressed: u8) {
        let before = self.lines();
        self.pressed = pressed;
        self.request_on_fall(interrupts, before);
    }

    /// Shows another controller in P1, with these buttons held if it is not the first one.
    pub(crate) fn show_controller(&mut self, number: u8, pressed: u8) {
        if self.controller == 0 {
            self.unseen = self.pressed;
        }
        self.controller = number;
        self.pressed = if number == 0 { self.unseen } else { pressed };
    }

    // Pan Docs "Joypad interrupt": requested when any of P1's lower four bits falls.
    #[inline]
    fn request_on_fall(&self, interrupts: &mut Interrupts, before: u8) {
        if before & !self.lines() != 0 {
            interrupts.request(JOYPAD);
        }
    }
}
