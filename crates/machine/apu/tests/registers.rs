//! Values that a program can read back from the audio registers.
//!
//! blargg's dmg_sound ROMs test the same things together; here each claim has its own test.

use gbxcule_apu::Apu;
use proptest::prelude::*;

/// M-cycles between two sequencer clocks.
const EDGE: u32 = 2048;
/// NRx1 and NRx4 of the four channels, and their longest lengths.
const CHANNELS: [(u16, u16, u32); 4] =
    [(0xff11, 0xff14, 64), (0xff16, 0xff19, 64), (0xff1b, 0xff1e, 256), (0xff20, 0xff23, 64)];

/// The registers and the time; DIV was last cleared at `div_base`.
#[derive(Clone, Copy)]
struct Sound {
    apu: Apu,
    now: u32,
    div_base: u32,
}

impl Sound {
    /// The APU switched off and on again right after DIV was cleared: the sequencer is at its
    /// start.
    fn new() -> Sound {
        let sound = Sound { apu: Apu::post_boot(), now: 0, div_base: 0 };
        sound.with(0xff26, 0).with(0xff26, 0x80)
    }

    /// Makes what `new` does, with channel `n`'s DAC on.
    fn with_dac(n: usize) -> Sound {
        let (length, _, _) = CHANNELS[n];
        if n == 2 { Sound::new().with(0xff1a, 0x80) } else { Sound::new().with(length + 1, 0x08) }
    }

    fn write(&mut self, address: u16, value: u8) -> &mut Sound {
        self.apu.write(self.now, self.div_base, address, value);
        self
    }

    fn with(mut self, address: u16, value: u8) -> Sound {
        *self.write(address, value)
    }

    fn read(&mut self, address: u16) -> u8 {
        self.apu.read(self.now, self.div_base, address)
    }

    fn wait(&mut self, mcycles: u32) -> &mut Sound {
        self.now = self.now.wrapping_add(mcycles);
        self
    }

    fn reset_div(&mut self) {
        self.apu.div_reset(self.now, self.div_base);
        self.div_base = self.now;
    }

    fn is_on(&mut self, channel: usize) -> bool {
        self.read(0xff26) & (1 << channel) != 0
    }

    /// Counts the length clocks until the channel is off.
    fn lengths_until_off(&mut self, channel: usize) -> u32 {
        let mut clocks = 0;
        while self.is_on(channel) {
            assert!(clocks <= 256, "channel {channel} never stops");
            self.wait(2 * EDGE);
            clocks += 1;
        }
        clocks
    }
}

#[test]
fn post_boot_registers_read_as_documented() {
    let mut apu = Apu::post_boot();
    let expected = [
        0x80, 0xbf, 0xf3, 0xff, 0xbf, 0xff, 0x3f, 0x00, 0xff, 0xbf, 0x7f, 0xff, 0x9f, 0xff, 0xbf,
        0xff, 0xff, 0x00, 0x00, 0xbf, 0x77, 0xf3, 0xf1,
    ];
    for (address, value) in (0xff10..).zip(expected) {
        assert_eq!(apu.read(0, 0, address), value, "{address:04x}");
    }
}

#[test]
fn unused_and_write_only_bits_read_as_1() {
    let mut sound = Sound::new();
    for (address, mask) in [(0xff10, 0x80), (0xff11, 0x3f), (0xff13, 0xff), (0xff1c, 0x9f)] {
        for value in 0..=0xff {
            sound.write(address, value);
            assert_eq!(sound.read(address), value | mask, "{address:04x}");
        }
    }
    for address in [0xff15, 0xff1f, 0xff27, 0xff2f] {
        sound.write(address, 0);
        assert_eq!(sound.read(address), 0xff, "{address:04x}");
    }
}

#[test]
fn off_clears_and_locks_registers_but_not_wave_ram() {
    let mut sound = Sound::new();
    sound.write(0xff25, 0xff).write(0xff35, 0x37).write(0xff26, 0);
    sound.write(0xff24, 0x77).write(0xff36, 0x38);
    assert_eq!(sound.read(0xff26), 0x70);
    assert_eq!([0xff24, 0xff25].map(|address| sound.read(address)), [0, 0]);
    assert_eq!([0xff35, 0xff36].map(|address| sound.read(address)), [0x37, 0x38]);
}

#[test]
fn off_keeps_lengths_and_lets_them_be_loaded() {
    let mut sound = Sound::with_dac(3);
    sound.write(0xff20, 64 - 9).write(0xff26, 0).write(0xff16, 64 - 5).wait(100 * EDGE);
    sound.write(0xff26, 0x80).write(0xff21, 0x08).write(0xff17, 0x08);
    sound.write(0xff23, 0xc0).write(0xff19, 0xc0);
    assert_eq!(sound.lengths_until_off(3), 9);
    assert_eq!(sound.apu.lengths[1], 0);
}

