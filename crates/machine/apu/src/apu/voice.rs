//! The levels of the four channels, which a Color's programs can read (PCM12 and PCM34).
//!
//! Times are in ticks of 2 T-cycles since sound was switched on. Channels 1 and 2 count in pairs of
//! ticks, channel 4 in groups of four; `phase` is the tick of a write within its group. Sources:
//! Pan Docs "FF76", "Obscure Behavior", SameSuite's `apu` tests. These tests are for a CPU CGB E;
//! where chips differ, this file follows them unless `Apu::is_cgb_c` is set.
#![cfg(color)]

use super::envelope::Envelope;
use super::noise::Noise;
use super::{Apu, PULSE_1, TRIGGER, WAVE};

/// Channel 4, as an index.
const NOISE: u8 = 3;

/// High steps of each duty, by NRx1's upper two bits, step 0 in bit 0.
const DUTIES: [u8; 4] = [0b1000_0000, 0b1000_0001, 0b1110_0001, 0b0111_1110];
/// Highest of the 11 bits of a pulse channel's counter: when it falls, the next step begins.
const TOP_BIT: u16 = 0x400;
/// NRx4's bit that is the counter's top bit.
const TOP_BIT_WRITTEN: u8 = 4;

/// State of the channels' outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Voices {
    /// Ticks since sound was switched on, modulo 4.
    pub phase: u8,
    /// Channels 1 and 2.
    pub pulses: [Pulse; 2],
    /// The volumes of channels 1, 2 and 4.
    pub envelopes: [Envelope; 3],
    /// True at double speed, where volumes change one M-cycle after their clock.
    pub late: bool,
    /// True if, at double speed, lengths count one M-cycle after their clock. Each change to double
    /// speed inverts this flag (AGE `spsw-ch2-lc-delay`).
    pub counts_late: bool,
    /// True if lengths count in the next M-cycle.
    pub count_due: bool,
    /// Channel 4.
    pub noise: Noise,
    /// Byte of wave RAM that channel 3 read last.
    pub wave_byte: u8,
    /// True if channel 3 was switched off in the tick before a read: it then reads at the next
    /// address on the bus, which is the program counter's.
    pub reads_on_bus: bool,
}

/// A pulse channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Pulse {
    /// Ticks until the next step, at least 1 while it plays.
    pub left: u16,
    /// Ticks of `left` that a trigger adds before the counter runs.
    pub delay: u16,
    /// Step of the wave, 0 to 7.
    pub step: u8,
    /// Output.
    pub level: u8,
    /// True until the first step: the output is low, whatever the duty says.
    pub silent: bool,
    /// True if a step began in this tick.
    pub just_stepped: bool,
    /// True if a step began since the trigger.
    pub has_stepped: bool,
}

impl Voices {
    /// Makes the voices of sound that is off or was just switched on.
    pub(super) const fn silent() -> Voices {
        Voices {
            phase: 0,
            pulses: [Pulse::idle(); 2],
            envelopes: [Envelope::idle(); 3],
            late: false,
            counts_late: false,
            count_due: false,
            noise: Noise::idle(),
            wave_byte: 0,
            reads_on_bus: false,
        }
    }

    /// Ends the read of a channel 3 that was switched off.
    #[cold]
    #[inline(never)]
    pub fn read_on_bus(&mut self, wave_ram: &[u8; 16], pc: u16, is_double: bool) {
        // UNVERIFIED: only DocBoy's tests show this, with `LD DE,nn` as the next instruction at
        // single speed and `LD A,n` at double speed.
        let address = pc.wrapping_add(2 - is_double as u16);
        self.reads_on_bus = false;
        self.wave_byte = wave_ram[(address & 0x0f) as usize];
    }

    /// Makes the voices after the boot ROM: its chime still plays, faded out, at a position that
    /// gambatte's `ch1_init_pos` tests show.
    pub(super) const fn post_boot() -> Voices {
        let mut voices = Voices::silent();
        voices.pulses[0].left = 12;
        voices.pulses[0].step = 2;
        voices
    }
}

impl Pulse {
    pub(crate) const fn idle() -> Pulse {
        Pulse {
            left: 0xffff,
            delay: 0,
            step: 0,
            level: 0,
            silent: false,
            just_stepped: false,
            has_stepped: false,
        }
    }

