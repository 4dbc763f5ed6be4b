//! Leaving the program: interrupt dispatch, HALT, STOP and the opcodes that hang.

use crate::cpu::{Cpu, Mode};
#[cfg(color)]
use crate::hdma::{HaltedAt, rest_hdma};
use crate::machine::Machine;
#[cfg(color)]
use crate::ppu::note_mode_at_stop;
#[cfg(color)]
use crate::speed::change_speed;

impl Cpu {
    /// Takes five M-cycles: a fetch whose result is dropped, two idle ones, and two that push PC.
    ///
    /// The handler is chosen after the upper byte of PC was pushed, so a push onto IE can change or
    /// cancel it (mooneye interrupts/ie_push); the lower byte is pushed too late to matter.
    pub(crate) fn dispatch_interrupt(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8]) {
        self.read_code(m, rom, ram, self.pc);
        self.idle(m);
        self.idle_on_bus(m, self.sp);
        self.sp = self.sp.wrapping_sub(1);
        self.write(m, rom, ram, self.sp, (self.pc >> 8) as u8);
        let enabled = m.interrupts.enabled;
        self.sp = self.sp.wrapping_sub(1);
        let requested = m.requested_at(self.now);
        self.write(m, rom, ram, self.sp, self.pc as u8);
        let pending = enabled & requested & 0x1f;
        self.ime = false;
        if pending == 0 {
            self.pc = 0;
        } else {
            let number = pending.trailing_zeros() as u16;
            m.acknowledge(number);
            self.pc = 0x40 + number * 8;
        }
    }

    /// An opcode that does not exist: the CPU hangs until power-off.
    #[inline(always)]
    pub(crate) fn lock(&mut self, m: &mut Machine) {
        self.mode = Mode::Locked;
        m.deadline = self.now;
    }
}

/// `HALT`
#[inline(always)]
pub(crate) fn halt(cpu: &mut Cpu, m: &mut Machine) {
    let effect = m.begin_halt(cpu.now, cpu.pc, cpu.ime);
    if effect == Halt::Waits {
        cpu.mode = Mode::Halted;
        cpu.just_halted = true;
    } else if effect == Halt::Repeats {
        cpu.pc = cpu.pc.wrapping_sub(1);
    } else {
        cpu.halt_bug = true;
    }
}

/// Effect of HALT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Halt {
    /// The CPU waits.
    Waits = 0,
    /// EI right before HALT with an interrupt pending: the handler returns to the HALT.
    Repeats = 1,
    /// Pan Docs "halt bug": the byte after HALT is read twice.
    Fails = 2,
}

impl Machine {
    /// Begins a HALT at `now`, with PC behind it; returns its effect.
    #[inline(never)]
    pub fn begin_halt(&mut self, now: u32, _pc: u16, ime: bool) -> Halt {
        let pending = self.requested_at(now) & self.interrupts.enabled & 0x1f;
        self.deadline = now;
        if pending == 0 {
            #[cfg(color)]
            rest_hdma(self, _pc);
            Halt::Waits
        } else if ime {
            Halt::Repeats
        } else {
            Halt::Fails
        }
    }

    /// `STOP`, after the chart in Pan Docs "Reducing power consumption", on a copy of the registers
    #[inline(never)]
    pub(crate) fn stop(&mut self, mut cpu: Cpu) -> Cpu {
        let skips = self.requested_at(cpu.now) & self.interrupts.enabled & 0x1f == 0;
        #[cfg(color)]
        if self.speed.armed && self.joypad.lines() == 0x0f {
            // A due block of HDMA takes the bus from the fetch of STOP's second byte, which is then
            // executed (gambatte `hdma_late_speedchange_inc_*`).
            rest_hdma(self, cpu.pc);
            let runs_operand = self.hdma.rest == HaltedAt::Due;
            change_speed(self, !skips);
            cpu.now = self.now;
            if skips {
                cpu.pc = cpu.pc.wrapping_add(1 - runs_operand as u16);
                cpu.mode = Mode::Halted;
            }
            self.deadline = cpu.now;
            return cpu;
        }
        if self.joypad.lines() != 0x0f {
            // If a button is held, STOP acts as HALT, unless an interrupt is pending.
            if skips {
                cpu.pc = cpu.pc.wrapping_add(1);
                cpu.mode = Mode::Halted;
                cpu.just_halted = true;
            }
        } else {
            cpu.mode = Mode::Stopped;
            cpu.stop_skips = skips;
            #[cfg(color)]
            note_mode_at_stop(self, cpu.now);
            self.begin_stop();
        }
        self.deadline = cpu.now;
        cpu
    }
}
