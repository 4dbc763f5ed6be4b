//! The machine's clocks. `now` counts the CPU's M-cycles, by which the timer, the serial port and
//! OAM DMA run, too. The PPU counts T-cycles. An M-cycle has four of them; at the Color's double
//! speed it has two, because sound, picture and the cartridge's clock keep their speed.

#[cfg(color)]
use crate::cpu::Mode;
#[cfg(color)]
use crate::dma::halt_dma;
#[cfg(color)]
use crate::hdma::take_block_of_change;
#[cfg(color)]
use crate::machine::is_before;
use crate::machine::{FRAME_MCYCLES, Machine};
#[cfg(color)]
use crate::ppu::timing::schedule_ppu;
#[cfg(color)]
use crate::ppu::{forget_hblank, sync_ppu};

/// FF4D (KEY1), and the values of the clocks at the last change of speed.
#[cfg(color)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Speed {
    /// True at double speed.
    pub double: bool,
    /// True if the next STOP changes the speed.
    pub armed: bool,
    /// True while the CPU waits for its new clock, as in HALT.
    pub changing: bool,
    /// While `changing`, the M-cycle in which the CPU goes on.
    pub resume_at: u32,
    /// The M-cycle from which `tcycles` and `steady_mcycles` are counted on.
    pub since: u32,
    /// T-cycles at `since`.
    pub tcycles: u32,
    /// T-cycles by which the PPU is ahead of the CPU because of changes of speed.
    pub gained: u32,
    /// M-cycles at `since`, as if the speed had never changed.
    pub steady_mcycles: u32,
}

/// M-cycles for which a change of speed stops the CPU, whatever their length.
#[cfg(color)]
const CHANGE_MCYCLES: u32 = 0x8001;
/// M-cycles of single speed that pass before double speed begins.
#[cfg(color)]
const SLOW_MCYCLES: u32 = 2;
/// T-cycles that the PPU gains on the CPU when double speed ends.
#[cfg(color)]
const GAINED_TCYCLES: u32 = 1;

impl Machine {
    /// Returns the T-cycles of an M-cycle, as a power of two.
    #[inline(always)]
    pub fn tcycle_shift(&self) -> u32 {
        #[cfg(color)]
        let shift = 2 - self.speed.double as u32;
        #[cfg(not(color))]
        let shift = 2;
        shift
    }

    /// Returns `now` in T-cycles, the PPU's unit.
    #[inline(always)]
    pub fn tcycles(&self) -> u32 {
        self.tcycles_at(self.now)
    }

    /// Returns a moment in T-cycles.
    #[inline(always)]
    pub(crate) fn tcycles_at(&self, moment: u32) -> u32 {
        #[cfg(color)]
        let tcycles = self.speed.tcycles_at(moment);
        #[cfg(not(color))]
        let tcycles = moment << 2;
        tcycles
    }

    /// Returns `now` as if the Color never ran at double speed.
    #[inline(always)]
    pub fn mcycles_at_single_speed(&self) -> u32 {
        #[cfg(color)]
        let mcycles = self.speed.steady_mcycles_at(self.now);
        #[cfg(not(color))]
        let mcycles = self.now;
        mcycles
    }

    /// Returns the M-cycles of a frame in which the LCD is off.
    #[inline(always)]
    pub(crate) fn frame_mcycles(&self) -> u32 {
        #[cfg(color)]
        let mcycles = FRAME_MCYCLES << self.speed.double as u32;
        #[cfg(not(color))]
        let mcycles = FRAME_MCYCLES;
        mcycles
    }
}

#[cfg(color)]
impl Speed {
    /// Returns a moment in T-cycles.
    #[inline(always)]
    fn tcycles_at(&self, moment: u32) -> u32 {
        let elapsed = moment.wrapping_sub(self.since);
        self.tcycles.wrapping_add(elapsed << (2 - self.double as u32))
    }

    /// Converts a time to M-cycles, as if the speed had never changed.
    #[inline(always)]
    fn steady_mcycles_at(&self, moment: u32) -> u32 {
        let elapsed = moment.wrapping_sub(self.since) >> self.double as u32;
        self.steady_mcycles.wrapping_add(elapsed)
    }

    /// Moves `since` up to now, so that it never lies far back.
    pub(crate) fn rebase(&mut self, now: u32) {
        // The difference is made even, so that halving is exact.
        let moment = self.since.wrapping_add(now.wrapping_sub(self.since) & !1);
        self.tcycles = self.tcycles_at(moment);
        self.steady_mcycles = self.steady_mcycles_at(moment);
        self.since = moment;
    }

    /// Returns true if a change of speed is over: the CPU goes on now.
    pub fn ends_change(&self, now: u32) -> bool {
        self.changing && !is_before(now, self.resume_at)
    }
}

