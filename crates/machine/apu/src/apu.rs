//! The audio registers FF10-FF3F: everything about sound that a program can read back.
//!
//! No sound is made here, so state that no program can read isn't kept: envelopes, duty steps, the
//! noise generator and the mixer exist only as stored register values. The crate `sound` makes
//! samples from the writes that `written` records. Two things remain: which channels are on (NR52),
//! which depends on the length counters and channel 1's sweep, and wave RAM, whose accesses
//! conflict with channel 3. `voice` keeps the levels of the channels, which a Color's programs can
//! read. State advances only in `sync`, by the time since the last call. `div_base` is the M-cycle
//! at which DIV was last zero: DIV's bit 4 drives the 512 Hz sequencer.

mod envelope;
mod length;
mod noise;
mod sequencer;
mod sweep;
mod voice;
mod wave;

#[cfg(color)]
pub use envelope::Envelope;
#[cfg(color)]
pub use noise::Noise;
pub use sequencer::{PowerOnGlitch, Sequencer};
pub use sweep::Sweep;
#[cfg(color)]
pub use voice::{Pulse, Voices};
pub use wave::Wave;

/// True if this crate is compiled for a Game Boy Color.
const COLOR: bool = cfg!(color);

/// Registers and counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Apu {
    /// The M-cycle up to which the fields below are computed.
    pub synced_at: u32,
    /// NR10-NR51 as written (FF10 first; channel n's five start at 5(n - 1)). All zero while off.
    pub registers: [u8; 32],
    /// FF30-FF3F.
    pub wave_ram: [u8; 16],
    /// NR52 bit 7.
    pub powered: bool,
    /// NR52 bits 0-3: the channels that play.
    pub active: u8,
    /// Remaining counts of the channels' length counters.
    pub lengths: [u16; 4],
    /// The 512 Hz sequencer.
    pub sequencer: Sequencer,
    /// Channel 1's sweep unit.
    pub sweep: Sweep,
    /// Channel 3's position in wave RAM.
    pub wave: Wave,
    /// The CPU's last writes to FF10-FF3F.
    pub written: LastWrites,
    /// True at double speed: M-cycles are half as long, DIV counts twice as fast, and the speed of
    /// sound stays the same.
    #[cfg(color)]
    pub double_speed: bool,
    /// True for a CPU CGB C, false for an E.
    #[cfg(color)]
    pub is_cgb_c: bool,
    /// Levels of the channels, which PCM12 and PCM34 show.
    #[cfg(color)]
    pub voices: Voices,
}

/// The CPU's last two writes to sound registers, since an instruction makes at most two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LastWrites {
    /// Writes so far, modulo 256.
    pub count: u8,
    /// Low byte of the last write's address.
    pub address: u8,
    /// Value of the last write.
    pub value: u8,
    /// Low byte of the address of the write before.
    pub previous_address: u8,
    /// Value of the write before.
    pub previous_value: u8,
}

/// Bits that always read as 1, for FF10-FF2F. The table does not apply to NR52, which is not
/// stored.
const READ_MASKS: [u8; 32] = [
    0x80, 0x3f, 0x00, 0xff, 0xbf, // NR10-NR14
    0xff, 0x3f, 0x00, 0xff, 0xbf, // NR21-NR24
    0x7f, 0xff, 0x9f, 0xff, 0xbf, // NR30-NR34
    0xff, 0xff, 0x00, 0x00, 0xbf, // NR41-NR44
    0x00, 0x00, 0x70, // NR50-NR52
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
];

/// Channels, as indices.
const PULSE_1: u8 = 0;
const WAVE: u8 = 2;

/// NRx4 bits.
const TRIGGER: u8 = 0x80;
const LENGTH_ENABLE: u8 = 0x40;

