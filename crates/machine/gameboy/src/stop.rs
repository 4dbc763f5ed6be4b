//! STOP until a button is pressed: the CPU, TIMA and OAM DMA pause. The Color's PPU goes on; a
//! DMG's PPU stops after a while, and continues from there after the STOP.
//!
//! `now` goes on, so that frames end and the cartridge's clock runs; the times of paused chips are
//! shifted. DIV is reset when the CPU wakes.
// Pan Docs "Reducing power consumption".
// UNVERIFIED: a transfer by the serial port's internal clock, and sound, go on here.

use crate::cpu::Mode;
use crate::dma::halt_dma;
#[cfg(not(color))]
use crate::machine::is_before;
use crate::machine::{Machine, earlier};
#[cfg(not(color))]
use crate::ppu::{LineProgress, mode3_end, sync_ppu_now};

/// M-cycles for which a DMG's PPU goes on after STOP.
// UNVERIFIED on consoles other than DocBoy's (`stop_read_ly_*`, `stop_read_stat_*`).
#[cfg(not(color))]
const PPU_MCYCLES: u32 = 15_213;

impl Machine {
    /// Begins a STOP in this M-cycle.
    #[inline(never)]
    pub(crate) fn begin_stop(&mut self) {
        self.reset_div();
        #[cfg(not(color))]
        {
            self.ppu.stops_at = self.now.wrapping_add(PPU_MCYCLES);
        }
    }

    /// Returns true if the CPU wakes from STOP: a button is held.
    pub fn wakes_from_stop(&self) -> bool {
        self.joypad.lines() != 0x0f && !ppu_goes_on(self)
    }
}

/// Returns true if a DMG's PPU has not stopped yet.
#[cfg(not(color))]
fn ppu_goes_on(machine: &Machine) -> bool {
    machine.ppu.is_on() && is_before(machine.now, machine.ppu.stops_at)
}

/// Returns true if a DMG's PPU has not stopped yet; a Color's never stops.
#[cfg(color)]
fn ppu_goes_on(_machine: &Machine) -> bool {
    false
}

/// Ends a STOP if a button is held; otherwise lets time pass.
#[inline(never)]
pub(crate) fn service_stopped(machine: &mut Machine) {
    if machine.wakes_from_stop() {
        wake(machine);
        return;
    }
    #[cfg(not(color))]
    if machine.ppu.is_on() && !ppu_goes_on(machine) {
        let mcycles = pass_time(machine, machine.lcd_off_frame_end());
        machine.ppu.beam.line_start = machine.ppu.beam.line_start.wrapping_add(mcycles << 2);
        machine.ppu.deadline = machine.ppu.deadline.wrapping_add(mcycles);
        machine.ppu.stops_at = machine.now;
        machine.ppu.frame_over = !is_before(machine.now, machine.lcd_off_frame_end());
        return;
    }
    let next = if machine.ppu.is_on() { machine.ppu.deadline } else { machine.lcd_off_frame_end() };
    #[cfg(not(color))]
    let next = if ppu_goes_on(machine) { earlier(next, machine.ppu.stops_at) } else { next };
    pass_time(machine, next);
    #[cfg(not(color))]
    if machine.ppu.is_on() && machine.now == machine.ppu.stops_at {
        stop_ppu(machine);
    }
}

/// Stops the PPU within its line. The line is never shown.
#[cfg(not(color))]
fn stop_ppu(machine: &mut Machine) {
    sync_ppu_now(machine);
    if machine.ppu.stage == LineProgress::Rendering {
        machine.ppu.mode3_end = mode3_end(machine);
        machine.ppu.stage = LineProgress::Untouched;
    }
}

/// Advances to a time, or to the next sync of the serial port; returns the M-cycles.
fn pass_time(machine: &mut Machine, until: u32) -> u32 {
    let until = earlier(until, machine.serial.deadline);
    let mcycles = until.wrapping_sub(earlier(machine.now, until));
    machine.now = machine.now.wrapping_add(mcycles);
    machine.timer.synced_at = machine.now;
    halt_dma(machine, mcycles);
    mcycles
}

fn wake(machine: &mut Machine) {
    let (now, div_base) = (machine.now, machine.timer.div_base);
    machine.apu.div_reset(now, div_base);
    machine.serial.div_reset(&mut machine.interrupts, now, div_base);
    machine.timer.div_base = now;
    machine.timer.synced_at = now;
    machine.timer.schedule(now);
    machine.serial.schedule(now, now);
    machine.now = now.wrapping_add(1);
    machine.cpu.mode = Mode::Running;
    if machine.cpu.stop_skips {
        machine.cpu.pc = machine.cpu.pc.wrapping_add(1);
    }
}
