//! Leaving the program: interrupt dispatch, HALT and STOP.

use crate::cpu::Mode;
use crate::machine::Machine;

impl Machine {
    /// Five M-cycles: the fetch that is thrown away, one idle, PC pushed, and the jump.
    ///
    /// The handler is chosen after the upper byte of PC was pushed, so a push onto IE can change or
    /// cancel it (mooneye interrupts/ie_push); the lower byte is pushed too late to matter.
    pub fn dispatch_interrupt(&mut self, rom: &[u8], cart_ram: &mut [u8]) {
        self.read(rom, cart_ram, self.cpu.pc);
        self.idle();
        self.idle_on_bus(self.cpu.sp);
        self.cpu.sp = self.cpu.sp.wrapping_sub(1);
        self.write(rom, cart_ram, self.cpu.sp, (self.cpu.pc >> 8) as u8);
        let enabled = self.interrupts.enabled;
        self.cpu.sp = self.cpu.sp.wrapping_sub(1);
        self.sync_interrupts();
        let requested = self.interrupts.requested;
        self.write(rom, cart_ram, self.cpu.sp, self.cpu.pc as u8);
        let pending = enabled & requested & 0x1f;
        self.cpu.ime = false;
        if pending == 0 {
            self.cpu.pc = 0;
        } else {
            let number = pending.trailing_zeros() as u16;
            self.interrupts.requested &= !(1 << number);
            self.cpu.pc = 0x40 + number * 8;
        }
    }

    /// `HALT`
    #[inline(never)]
    pub fn halt(&mut self) {
        self.sync_interrupts();
        if self.interrupts.pending() == 0 {
            self.cpu.mode = Mode::Halted;
            self.cpu.just_halted = true;
        } else if self.cpu.ime {
            // EI right before HALT with an interrupt pending: the handler returns to the HALT.
            self.cpu.pc = self.cpu.pc.wrapping_sub(1);
        } else {
            // Pan Docs "halt bug": the byte after HALT is read twice.
            self.cpu.halt_bug = true;
        }
        self.deadline = self.now;
    }

    /// `STOP`, after the chart in Pan Docs "Reducing power consumption".
    #[inline(never)]
    pub fn stop(&mut self) {
        self.sync_interrupts();
        let skips = self.interrupts.pending() == 0;
        self.deadline = self.now;
        if self.joypad.lines() != 0x0f {
            // A button is held already: no STOP, but a HALT if nothing is pending.
            if skips {
                self.cpu.pc = self.cpu.pc.wrapping_add(1);
                self.cpu.mode = Mode::Halted;
                self.cpu.just_halted = true;
            }
        } else {
            self.cpu.mode = Mode::Stopped;
            self.cpu.stop_skips = skips;
            self.reset_div();
        }
    }

    /// An opcode that does not exist: the CPU hangs until power-off.
    #[inline(never)]
    pub fn lock(&mut self) {
        self.cpu.mode = Mode::Locked;
        self.deadline = self.now;
    }
}