#[test]
fn a_trigger_turns_on_only_channels_with_a_dac() {
    for (channel, (_, control, _)) in CHANNELS.into_iter().enumerate() {
        assert!(!Sound::new().with(control, 0x80).is_on(channel));
        assert!(Sound::with_dac(channel).with(control, 0x80).is_on(channel));
    }
}

#[test]
fn a_dac_turned_off_turns_its_channel_off_for_good() {
    for (channel, dac) in [(0, 0xff12), (1, 0xff17), (2, 0xff1a), (3, 0xff21)] {
        let mut sound = Sound::with_dac(channel).with(CHANNELS[channel].1, 0x80);
        assert!(!sound.write(dac, 0x07).is_on(channel));
        assert!(!sound.write(dac, 0x80).is_on(channel));
    }
}

#[test]
fn lengths_count_to_their_end_at_256_hz() {
    for (channel, (length, control, longest)) in CHANNELS.into_iter().enumerate() {
        let mut sound = Sound::with_dac(channel).with(length, 0).with(control, 0xc0);
        assert_eq!(sound.lengths_until_off(channel), longest);
        let mut sound = Sound::with_dac(channel).with(length, 0xff).with(control, 0xc0);
        assert!(sound.wait(EDGE - 1).is_on(channel));
        assert!(!sound.wait(1).is_on(channel));
    }
}

#[test]
fn enabling_length_between_its_clocks_counts_once() {
    for (channel, (length, control, _)) in CHANNELS.into_iter().enumerate() {
        let mut sound = Sound::with_dac(channel).with(length, 0xfe).with(control, 0x80);
        sound.wait(EDGE).write(control, 0x40);
        assert_eq!(sound.apu.lengths[channel], 1);
        sound.write(control, 0x40);
        assert_eq!(sound.apu.lengths[channel], 1, "it was enabled already");
        sound.write(control, 0x00).write(control, 0x40);
        assert!(!sound.is_on(channel));
    }
}

#[test]
fn a_trigger_between_length_clocks_unfreezes_to_one_less() {
    for (channel, (length, control, longest)) in CHANNELS.into_iter().enumerate() {
        let mut sound = Sound::with_dac(channel);
        sound.wait(EDGE);
        sound.write(length, 0xff).write(control, 0xc0);
        assert_eq!(sound.apu.lengths[channel] as u32, longest - 1);
        assert!(sound.is_on(channel));
    }
}

#[test]
fn clearing_div_clocks_the_sequencer_when_its_bit_4_falls() {
    for (wait, is_on) in [(EDGE / 2 - 1, true), (EDGE / 2, false)] {
        let mut sound = Sound::with_dac(0).with(0xff11, 0xff).with(0xff14, 0xc0);
        sound.wait(wait).reset_div();
        assert_eq!(sound.is_on(0), is_on);
    }
}

#[test]
fn switching_on_while_div_bit_4_is_set_loses_an_edge() {
    let mut sound = Sound::new();
    sound.wait(EDGE / 2).write(0xff26, 0).write(0xff26, 0x80);
    sound.write(0xff12, 0x08).write(0xff11, 64 - 4).write(0xff14, 0xc0);
    // Enabling counted once: the sequencer starts as if a length clock had just passed.
    let lengths = [EDGE / 2, EDGE, EDGE, EDGE].map(|wait| {
        sound.wait(wait).read(0xff26);
        sound.apu.lengths[0]
    });
    assert_eq!(lengths, [3, 2, 2, 1]);
}

#[test]
fn sweep_overflow_on_trigger_needs_a_step() {
    for (nr10, is_on) in [(0x01, false), (0x11, false), (0x10, true), (0x00, true), (0x09, true)] {
        let mut sound = Sound::with_dac(0).with(0xff10, nr10).with(0xff13, 0xff);
        assert_eq!(sound.write(0xff14, 0x87).wait(20).is_on(0), is_on, "NR10 = {nr10:02x}");
    }
}

#[test]
fn sweep_checks_a_second_time_after_an_update() {
    let mut sound = Sound::with_dac(0).with(0xff10, 0x11).with(0xff13, 0).with(0xff14, 0x85);
    assert!(sound.wait(3 * EDGE + 1).is_on(0));
    assert!(!sound.wait(1).is_on(0));
}

