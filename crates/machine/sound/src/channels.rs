//! The four channels, computed for one M-cycle, or for several M-cycles without a change of level
//! at once.

use gbxcule_gameboy::Machine;
use gbxcule_gameboy::apu::Apu;

use crate::envelope::Envelope;
use crate::fields::Fields;
use crate::mixer::Levels;
use crate::noise::Noise;
use crate::pulse::Pulse;

/// Offsets of the channels' registers: NR12, NR22 and NR42 set up the envelopes.
const PULSE_2: u8 = 1;
const WAVE: u8 = 2;
const NOISE: u8 = 3;
const WAVE_VOLUME: usize = 0x0c;
const NOISE_SETUP: usize = 0x12;
const NR52: u8 = 0x26;

/// M-cycles between two clocks of the sequencer: DIV's bit 4 falls.
const CLOCK_MCYCLES: u32 = 2048;

/// A copy of the machine's audio unit, and the state that programs can't read.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    apu: Apu,
    now: u32,
    div_base: u32,
    pulses: [Pulse; 2],
    envelopes: [Envelope; 4],
    noise: Noise,
    /// Sample that channel 3 read last.
    wave_sample: u8,
}

impl Channels {
    /// Makes the channels of a machine, which holds only the state that programs can read.
    pub(crate) fn of(machine: &Machine) -> Self {
        let mut channels = Self::from_registers(machine);
        if machine.now == 0 {
            // The boot ROM's chime has faded, and its wave continues without sound, at a position
            // that gambatte's `ch1_init_pos` tests show to the M-cycle.
            channels.pulses[0] = Pulse::playing(machine.apu.registers[1], 2, 6);
            channels.envelopes[0] = Envelope::default();
        }
        channels
    }

    /// Makes channels whose waves are at their beginning and whose volumes are those of NRx2.
    fn from_registers(machine: &Machine) -> Self {
        let (mut apu, now, div_base) = (machine.apu, machine.now, machine.timer.div_base);
        apu.sync(now, div_base);
        let mut channels = Self {
            apu,
            now,
            div_base,
            pulses: [Pulse::new(), Pulse::new()],
            envelopes: Default::default(),
            noise: Noise::new(),
            wave_sample: 0,
        };
        for channel in [0, PULSE_2, NOISE] {
            let setup = channels.register(channel, 2);
            channels.envelopes[usize::from(channel)].trigger(setup, false);
        }
        channels
    }

    /// Writes the part of the channels that is not in the machine's state.
    pub(crate) fn write_to(&self, bytes: &mut Vec<u8>) {
        self.pulses.iter().for_each(|pulse| pulse.write_to(bytes));
        self.envelopes.iter().for_each(|envelope| envelope.write_to(bytes));
        self.noise.write_to(bytes);
        bytes.push(self.wave_sample);
    }

    /// Reads channels of a machine that [`Channels::write_to`] wrote.
    pub(crate) fn read(machine: &Machine, fields: &mut Fields<'_>) -> Option<Self> {
        let mut channels = Self::from_registers(machine);
        for pulse in &mut channels.pulses {
            *pulse = Pulse::read(fields)?;
        }
        for envelope in &mut channels.envelopes {
            *envelope = Envelope::read(fields)?;
        }
        channels.noise = Noise::read(fields)?;
        channels.wave_sample = fields.below(16)?;
        Some(channels)
    }

    pub(crate) fn now(&self) -> u32 {
        self.now
    }

    pub(crate) fn apu(&self) -> &Apu {
        &self.apu
    }

    fn register(&self, channel: u8, number: u8) -> u8 {
        self.apu.registers[usize::from(channel * 5 + number)]
    }

    /// Handles a write to FF10-FF3F, by the address's low byte, at the present moment.
    pub(crate) fn write(&mut self, address: u8, value: u8) {
        let was_powered = self.apu.powered;
        let offset = address.wrapping_sub(0x10);
        let (channel, number) = (offset / 5, offset % 5);
        let before = self.apu;
        self.apu.write(self.now, self.div_base, 0xff00 | u16::from(address), value);
        if address == NR52 {
            if !was_powered && self.apu.powered {
                self.pulses = [Pulse::new(), Pulse::new()];
                self.noise = Noise::new();
                self.wave_sample = 0;
            }
        } else if channel < 4 && was_powered {
            match number {
                2 if channel != WAVE && before.is_active(channel) => {
                    let old = before.registers[usize::from(offset)];
                    self.envelopes[usize::from(channel)].rewrite(old, value);
                }
                4 if value & 0x80 != 0 => self.trigger(channel),
                _ => {}
            }
        }
    }

    fn trigger(&mut self, channel: u8) {
        if channel != WAVE {
            let setup = self.register(channel, 2);
            // The sequencer's position one M-cycle later decides (gambatte's
            // `ch2_init_reset_env_counter_timing` tests).
            let mut ahead = self.apu;
            ahead.sync(self.now.wrapping_add(1), self.div_base);
            let is_clock_next = ahead.sequencer.clocks == 7;
            self.envelopes[usize::from(channel)].trigger(setup, is_clock_next);
        }
        match channel {
            0 | PULSE_2 => {
                let frequency = self.apu.frequency(channel);
                self.pulses[usize::from(channel)].trigger(frequency);
            }
            NOISE => self.noise.trigger(self.apu.registers[NOISE_SETUP]),
            _ => {}
        }
    }

    /// Handles a write to DIV, at the present moment.
    pub(crate) fn reset_div(&mut self, div_base: u32) {
        let before = self.apu.sequencer.clocks;
        self.apu.div_reset(self.now, self.div_base);
        self.clock_envelopes(before);
        self.div_base = div_base;
    }

