//! The four channels of a Color: a copy of the machine's audio unit, which computes the levels
//! itself.

use gbxcule_gameboy::Machine;
use gbxcule_gameboy::apu::Apu;

use crate::fields::Fields;
use crate::mixer::Levels;

/// Numbers of channels 3 and 4, and the offset of NR43 from FF10.
const WAVE: u8 = 2;
const NOISE: u8 = 3;
const NOISE_SETUP: usize = 0x12;

/// Half the sequencer's period, in M-cycles of single speed.
const HALF_CLOCK_MCYCLES: u32 = 1024;

/// Copy of the machine's audio unit.
#[derive(Clone, Debug)]
pub(crate) struct ColorChannels {
    apu: Apu,
    div_base: u32,
}

impl ColorChannels {
    /// Makes channels that are as up to date as the machine's audio unit.
    pub(crate) fn of(machine: &Machine) -> Self {
        Self { apu: machine.apu, div_base: machine.timer.div_base }
    }

    /// Writes nothing: the machine's state holds everything.
    pub(crate) fn write_to(&self, _: &mut Vec<u8>) {}

    /// Makes channels of a machine.
    pub(crate) fn read(machine: &Machine, _: &mut Fields<'_>) -> Option<Self> {
        Some(Self::of(machine))
    }

    pub(crate) fn now(&self) -> u32 {
        self.apu.synced_at
    }

    pub(crate) fn apu(&self) -> &Apu {
        &self.apu
    }

    /// Handles a write to FF10-FF3F, by the address's low byte, at the present moment.
    pub(crate) fn write(&mut self, address: u8, value: u8) {
        self.apu.write(self.now(), self.div_base, 0xff00 | u16::from(address), value);
    }

    /// Handles a write to DIV, at the present moment.
    pub(crate) fn reset_div(&mut self, div_base: u32) {
        self.apu.div_reset(self.now(), self.div_base);
        self.div_base = div_base;
    }

    /// Follows the machine when it moves the base of DIV, which changes no level.
    pub(crate) fn rebase_div(&mut self, div_base: u32) {
        self.div_base = div_base;
    }

    /// Changes the length of the following M-cycles.
    pub(crate) fn change_speed(&mut self, is_double: bool) {
        self.apu.double_speed = is_double;
    }

    /// Advances by at least one and at most `most` M-cycles. Returns the levels at the beginning,
    /// and their duration in ticks of 2 T-cycles; an M-cycle of double speed is one tick.
    pub(crate) fn advance(&mut self, most: u32) -> [(Levels, u32); 1] {
        let mcycles = self.mcycles_to_change().min(most);
        let mut levels = [None; 4];
        for (channel, level) in (0..).zip(&mut levels) {
            *level = self.apu.has_dac(channel).then(|| self.apu.level(channel));
        }
        self.apu.sync(self.now().wrapping_add(mcycles), self.div_base);
        [(levels, mcycles * self.ticks())]
    }

    /// Returns the number of ticks of 2 T-cycles in an M-cycle.
    fn ticks(&self) -> u32 {
        if self.apu.double_speed { 1 } else { 2 }
    }

    /// Returns the number of M-cycles up to and including the next one in which a level may change:
    /// by a clock of the sequencer, half a period after the clock, by the sweep, or by a step of a
    /// channel.
    fn mcycles_to_change(&self) -> u32 {
        if self.apu.sweep.is_busy(self.apu.registers[0]) || self.apu.voices.late {
            return 1;
        }
        let half_clock = 2 * HALF_CLOCK_MCYCLES / self.ticks();
        let since = self.now().wrapping_sub(self.div_base) % half_clock;
        let mut ticks = (half_clock - since) * self.ticks();
        for (channel, pulse) in (0..).zip(&self.apu.voices.pulses) {
            if self.apu.is_active(channel) {
                ticks = ticks.min(u32::from(pulse.left));
            }
        }
        if self.apu.is_active(WAVE) {
            ticks = ticks.min(self.apu.wave.countdown_ticks);
        }
        if self.apu.is_active(NOISE) {
            ticks = ticks.min(self.ticks_to_shift());
        }
        ticks.div_ceil(self.ticks()).max(1)
    }

    /// Returns the number of ticks to channel 4's next shift, at which a bit of its counter rises.
    fn ticks_to_shift(&self) -> u32 {
        let (setup, noise) = (self.apu.registers[NOISE_SETUP], &self.apu.voices.noise);
        if setup >> 4 >= 14 || !noise.runs {
            return u32::MAX;
        }
        let divider = if setup & 7 == 0 { 2 } else { u32::from(setup & 7) * 4 };
        let half = 1 << (setup >> 4);
        let counts = 2 * half - (u32::from(noise.counter) + half) % (2 * half);
        u32::from(noise.left) + (counts - 1) * divider
    }
}

#[cfg(test)]
impl ColorChannels {
    /// Checks that several M-cycles at once give the same result as single ones.
    pub(crate) fn assert_skips_are_steps(&self, mcycles: u32) {
        let (mut skipped, mut stepped) = (self.clone(), self.clone());
        let (mut at_once, mut each) = (Vec::new(), Vec::new());
        let end = self.now().wrapping_add(mcycles);
        while skipped.now() != end {
            let [(levels, times)] = skipped.advance(end.wrapping_sub(skipped.now()));
            at_once.extend((0..times).map(|_| levels));
        }
        while stepped.now() != end {
            let [(levels, times)] = stepped.advance(1);
            each.extend((0..times).map(|_| levels));
        }
        assert!(at_once == each, "levels after {}", self.now());
        for channel in 0..4 {
            assert_eq!(skipped.apu.level(channel), stepped.apu.level(channel));
        }
        assert_eq!(skipped.apu, stepped.apu);
    }
}