    /// Lets time pass, and returns true if a step began.
    fn advance(&mut self, ticks: u32, period: u32) -> bool {
        self.delay = if ticks < self.delay as u32 { self.delay - ticks as u16 } else { 0 };
        if ticks < self.left as u32 {
            self.left -= ticks as u16;
            self.just_stepped = false;
            return false;
        }
        let over = ticks - self.left as u32;
        let since = over % period;
        self.step = ((self.step & 7) + 1 + ((over / period) & 7) as u8) & 7;
        self.left = (period - since) as u16;
        self.just_stepped = since == 0;
        self.has_stepped = true;
        self.silent = false;
        true
    }

    /// Returns true if the counter's top bit is set, `ahead` ticks from now.
    fn is_top_bit_set(&self, ahead: u16) -> bool {
        let counted = self.left.wrapping_sub(1 + ahead).wrapping_sub(self.delay);
        counted >> 1 & TOP_BIT == 0
    }

    fn begin_step(&mut self) {
        self.step = self.step.wrapping_add(1) & 7;
    }
}

impl Apu {
    /// Advances all state to `now`, in spans that end at each edge of DIV's bit, on which volumes
    /// depend, and at each M-cycle of a busy sweep, which changes the frequency.
    pub fn sync(&mut self, now: u32, div_base: u32) {
        let half = 1 << (self.edge_shift() - 1);
        let mut to_edge = half - (self.synced_at.wrapping_sub(div_base) & (half - 1));
        while now != self.synced_at {
            let mut mcycles = now.wrapping_sub(self.synced_at);
            if self.sweep.is_busy(self.registers[0]) {
                mcycles = 1;
            } else if mcycles > to_edge {
                mcycles = to_edge;
            }
            to_edge -= mcycles;
            self.sync_span(self.synced_at.wrapping_add(mcycles), div_base, to_edge == 0);
            if to_edge == 0 {
                to_edge = half;
            }
        }
    }

    /// Advances to `now`. An edge of DIV's bit, if there is one, comes before the ticks of the last
    /// M-cycle.
    fn sync_span(&mut self, now: u32, div_base: u32, has_edge: bool) {
        if self.voices.late {
            self.voices.late = false;
            self.clock_volumes();
        }
        if self.voices.count_due {
            self.voices.count_due = false;
            self.count_lengths();
        }
        let ticks = now.wrapping_sub(self.synced_at) << self.tick_shift();
        let behind = (has_edge as u32) << self.tick_shift();
        let phase = self.voices.phase as u32;
        self.advance_voices(ticks - behind);
        let position = self.wave.position;
        let clocks = self.sequencer.clocks;
        let reads = self.is_active(WAVE) && ticks >= self.wave.countdown_ticks;
        self.sync_registers(now, div_base, phase);
        if reads && (self.is_active(WAVE) || self.wave.position != position) {
            self.voices.wave_byte = self.wave_ram[(self.wave.position >> 1) as usize & 0x0f];
        }
        if has_edge && self.powered {
            if self.mcycles_since_edge(now, div_base) == 0 {
                self.count_down_volumes(clocks);
            } else {
                self.arm_volumes();
            }
            self.advance_voices(behind);
        }
    }

    fn advance_voices(&mut self, ticks: u32) {
        if ticks == 0 {
            return;
        }
        self.voices.phase = self.voices.phase.wrapping_add((ticks & 3) as u8) & 3;
        for channel in 0..2u8 {
            if self.is_active(channel) {
                let period = (2048 - self.frequency(channel) as u32) * 2;
                if self.voices.pulses[channel as usize & 1].advance(ticks, period) {
                    self.show_pulse(channel);
                }
            }
        }
        let setup = self.registers[0x12];
        let is_active = self.is_active(NOISE);
        self.voices.noise.advance(ticks, setup, is_active);
    }

    /// Sets a pulse channel's output from step, duty and volume.
    fn show_pulse(&mut self, channel: u8) {
        let at = channel as usize & 1;
        if !self.voices.pulses[at].silent {
            let duty = self.registers[(channel * 5 + 1) as usize & 0x1f] >> 6;
            let is_high = DUTIES[duty as usize & 3] >> (self.voices.pulses[at].step & 7) & 1 != 0;
            let volume = self.voices.envelopes[at].volume;
            self.voices.pulses[at].level = if is_high { volume } else { 0 };
        }
    }

