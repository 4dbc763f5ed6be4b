//! The machine's clocks. `now` counts the CPU's M-cycles, and so do the timer, the serial port and
//! OAM DMA. The PPU counts T-cycles, four in an M-cycle; at the Color's double speed an M-cycle has
//! two, for sound, the picture and the cartridge's clock go on as they were.

#[cfg(color)]
use crate::machine::FRAME_MCYCLES;
use crate::machine::Machine;

/// FF4D (KEY1), and what the clocks showed when the speed changed last.
#[cfg(color)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Speed {
    /// The CPU runs at double speed.
    pub double: bool,
    /// The next STOP changes the speed.
    pub armed: bool,
    /// The M-cycle from which the other two go on.
    pub since: u32,
    /// T-cycles at that moment.
    pub tcycles: u32,
    /// M-cycles at that moment, had the speed never been changed.
    pub steady_mcycles: u32,
}

/// T-cycles that an M-cycle at double speed lacks.
#[cfg(color)]
pub(crate) const LOST_TCYCLES: u32 = 2;
/// M-cycles at double speed for which a change of speed stops the CPU.
// UNVERIFIED: emulators agree on 131,080 ticks of 8 MHz to within a few; Pan Docs says 2,050
// M-cycles.
#[cfg(color)]
const CHANGE_MCYCLES: u32 = 0x20008 / 4;

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

    /// `now` in M-cycles of four T-cycles.
    #[inline(always)]
    pub fn steady_now(&self) -> u32 {
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

    /// `now` in M-cycles of four T-cycles.
    #[inline(always)]
    pub fn steady_now(&self) -> u32 {
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
        self.reset_div();
        self.apu.sync(self.now, self.timer.div_base);
        let (frame, dark) =
            (self.now.wrapping_sub(self.frame_start), self.now.wrapping_sub(self.dark_start));
        // An access looks at the end of its M-cycle, so at double speed it sees the picture earlier
        // by what the M-cycle lacks.
        let behind = self.tcycles().wrapping_sub(LOST_TCYCLES);
        let ahead = self.tcycles().wrapping_add(LOST_TCYCLES);
        self.speed.tcycles = if self.speed.double { ahead } else { behind };
        self.speed.steady_mcycles = self.steady_now();
        self.speed.since = self.now;
        self.speed.armed = false;
        self.speed.double = !self.speed.double;
        self.apu.double_speed = self.speed.double;
        // Times since then are counted in M-cycles of the new length.
        if self.speed.double {
            self.frame_start = self.now.wrapping_sub(frame << 1);
            self.dark_start = self.now.wrapping_sub(dark << 1);
        } else {
            self.frame_start = self.now.wrapping_sub(frame >> 1);
            self.dark_start = self.now.wrapping_sub(dark >> 1);
        }
        if self.ppu.is_on() {
            self.schedule_ppu();
        }
    }

    /// M-cycles, of the new length, that the CPU waits after a change of speed.
    pub(crate) fn change_mcycles(&self) -> u32 {
        if self.speed.double { CHANGE_MCYCLES } else { CHANGE_MCYCLES / 2 }
    }
}
