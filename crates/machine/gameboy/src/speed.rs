//! The machine's clocks. `now` counts the CPU's M-cycles, and so do the timer, the serial port and
//! OAM DMA. The PPU counts T-cycles, four in an M-cycle; at the Color's double speed an M-cycle has
//! two, because sound, picture and the cartridge's clock keep their speed.

#[cfg(color)]
use crate::machine::FRAME_MCYCLES;
use crate::machine::Machine;
#[cfg(color)]
use crate::machine::is_before;

/// FF4D (KEY1), and what the clocks showed when the speed changed last.
#[cfg(color)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Speed {
    /// The CPU runs at double speed.
    pub double: bool,
    /// The next STOP changes the speed.
    pub armed: bool,
    /// The CPU waits for its new clock, as in HALT.
    pub changing: bool,
    /// The M-cycle in which it goes on, while `changing`.
    pub resume_at: u32,
    /// The M-cycle from which `tcycles` and `steady_mcycles` are counted on.
    pub since: u32,
    /// T-cycles at `since`.
    pub tcycles: u32,
    /// T-cycles by which the picture has got ahead of the CPU so far.
    pub gained: u32,
    /// M-cycles at `since`, had the speed never been changed.
    pub steady_mcycles: u32,
}

/// M-cycles for which a change of speed stops the CPU, whatever their length.
#[cfg(color)]
const CHANGE_MCYCLES: u32 = 0x8001;
/// M-cycles of single speed that pass before double speed begins.
#[cfg(color)]
pub(crate) const SLOW_MCYCLES: u32 = 2;
/// T-cycles by which the picture gets ahead of the CPU when double speed ends.
#[cfg(color)]
const GAINED_TCYCLES: u32 = 1;

#[cfg(not(color))]
impl Machine {
    /// T-cycles of an M-cycle, as a power of two.
    #[inline(always)]
    pub(crate) fn tcycle_shift(&self) -> u32 {
        2
    }

    /// `now` in T-cycles, the PPU's unit.
    #[inline(always)]
    pub fn tcycles(&self) -> u32 {
        self.now << 2
    }

    /// A moment in T-cycles.
    #[inline(always)]
    pub(crate) fn tcycles_at(&self, moment: u32) -> u32 {
        moment << 2
    }

    /// `now` as if the Color never ran at double speed.
    #[inline(always)]
    pub fn mcycles_at_single_speed(&self) -> u32 {
        self.now
    }

    /// M-cycles of a frame in which the LCD is off.
    #[inline(always)]
    pub(crate) fn frame_mcycles(&self) -> u32 {
        crate::machine::FRAME_MCYCLES
    }
}

#[cfg(color)]
impl Machine {
    /// T-cycles of an M-cycle, as a power of two.
    #[inline(always)]
    pub(crate) fn tcycle_shift(&self) -> u32 {
        2 - self.speed.double as u32
    }

    /// `now` in T-cycles, the PPU's unit.
    #[inline(always)]
    pub fn tcycles(&self) -> u32 {
        self.tcycles_at(self.now)
    }

    /// A moment in T-cycles.
    #[inline(always)]
    pub(crate) fn tcycles_at(&self, moment: u32) -> u32 {
        let elapsed = moment.wrapping_sub(self.speed.since);
        self.speed.tcycles.wrapping_add(elapsed << self.tcycle_shift())
    }

    /// `now` as if the Color never ran at double speed.
    #[inline(always)]
    pub fn mcycles_at_single_speed(&self) -> u32 {
        let elapsed = self.now.wrapping_sub(self.speed.since) >> self.speed.double as u32;
        self.speed.steady_mcycles.wrapping_add(elapsed)
    }

    /// M-cycles of a frame in which the LCD is off.
    #[inline(always)]
    pub(crate) fn frame_mcycles(&self) -> u32 {
        FRAME_MCYCLES << self.speed.double as u32
    }

    /// Moves the moment from which the clocks count up to now, so that it never lies far back.
    pub(crate) fn rebase_clocks(&mut self) {
        // An even number, so that halving loses nothing.
        let elapsed = self.now.wrapping_sub(self.speed.since) & !1;
        self.speed.tcycles = self.speed.tcycles.wrapping_add(elapsed << self.tcycle_shift());
        self.speed.steady_mcycles =
            self.speed.steady_mcycles.wrapping_add(elapsed >> self.speed.double as u32);
        self.speed.since = self.speed.since.wrapping_add(elapsed);
    }

    /// STOP while KEY1 is armed: the CPU waits while its clock settles, then runs on at the other
    /// speed. DIV begins anew (Pan Docs "FF4D").
    pub fn change_speed(&mut self) {
        self.sync_interrupts();
        // TIMA may count once more, an M-cycle before DIV begins anew (gambatte
        // `speedchange_tima*`).
        let counter_base = self.now;
        self.apu.div_reset(self.now, self.timer.div_base);
        self.serial.div_reset(&mut self.interrupts, self.now, self.timer.div_base);
        let ahead = (self.timer.tac & 7 > 4) as u32;
        self.timer.reset_div(&mut self.interrupts, self.now.wrapping_add(ahead));
        self.timer.div_base = counter_base;
        self.timer.schedule(self.now);
        self.serial.schedule(self.now, self.timer.div_base);
        self.speed.changing = true;
        self.speed.resume_at = self.now.wrapping_add(CHANGE_MCYCLES);
        if !self.speed.double {
            self.now = self.now.wrapping_add(SLOW_MCYCLES);
            // OAM DMA moves in the first of them (gambatte `oamdmasrcC0_speedchange_readC000`).
            self.halt_dma(1);
            self.sync_interrupts();
        }
        self.apu.sync(self.now, self.timer.div_base);
        let (frame, dark) =
            (self.now.wrapping_sub(self.frame_start), self.now.wrapping_sub(self.lcd_off_since));
        let gained = if self.speed.double { GAINED_TCYCLES } else { 0 };
        let tcycles = self.tcycles().wrapping_add(gained);
        self.speed.steady_mcycles = self.mcycles_at_single_speed();
        self.speed.tcycles = tcycles;
        self.speed.gained = self.speed.gained.wrapping_add(gained);
        self.speed.since = self.now;
        self.speed.armed = false;
        self.speed.double = !self.speed.double;
        self.apu.double_speed = self.speed.double;
        self.apu.voices.counts_late ^= self.speed.double;
        self.ppu.double_speed = self.speed.double;
        // Times since then are counted in M-cycles of the new length.
        if self.speed.double {
            self.frame_start = self.now.wrapping_sub(frame << 1);
            self.lcd_off_since = self.now.wrapping_sub(dark << 1);
        } else {
            self.frame_start = self.now.wrapping_sub(frame >> 1);
            self.lcd_off_since = self.now.wrapping_sub(dark >> 1);
        }
        if self.ppu.is_on() {
            self.schedule_ppu();
        }
    }

    /// Returns true if the CPU goes on after a change of speed now.
    pub(crate) fn ends_speed_change(&mut self) -> bool {
        let ends = self.speed.changing && !is_before(self.now, self.speed.resume_at);
        if ends {
            self.speed.changing = false;
        }
        ends
    }
}