    /// Handles the sequencer's clock; `clocks` is the count before it. Every eighth clock counts
    /// down to a volume's change.
    pub(super) fn count_down_volumes(&mut self, clocks: u8) {
        if self.sequencer.clocks == 7 && clocks != 7 {
            for at in 0..3usize {
                self.voices.envelopes[at].count_down();
            }
        }
        if self.double_speed {
            self.voices.late = true;
        } else {
            self.clock_volumes();
        }
    }

    fn clock_volumes(&mut self) {
        for at in 0..3u8 {
            let channel = if at == 2 { NOISE } else { at };
            let setup = self.volume_setup(channel);
            if self.voices.envelopes[at as usize].clock(setup) && at < 2 && self.is_active(channel)
            {
                self.show_pulse(channel);
            }
        }
    }

    /// Handles the half period after the sequencer's clock.
    fn arm_volumes(&mut self) {
        for at in 0..3u8 {
            let channel = if at == 2 { NOISE } else { at };
            if self.is_active(channel) {
                let setup = self.volume_setup(channel);
                self.voices.envelopes[at as usize].arm(setup);
            }
        }
    }

    fn volume_setup(&self, channel: u8) -> u8 {
        self.registers[(channel * 5 + 2) as usize & 0x1f]
    }

    /// Handles a write to a channel's register, which held `old`.
    pub(super) fn rewrite_voice(&mut self, index: u8, channel: u8, register: u8, old: u8) {
        let value = self.registers[index as usize & 0x1f];
        if register == 2 {
            if self.has_dac(channel) {
                self.rewrite_volume(channel, old, value);
            }
        } else if register == 3 && channel == NOISE {
            self.rewrite_noise(old, value);
        } else if register >= 3 && register < 5 && channel < 2 {
            self.rewrite_period(channel, register, old, value);
        }
    }

    /// Handles a trigger by NRx4; `was_active` is true if the channel played.
    pub(super) fn trigger_voice(&mut self, channel: u8, old: u8, value: u8, was_active: bool) {
        match channel {
            WAVE => {
                if was_active && self.wave.countdown_ticks == 1 {
                    self.voices.wave_byte = self.wave_ram[0];
                }
            }
            NOISE => self.trigger_noise(was_active),
            _ => self.trigger_pulse(channel, old, value, was_active),
        }
    }

    /// Handles a write to NRx2 while the channel plays.
    fn rewrite_volume(&mut self, channel: u8, old: u8, value: u8) {
        if !self.is_active(channel) {
            return;
        }
        if channel == NOISE {
            self.voices.envelopes[2].rewrite(old, value);
        } else if channel != WAVE {
            self.voices.envelopes[channel as usize & 1].rewrite(old, value);
            self.show_pulse(channel);
        }
    }

    /// Handles a write to NRx3 or NRx4, before a trigger: a period that just began takes the new
    /// frequency.
    fn rewrite_period(&mut self, channel: u8, register: u8, old: u8, value: u8) {
        let at = channel as usize & 1;
        let period = (2048 - self.frequency(channel)) * 2;
        let mut pulse = self.voices.pulses[at];
        // If the top bit is written low in the tick in which it falls anyway, the step is undone.
        let falls = register == 4 && value & TRIGGER == 0 && old & 7 == 7 && value & 7 != 7;
        // A CPU CGB C keeps the step at double speed (SameSuite
        // `channel_1_freq_change_timing-cgb0BC`).
        #[cfg(not(usual_revision))]
        let falls = falls && !(self.is_cgb_c && self.double_speed);
        if falls && self.is_active(channel) && pulse.has_stepped {
            let low = self.registers[(channel * 5 + 3) as usize & 0x1f] as u16;
            if (pulse.left.wrapping_sub(1)) >> 1 == (0x700 | low) ^ 0x7ff {
                pulse.step = pulse.step.wrapping_add(7) & 7;
                pulse.silent = false;
            }
        }
        if pulse.just_stepped {
            pulse.left = period;
        }
        self.voices.pulses[at] = pulse;
    }