// gambatte `ch1_init_reset_sweep_counter_timing_nr52_1`.
#[test]
fn a_sweep_without_a_step_overflows_an_mcycle_after_its_clock() {
    let mut sound = Sound::with_dac(0).with(0xff10, 0x10).with(0xff13, 0).with(0xff14, 0x87);
    assert!(sound.wait(3 * EDGE).is_on(0));
    assert!(!sound.wait(1).is_on(0));
}

/// Channel 1 just triggered with the given frequency.
fn swept(nr10: u8, frequency: u16) -> Sound {
    let sound = Sound::with_dac(0).with(0xff10, nr10).with(0xff13, frequency as u8);
    sound.with(0xff14, 0x80 | (frequency >> 8) as u8)
}

// DocBoy `ch1_period_sweep_disable_on_trigger_step*`.
#[test]
fn the_check_of_a_trigger_ends_three_mcycles_later_and_one_for_each_shift() {
    for step in 1..8 {
        let mut sound = swept(0x20 | step, 0x7ff);
        assert!(sound.wait(2 + u32::from(step)).is_on(0), "step {step}");
        assert!(!sound.wait(1).is_on(0), "step {step}");
    }
}

// DocBoy `ch1_period_sweep_change_step_7_to_0_during_recalc_then_7`.
#[test]
fn a_check_rests_while_the_step_is_0() {
    let mut sound = swept(0x27, 0x7ff);
    sound.wait(5).write(0xff10, 0x20).wait(100).write(0xff10, 0x27);
    assert!(sound.wait(3).is_on(0));
    assert!(!sound.wait(1).is_on(0));
}

// DocBoy `ch1_period_sweep_disable_on_double_trigger_step6_delay*`.
#[test]
fn a_second_trigger_begins_the_shifts_anew() {
    for (between, wait) in [(1, 3), (2, 3), (3, 2), (8, 3)] {
        let mut sound = swept(0x26, 0x7ff);
        let begin = sound.now;
        sound.wait(between).write(0xff14, 0x87);
        let restarts = if between < 2 { begin } else { sound.now };
        let ends = restarts + wait + 6;
        let now = sound.now;
        assert!(sound.wait(ends - 1 - now).is_on(0), "{between} M-cycles");
        assert!(!sound.wait(1).is_on(0), "{between} M-cycles");
    }
}

// DocBoy `ch1_period_sweep_step6_period93` and its like.
#[test]
fn every_check_but_the_first_after_a_trigger_adds_1_more() {
    // 1365 plus its half is 2047, which is no overflow.
    assert!(swept(0x01, 1365).wait(2 * EDGE).is_on(0));
    // The sweep's first clock makes 1365 of 910: 910 plus its half.
    let mut sound = swept(0x11, 910);
    assert!(sound.wait(3 * EDGE + 1).is_on(0));
    assert_eq!(sound.apu.frequency(0), 1365);
    assert!(!sound.wait(1).is_on(0));
}

// DocBoy `ch1_period_sweep_change_period_nr13_during_recalc`.
#[test]
fn a_check_adds_what_the_trigger_shifted_to_the_frequency_of_its_end() {
    // 7FF shifted 5 times is 3F: added to 7C0 it is 7FF, added to 7C1 it overflows.
    for (low, is_on) in [(0xc0, true), (0xc1, false)] {
        let mut sound = swept(0x25, 0x7ff);
        sound.write(0xff13, low);
        assert_eq!(sound.wait(20).is_on(0), is_on, "NR13 = {low:02x}");
    }
}

// gambatte `ch1_init_reset_sweep_counter_timing_4`.
#[test]
fn a_sweep_clock_does_not_count_if_it_comes_with_the_mcycle_after_the_trigger() {
    for (before, ends) in [(2, 3 * EDGE), (1, 7 * EDGE)] {
        let mut sound = Sound::with_dac(0).with(0xff10, 0x10).with(0xff13, 0);
        sound.wait(3 * EDGE - before).write(0xff14, 0x87);
        let now = sound.now;
        assert!(sound.wait(ends - now).is_on(0), "{before} M-cycles before");
        assert!(!sound.wait(1).is_on(0), "{before} M-cycles before");
    }
}

// gambatte `ch2_late_reset_nr52_2b`: the value of DIV one M-cycle later decides.
#[test]
fn switching_on_an_mcycle_before_div_bit_4_is_set_loses_an_edge() {
    for (before, clocks) in [(2, 0), (1, 1)] {
        let mut sound = Sound::new();
        sound.wait(EDGE / 2 - before).write(0xff26, 0).write(0xff26, 0x80);
        assert_eq!(sound.apu.sequencer.clocks, clocks, "{before} M-cycles before");
    }
}