/// STOP while KEY1 is armed: the CPU waits while its clock settles, then runs at the other speed.
/// DIV is reset (Pan Docs "FF4D"). With an interrupt pending the CPU waits for at most one M-cycle
/// of the new speed, and DIV is reset in the next M-cycle (AGE `spsw-interrupts`, docboy
/// `stop_key1_joypad0_interrupt1_*`).
#[cfg(color)]
pub(crate) fn change_speed(machine: &mut Machine, is_pending: bool) {
    let is_slow = !machine.speed.double;
    begin_div_anew(machine);
    machine.speed.changing = true;
    machine.speed.resume_at = machine.now.wrapping_add(CHANGE_MCYCLES);
    if is_pending {
        switch_clock(machine, if is_slow { 0 } else { GAINED_TCYCLES.wrapping_sub(4) });
        machine.now = machine.now.wrapping_add(is_slow as u32);
        machine.speed.resume_at = machine.now.wrapping_add(1);
    } else if !is_slow {
        // OAM DMA moves one more byte (docboy `speed_switch_to_single_during_dma_*`).
        halt_dma(machine, 0u32.wrapping_sub(1));
        switch_clock(machine, GAINED_TCYCLES);
    }
    if machine.ppu.is_on() {
        schedule_ppu(machine);
    }
}

#[cfg(color)]
fn begin_div_anew(machine: &mut Machine) {
    machine.sync_interrupts();
    // TIMA may count once more, an M-cycle before DIV is reset (gambatte `speedchange_tima*`).
    let counter_base = machine.now;
    machine.apu.div_reset(machine.now, machine.timer.div_base);
    machine.serial.div_reset(&mut machine.interrupts, machine.now, machine.timer.div_base);
    let ahead = (machine.timer.tac & 7 > 4) as u32;
    machine.timer.reset_div(&mut machine.interrupts, machine.now.wrapping_add(ahead));
    machine.timer.div_base = counter_base;
    machine.timer.schedule(machine.now);
    machine.serial.schedule(machine.now, machine.timer.div_base);
}

/// Switches the clocks to the other speed from now on; the PPU gains some T-cycles.
#[cfg(color)]
fn switch_clock(machine: &mut Machine, gained: u32) {
    if !machine.speed.double {
        // gambatte `oamdmasrcC0_speedchange_readC000`.
        halt_dma(machine, 1);
    }
    machine.apu.sync(machine.now, machine.timer.div_base);
    take_block_of_change(machine);
    let (frame, dark) = (
        machine.now.wrapping_sub(machine.frame_start),
        machine.now.wrapping_sub(machine.lcd_off_since),
    );
    let tcycles = machine.tcycles().wrapping_add(gained);
    machine.speed.steady_mcycles = machine.mcycles_at_single_speed();
    machine.speed.tcycles = tcycles;
    machine.speed.gained = machine.speed.gained.wrapping_add(gained);
    machine.speed.since = machine.now;
    machine.speed.armed = false;
    machine.speed.double = !machine.speed.double;
    machine.apu.double_speed = machine.speed.double;
    machine.apu.voices.counts_late ^= machine.speed.double;
    machine.ppu.double_speed = machine.speed.double;
    forget_hblank(machine);
    // Stored times are converted to M-cycles of the new length.
    if machine.speed.double {
        machine.frame_start = machine.now.wrapping_sub(frame << 1);
        machine.lcd_off_since = machine.now.wrapping_sub(dark << 1);
    } else {
        machine.frame_start = machine.now.wrapping_sub(frame >> 1);
        machine.lcd_off_since = machine.now.wrapping_sub(dark >> 1);
    }
}

/// Passes one of the `SLOW_MCYCLES` before double speed, or begins double speed. If an interrupt is
/// requested in the first six T-cycles, the CPU wakes early: after the first M-cycle if the request
/// came in that M-cycle (docboy `speed_switch_to_double_interrupt_*_aligned_*`).
#[cfg(color)]
#[cold]
#[inline(never)]
pub(crate) fn pass_slow_mcycle(machine: &mut Machine) {
    let began = machine.speed.resume_at.wrapping_sub(CHANGE_MCYCLES);
    let passed = machine.now.wrapping_sub(began);
    machine.sync_interrupts();
    let wakes_at_once = passed == 1 && machine.interrupts.pending() != 0;
    if wakes_at_once || passed >= SLOW_MCYCLES {
        let wakes = wakes_at_once || machine.speed.resume_at == machine.now;
        switch_clock(machine, 0);
        if wakes {
            machine.speed.changing = false;
            machine.cpu.mode = Mode::Running;
        }
        if wakes_at_once {
            machine.now = machine.now.wrapping_add(1);
            machine.timer.div_base = machine.timer.div_base.wrapping_add(1);
        }
        if machine.ppu.is_on() {
            schedule_ppu(machine);
        }
    } else {
        if passed == 1 {
            sync_ppu(machine, machine.tcycles().wrapping_add(2));
            if machine.interrupts.pending() != 0 {
                machine.speed.resume_at = machine.now.wrapping_add(1);
            }
        }
        machine.now = machine.now.wrapping_add(1);
    }
    machine.cpu.now = machine.now;
    machine.deadline = machine.now;
}

/// Resets DIV after a change of speed that did not stop the CPU.
#[cfg(color)]
#[cold]
#[inline(never)]
pub(crate) fn end_pending_change(machine: &mut Machine) {
    machine.speed.changing = false;
    machine.sync_interrupts();
    machine.apu.sync(machine.now, machine.timer.div_base);
    machine.timer.div_base = machine.speed.resume_at;
    machine.timer.schedule(machine.now);
    machine.serial.schedule(machine.now, machine.timer.div_base);
}
