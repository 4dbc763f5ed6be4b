//! The rest of a machine, as little of it as the CPU's sources name.

use crate::interrupts::Interrupts;
use crate::joypad::Joypad;

/// What one M-cycle did on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read(u16, u8),
    Write(u16, u8),
    None,
}

pub struct Machine {
    pub ram: Box<[u8; 0x10000]>,
    pub accesses: Vec<Access>,
    pub deadline: u32,
    pub interrupts: Interrupts,
    pub joypad: Joypad,
}

impl Machine {
    pub fn new(enabled: u8) -> Machine {
        Machine {
            ram: Box::new([0; 0x10000]),
            accesses: Vec::new(),
            deadline: 0,
            interrupts: Interrupts { requested: 0, enabled },
            joypad: Joypad { pressed: 0, select: 0 },
        }
    }

    pub fn requested_at(&mut self, _now: u32) -> u8 {
        self.interrupts.requested
    }

    pub fn reset_div(&mut self) {}
}