    /// Follows the machine when it moves the base of DIV, which changes no level.
    pub(crate) fn rebase_div(&mut self, div_base: u32) {
        self.div_base = div_base;
    }

    /// Clocks the envelopes. The 64 Hz clock is the sequencer's step 7, after which its count is 0
    /// again.
    fn clock_envelopes(&mut self, clocks_before: u8) {
        if self.apu.sequencer.clocks != clocks_before && self.apu.sequencer.clocks == 0 {
            for channel in [0, PULSE_2, NOISE] {
                let setup = self.register(channel, 2);
                if self.apu.is_active(channel) {
                    self.envelopes[usize::from(channel)].clock(setup);
                }
            }
        }
    }

    /// Advances by at least one and at most `most` M-cycles. Returns levels, each with its duration
    /// in half M-cycles.
    pub(crate) fn advance(&mut self, most: u32) -> [(Levels, u32); 2] {
        let quiet = self.quiet_mcycles().min(most);
        if quiet == 0 {
            return self.advance_one().map(|levels| (levels, 1));
        }
        let levels = self.levels();
        self.now = self.now.wrapping_add(quiet);
        self.apu.sync(self.now, self.div_base);
        self.advance_waves(quiet);
        [(levels, 2 * quiet), (levels, 0)]
    }

    /// Advances channels 1, 2 and 4 with the present registers.
    fn advance_waves(&mut self, mcycles: u32) {
        for (channel, pulse) in (0..).zip(&mut self.pulses) {
            if self.apu.is_active(channel) {
                let duty_and_length = self.apu.registers[usize::from(channel * 5 + 1)];
                pulse.advance(mcycles, self.apu.frequency(channel), duty_and_length);
            }
        }
        if self.apu.is_active(NOISE) {
            self.noise.advance(mcycles, self.apu.registers[NOISE_SETUP]);
        }
    }

    /// Returns the number of M-cycles in which levels stay the same. A pulse's step or a shift
    /// comes at the end of the last of these M-cycles or later. None of these M-cycles has a clock
    /// of the sequencer, an iteration of the sweep or a step of channel 3.
    fn quiet_mcycles(&self) -> u32 {
        if self.apu.sweep.is_busy(self.apu.registers[0]) {
            return 0;
        }
        let since_clock = self.now.wrapping_sub(self.div_base) % CLOCK_MCYCLES;
        let mut quiet = CLOCK_MCYCLES - 1 - since_clock;
        for (channel, pulse) in (0..).zip(&self.pulses) {
            if self.apu.is_active(channel) {
                quiet = quiet.min(pulse.mcycles_to_step());
            }
        }
        if self.apu.is_active(WAVE) {
            // Channel 3's countdown is in half M-cycles.
            quiet = quiet.min(self.apu.wave.countdown_ticks.saturating_sub(1) / 2);
        }
        if self.apu.is_active(NOISE) { quiet.min(self.noise.mcycles_to_shift()) } else { quiet }
    }

    /// Lets one M-cycle pass; returns the levels in its first and its second half.
    fn advance_one(&mut self) -> [Levels; 2] {
        let first = self.levels();
        let is_wave_read = self.apu.is_active(WAVE) && self.apu.wave.countdown_ticks == 1;
        let clocks = self.apu.sequencer.clocks;
        let position = self.apu.wave.position;
        self.now = self.now.wrapping_add(1);
        self.apu.sync(self.now, self.div_base);
        self.advance_waves(1);
        let mut second = first;
        if self.apu.wave.position != position {
            let byte = self.apu.wave_ram[usize::from(self.apu.wave.position >> 1)];
            let is_low = self.apu.wave.position & 1 != 0;
            self.wave_sample = if is_low { byte & 15 } else { byte >> 4 };
            if is_wave_read {
                second[usize::from(WAVE)] = self.levels()[usize::from(WAVE)];
            }
        }
        self.clock_envelopes(clocks);
        [first, second]
    }

    /// Returns the present levels.
    fn levels(&self) -> Levels {
        std::array::from_fn(|channel| {
            let channel = channel as u8;
            if !self.apu.has_dac(channel) {
                return None;
            }
            Some(if self.apu.is_active(channel) { self.level(channel) } else { 0 })
        })
    }

    fn level(&self, channel: u8) -> u8 {
        let volume = self.envelopes[usize::from(channel)].volume();
        let is_high = match channel {
            WAVE => return self.wave_sample >> wave_shift(self.apu.registers[WAVE_VOLUME]),
            NOISE => self.noise.is_high(),
            _ => self.pulses[usize::from(channel)].is_high(),
        };
        if is_high { volume } else { 0 }
    }
}

/// Returns the shift that NR32 gives: mute, full, half, quarter.
fn wave_shift(volume: u8) -> u8 {
    match volume >> 5 & 3 {
        0 => 4,
        code => code - 1,
    }
}

#[cfg(test)]
impl Channels {
    /// Checks that several M-cycles at once give the same result as single ones.
    pub(crate) fn assert_skips_are_steps(&self, mcycles: u32) {
        let (mut skipped, mut stepped) = (self.clone(), self.clone());
        let (mut at_once, mut each) = (Vec::new(), Vec::new());
        while skipped.now != self.now.wrapping_add(mcycles) {
            let most = self.now.wrapping_add(mcycles).wrapping_sub(skipped.now);
            for (levels, halves) in skipped.advance(most) {
                at_once.extend((0..halves).map(|_| levels));
            }
        }
        (0..mcycles).for_each(|_| each.extend(stepped.advance_one()));
        assert!(at_once == each, "levels after {}", self.now);
        let saved = |channels: &Self| {
            let mut bytes = Vec::new();
            channels.write_to(&mut bytes);
            bytes
        };
        assert_eq!((skipped.apu, saved(&skipped)), (stepped.apu, saved(&stepped)));
    }
}