impl Apu {
    /// After the boot ROM's chime: channel 1 plays on, its volume faded to nothing.
    // Pan Docs "Power Up Sequence" gives the registers, write-only bits (NR13, NR14) come from what
    // the boot ROM writes. It switches sound on 57,359 M-cycles after reset and leaves when the
    // counter after DIV reads ABCC, so one sequencer clock (of eight) has passed.
    // UNVERIFIED: the other length counters start undefined; zeros keep runs equal.
    pub const fn post_boot() -> Apu {
        let mut registers = [0; 32];
        registers[0x01] = 0x80;
        registers[0x02] = 0xf3;
        registers[0x03] = 0xc1;
        registers[0x04] = 0x87;
        registers[0x14] = 0x77;
        registers[0x15] = 0xf3;
        Apu {
            synced_at: 0,
            registers,
            wave_ram: [0; 16],
            powered: true,
            active: 1,
            lengths: [64, 0, 0, 0],
            sequencer: Sequencer { clocks: 1, glitch: PowerOnGlitch::None },
            sweep: Sweep::post_boot(),
            wave: Wave::stopped(),
            written: LastWrites {
                count: 0,
                address: 0,
                value: 0,
                previous_address: 0,
                previous_value: 0,
            },
            #[cfg(color)]
            double_speed: false,
            #[cfg(color)]
            is_cgb_c: false,
            #[cfg(color)]
            voices: Voices::post_boot(),
        }
    }

    /// Advances all state to `now`.
    #[cfg(not(color))]
    #[inline(always)]
    pub fn sync(&mut self, now: u32, div_base: u32) {
        self.sync_registers(now, div_base, 0);
    }

    /// Advances the registers. `phase` counts the ticks from the power-on of sound to the beginning
    /// of this sync; only its lowest bit matters.
    fn sync_registers(&mut self, now: u32, div_base: u32, phase: u32) {
        let elapsed = now.wrapping_sub(self.synced_at);
        if self.is_active(WAVE) {
            let period = self.wave_period();
            self.wave.advance(elapsed << self.tick_shift(), period);
        }
        let edges = self.sequencer_edges(now, div_base);
        self.synced_at = now;
        let mut ticks = elapsed << self.tick_shift();
        let mut phase = phase;
        if edges != 0 && self.powered {
            // An edge falls on the first tick of the M-cycle that ends with it.
            let since_edge = self.mcycles_since_edge(now, div_base);
            let since_last = ((since_edge + 1) << self.tick_shift()) - 1;
            let to_first =
                ticks - since_last - ((edges - 1) << (self.edge_shift() + self.tick_shift()));
            self.advance_sweep(to_first, phase);
            self.clock_sequencer(edges, phase + to_first);
            phase += ticks - since_last;
            ticks = since_last;
        }
        self.advance_sweep(ticks, phase);
    }

    /// Counts the edge of a cleared DIV: a bit that falls clocks the sequencer. Must be called
    /// before DIV is cleared.
    #[inline]
    pub fn div_reset(&mut self, now: u32, div_base: u32) {
        self.sync(now, div_base);
        if self.powered && self.sequencer_bit(now, div_base) {
            #[cfg(color)]
            let clocks = self.sequencer.clocks;
            self.clock_sequencer_once(1);
            #[cfg(color)]
            self.count_down_volumes(clocks);
        }
    }

    /// A read from FF10-FF3F.
    #[inline(never)]
    pub fn read(&mut self, now: u32, div_base: u32, address: u16) -> u8 {
        match address & 0x3f {
            0x26 => {
                self.sync(now, div_base);
                0x70 | self.active | if self.powered { 0x80 } else { 0 }
            }
            0x30..=0x3f => {
                self.sync(now, div_base);
                self.read_wave_ram(address)
            }
            _ => {
                let index = address.wrapping_sub(0x10) as usize & 0x1f;
                self.registers[index] | READ_MASKS[index]
            }
        }
    }

    /// A write to FF10-FF3F.
    #[inline(never)]
    pub fn write(&mut self, now: u32, div_base: u32, address: u16, value: u8) {
        self.sync(now, div_base);
        self.written = LastWrites {
            count: self.written.count.wrapping_add(1),
            address: address as u8,
            value,
            previous_address: self.written.address,
            previous_value: self.written.value,
        };
        match address & 0x3f {
            0x26 => self.write_power(self.sequencer_bit(now.wrapping_add(1), div_base), value),
            0x27..=0x2f => {}
            0x30..=0x3f => self.write_wave_ram(address, value),
            _ => self.write_register(address.wrapping_sub(0x10) as u8 & 0x1f, value),
        }
    }