#[test]
fn leaving_subtraction_after_its_use_turns_the_channel_off() {
    let mut sound = Sound::with_dac(0).with(0xff10, 0x19).with(0xff14, 0x80);
    assert!(sound.wait(10).write(0xff10, 0x1f).is_on(0));
    assert!(!sound.write(0xff10, 0x10).is_on(0));
    let mut sound = Sound::with_dac(0).with(0xff10, 0x18).with(0xff14, 0x80);
    assert!(sound.write(0xff10, 0x10).is_on(0));
}

/// Channel 3 triggered at time 0 with the given period in ticks, wave RAM holding 00 11 22 ... FF.
fn playing(period_ticks: u16) -> Sound {
    let mut sound = Sound::new();
    for i in 0..16u8 {
        sound.write(0xff30 + i as u16, i * 0x11);
    }
    let frequency = 2048 - period_ticks;
    sound.write(0xff1a, 0x80).write(0xff1d, frequency as u8);
    sound.with(0xff1e, 0x80 | (frequency >> 8) as u8)
}

#[test]
fn wave_ram_answers_only_as_channel_3_reads_it() {
    // The first read comes 3 ticks after a period; an M-cycle has 2 ticks.
    let mut sound = playing(7);
    assert_eq!(sound.wait(4).read(0xff30), 0xff);
    assert_eq!(sound.wait(1).read(0xff3f), 0x00);
    assert_eq!(sound.wait(1).read(0xff30), 0xff);
    assert_eq!(sound.wait(6).read(0xff30), 0x11);
    let mut sound = playing(8);
    for _ in 0..100 {
        assert_eq!(sound.wait(1).read(0xff30), 0xff);
    }
}

#[test]
fn wave_ram_is_written_only_as_channel_3_reads_it() {
    let mut sound = playing(7);
    sound.wait(4).write(0xff35, 0xaa);
    sound.wait(8).write(0xff35, 0xbb);
    sound.write(0xff1a, 0);
    assert_eq!([0xff31, 0xff35].map(|address| sound.read(address)), [0xbb, 0x55]);
}

#[test]
fn a_retrigger_just_before_a_read_overwrites_the_start_of_wave_ram() {
    let wave_ram_after = |mcycles| {
        let mut sound = playing(8);
        sound.wait(mcycles).write(0xff1e, 0x87);
        sound.write(0xff1a, 0);
        (0..5).map(|i| sound.read(0xff30 + i)).collect::<Vec<u8>>()
    };
    assert_eq!(wave_ram_after(5 + 4), [0x11, 0x11, 0x22, 0x33, 0x44]);
    assert_eq!(wave_ram_after(5 + 4 * 9), [0x44, 0x55, 0x66, 0x77, 0x44]);
    assert_eq!(wave_ram_after(6), [0x00, 0x11, 0x22, 0x33, 0x44]);
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Write(u16, u8),
    Read(u16),
    ResetDiv,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => (0xff10u16..0xff40, any::<u8>()).prop_map(|(address, value)| Act::Write(address, value)),
        2 => (0xff10u16..0xff40).prop_map(Act::Read),
        1 => Just(Act::ResetDiv),
    ]
}

proptest! {
    #[test]
    fn how_often_sound_is_synced_changes_nothing(
        acts in prop::collection::vec((act(), 0u32..20_000), 1..60),
        slice in 1u32..5_000,
    ) {
        let (mut once, mut often) = (Sound::new(), Sound::new());
        for (act, wait) in acts {
            once.wait(wait);
            while often.now != once.now {
                let step = slice.min(once.now - often.now);
                often.wait(step);
                often.apu.sync(often.now, often.div_base);
            }
            for sound in [&mut once, &mut often] {
                match act {
                    Act::Write(address, value) => { sound.write(address, value); }
                    Act::Read(address) => { sound.read(address); }
                    Act::ResetDiv => sound.reset_div(),
                }
                sound.apu.sync(sound.now, sound.div_base);
            }
            prop_assert_eq!(once.apu, often.apu);
        }
    }

    #[test]
    fn any_access_at_any_time_is_answered(
        acts in prop::collection::vec((act(), any::<u32>()), 1..60),
    ) {
        let mut sound = Sound::new();
        for (act, wait) in acts {
            sound.wait(wait & 0xff_ffff);
            match act {
                Act::Write(address, value) => { sound.write(address, value); }
                Act::Read(address) => { sound.read(address); }
                Act::ResetDiv => sound.reset_div(),
            }
            prop_assert!(sound.apu.wave.position < 32 && sound.apu.sequencer.clocks < 8);
        }
    }
}