    /// Handles a trigger by NR14 or NR24; `was_active` is true if the channel played.
    fn trigger_pulse(&mut self, channel: u8, old: u8, value: u8, was_active: bool) {
        let at = channel as usize & 1;
        let odd = (self.voices.phase & 1) as u16;
        let reload = 2 * (2047 - self.frequency(channel));
        let low = self.registers[(channel * 5 + 3) as usize & 0x1f];
        let mut pulse = self.voices.pulses[at];
        // The counter is reloaded: if its top bit falls thereby, a step begins.
        let steps = value & TOP_BIT_WRITTEN == 0
            && pulse.is_top_bit_set(was_active as u16)
            && !(was_active && pulse.just_stepped);
        if steps {
            pulse.begin_step();
        }
        pulse.has_stepped = false;
        if was_active {
            let reaches_end = low == 0xff && value & 7 == 7 && old & 7 != 7;
            pulse.delay = 3 + odd + if !steps && reaches_end && pulse.silent { 2 } else { 0 };
            pulse.silent = pulse.silent && !steps;
        } else {
            pulse.delay = 5 + odd;
            pulse.level = 0;
            pulse.silent = !steps;
        }
        pulse.left = reload + pulse.delay + 1;
        self.voices.pulses[at] = pulse;
        self.voices.envelopes[at].trigger(self.volume_setup(channel));
        if was_active {
            self.show_pulse(channel);
        }
    }

    /// Handles a trigger by NR44; `was_active` is true if channel 4 played.
    fn trigger_noise(&mut self, was_active: bool) {
        let has_dac = self.has_dac(NOISE);
        let phase = self.voices.phase;
        self.voices.noise.trigger(self.registers[0x12], phase, was_active, has_dac);
        let setup = self.volume_setup(NOISE);
        self.voices.envelopes[2].trigger(setup);
    }

    /// Handles a write to NR43.
    fn rewrite_noise(&mut self, old: u8, value: u8) {
        let is_active = self.is_active(NOISE);
        let phase = self.voices.phase;
        self.voices.noise.rewrite(old, value, phase, is_active);
    }

    /// FF76 (PCM12) or FF77 (PCM34): the levels of two channels.
    pub fn read_levels(&mut self, now: u32, div_base: u32, low: u8) -> u8 {
        self.sync(now, div_base);
        #[cfg(not(usual_revision))]
        if self.is_cgb_c && low == 0x76 {
            return read_pulses_of_c(self);
        }
        let first = if low == 0x76 { PULSE_1 } else { WAVE };
        self.level(first) | self.level(first + 1) << 4
    }

    /// The level that a channel's converter gets, 0 to 15, as of the last sync.
    pub fn level(&mut self, channel: u8) -> u8 {
        if !self.is_active(channel) {
            return 0;
        }
        match channel {
            WAVE => {
                let byte = self.voices.wave_byte;
                let sample = if self.wave.position & 1 != 0 { byte & 0x0f } else { byte >> 4 };
                let code = self.registers[0x0c] >> 5 & 3;
                if code == 0 { 0 } else { sample >> (code - 1) }
            }
            NOISE => {
                if self.voices.noise.is_high(self.registers[0x12]) {
                    self.voices.envelopes[2].volume
                } else {
                    0
                }
            }
            _ => self.voices.pulses[channel as usize & 1].level,
        }
    }
}

/// PCM12 of a CPU CGB C: a level that rises in the tick of the read reads as 0 (SameSuite
/// `channel_1_freq_change_timing-cgb0BC`).
// UNVERIFIED: channels 3 and 4, and levels that change by their volume, are read as an E's.
#[cfg(not(usual_revision))]
#[inline(never)]
fn read_pulses_of_c(apu: &mut Apu) -> u8 {
    let mut levels = 0;
    for channel in 0..2u8 {
        let pulse = apu.voices.pulses[channel as usize & 1];
        let duty = apu.registers[(channel * 5 + 1) as usize & 0x1f] >> 6;
        let was_high = DUTIES[duty as usize & 3] >> (pulse.step.wrapping_sub(1) & 7) & 1 != 0;
        if was_high || !pulse.just_stepped {
            levels |= apu.level(channel) << (4 * channel);
        }
    }
    levels
}