    fn write_register(&mut self, index: u8, value: u8) {
        let (channel, register) = if index < 20 { (index / 5, index % 5) } else { (0, 5) };
        // Pan Docs "NR52": on monochrome models the length counters can be loaded while off.
        if register == 1 && (self.powered || !COLOR) {
            self.load_length(channel, value);
        }
        if !self.powered {
            return;
        }
        let old = self.registers[index as usize & 0x1f];
        let value = self.sweep.value_beside(index, old, value);
        self.registers[index as usize & 0x1f] = value;
        #[cfg(color)]
        self.rewrite_voice(index, channel, register, old);
        match register {
            0 | 2 => self.write_channel_setup(channel, register, old),
            4 => self.write_channel_control(channel, old, value),
            _ => {}
        }
        if index == 3 || index == 4 {
            let change = self.frequency(PULSE_1) >> (self.registers[0] & 7);
            self.sweep.end_rewrite(value & TRIGGER != 0, index == 4, change);
        }
    }

    /// Writes NRx0 or NRx2, which can switch the channel off but not on.
    fn write_channel_setup(&mut self, channel: u8, register: u8, old: u8) {
        if channel == PULSE_1 && register == 0 {
            let phase = 0;
            #[cfg(color)]
            let phase = phase + self.voices.phase as u32;
            self.rewrite_sweep(old, phase);
        }
        if !self.has_dac(channel) {
            #[cfg(color)]
            if channel == WAVE {
                self.voices.reads_on_bus = self.is_active(WAVE) && self.wave.countdown_ticks == 1;
            }
            self.deactivate(channel);
        }
    }

    /// NRx4: length first, then the trigger, whose side effects happen even with the DAC off.
    fn write_channel_control(&mut self, channel: u8, old: u8, value: u8) {
        let trigger = value & TRIGGER != 0;
        self.enable_length(channel, old, value);
        if trigger {
            let was_active = self.is_active(channel);
            #[cfg(color)]
            self.trigger_voice(channel, old, value, was_active);
            if self.has_dac(channel) {
                self.active |= 1 << channel;
            }
            match channel {
                PULSE_1 => self.sweep.trigger(self.registers[0], self.frequency(PULSE_1)),
                WAVE => self.trigger_wave(was_active),
                _ => {}
            }
        }
    }

    /// NR52. Only bit 7 can be written. `div_bit` is the sequencer's bit of DIV one M-cycle later
    /// (gambatte's `ch2_late_reset_nr52` tests).
    fn write_power(&mut self, div_bit: bool, value: u8) {
        let power = value & 0x80 != 0;
        if power == self.powered {
            return;
        }
        self.powered = power;
        self.active = 0;
        self.registers = [0; 32];
        if COLOR {
            self.lengths = [0; 4];
        }
        self.sweep = Sweep::idle();
        self.wave = Wave::stopped();
        #[cfg(color)]
        {
            self.voices = Voices::silent();
        }
        self.sequencer = Sequencer::power_on(power && div_bit);
    }

    /// Returns true if the channel plays.
    pub fn is_active(&self, channel: u8) -> bool {
        self.active & (1 << channel) != 0
    }

    fn deactivate(&mut self, channel: u8) {
        self.active &= !(1 << channel);
        if channel == WAVE {
            self.wave = Wave::stopped();
        }
    }

    /// Returns true if the channel's DAC is on, without which the channel can't be on (Pan Docs
    /// "DACs").
    pub fn has_dac(&self, channel: u8) -> bool {
        match channel {
            WAVE => self.registers[0x0a] & 0x80 != 0,
            _ => self.registers[(channel * 5 + 2) as usize & 0x1f] & 0xf8 != 0,
        }
    }

    /// The 11 bits of NRx3 and NRx4.
    pub fn frequency(&self, channel: u8) -> u16 {
        let low = self.registers[(channel * 5 + 3) as usize & 0x1f] as u16;
        let high = self.registers[(channel * 5 + 4) as usize & 0x1f] as u16;
        (high & 7) << 8 | low
    }
}
