//! Levels of the channels, as PCM12 and PCM34 show them to programs for the Color.

use gbxcule_gameboy_color::apu::Apu;
use gbxcule_gameboy_color::{Cartridge, Machine};
use proptest::prelude::*;

const NR11: u16 = 0xff11;
const NR12: u16 = 0xff12;
const NR13: u16 = 0xff13;
const NR14: u16 = 0xff14;
const NR52: u16 = 0xff26;
const PCM12: u16 = 0xff76;

/// The level of channel 1 in the M-cycles after a trigger, by frequency and NR11.
fn levels(frequency: u8, duty: u8) -> Vec<u8> {
    let rom = vec![0; 0x8000];
    let mut machine = Machine::power_on(&Cartridge::from_rom(&rom).unwrap());
    let (now, div_base) = (machine.now, machine.timer.div_base);
    for (address, value) in
        [(NR52, 0), (NR52, 0x80), (NR11, duty), (NR12, 0x80), (NR13, frequency), (NR14, 0x87)]
    {
        machine.apu.write(now, div_base, address, value);
    }
    let level = |mcycles| {
        machine.now = now + mcycles;
        machine.peek(&rom, &[], PCM12)
    };
    (1..=11).map(level).collect()
}

// SameSuite's `channel_1_delay` and `channel_1_duty`: the first step comes two M-cycles and a
// period after the trigger.
#[test]
fn a_pulse_steps_from_two_mcycles_and_a_period_behind_its_trigger() {
    assert_eq!(levels(0xff, 0xc0), [0, 0, 8, 8, 8, 8, 8, 8, 0, 0, 8]);
    assert_eq!(levels(0xfe, 0xc0), [0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8]);
    assert_eq!(levels(0xff, 0x40), [0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 0]);
}

fn write() -> impl Strategy<Value = (u32, u16, u8)> {
    let setup = prop_oneof![Just(NR14), Just(0xff19), Just(0xff1e), Just(0xff23)];
    let address = prop_oneof![0xff10..=0xff25u16, 0xff30..=0xff3fu16, setup];
    (0..40_000u32, address, any::<u8>(), any::<bool>()).prop_map(|(wait, address, value, soon)| {
        (if soon { wait & 15 } else { wait }, address, value)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sound_is_the_same_however_often_it_is_looked_at(
        double_speed: bool,
        writes in prop::collection::vec(write(), 1..24),
    ) {
        let mut often = Apu::post_boot();
        often.double_speed = double_speed;
        often.write(0, 0, NR52, 0);
        often.write(0, 0, NR52, 0x80);
        let mut seldom = often;
        let mut now = 0;
        for (wait, address, value) in writes {
            for moment in now..now + wait {
                often.read(moment, 0, NR52);
            }
            now += wait;
            often.write(now, 0, address, value);
            seldom.write(now, 0, address, value);
            prop_assert_eq!(often, seldom);
        }
    }
}

/// The level of channel 3 right after it was triggered again, if it was switched off in the very
/// tick of a read. The program lies some bytes further on in ROM.
fn level_after_stop(shift: usize) -> u8 {
    let mut program = vec![0x00; shift];
    // `LD A,value; LDH (low),A`
    let store = |low: u8, value: u8| [0x3e, value, 0xe0, low];
    program.extend(store(0x1a, 0x00));
    for at in 0..16 {
        program.extend(store(0x30 + at, at << 4));
    }
    // Every tick is one of a read.
    for (low, value) in [(0x1c, 0x20), (0x1a, 0x80), (0x1d, 0xff), (0x1e, 0x87), (0x1a, 0x00)] {
        program.extend(store(low, value));
    }
    // `LD DE,0000`, on again, `LDH A,(77); LD (C000),A; JR -2`
    program.extend([0x11, 0x00, 0x00]);
    program.extend(store(0x1a, 0x80));
    program.extend(store(0x1e, 0x80));
    program.extend([0xf0, 0x77, 0xea, 0x00, 0xc0, 0x18, 0xfe]);
    let mut rom = vec![0; 0x8000];
    rom[0x143] = 0x80;
    rom[0x150..][..program.len()].copy_from_slice(&program);
    rom[0x100..0x103].copy_from_slice(&[0xc3, 0x50, 0x01]);
    let mut machine = Machine::power_on(&Cartridge::from_rom(&rom).expect("a good header"));
    machine.run_frame(&rom, &mut [], false);
    machine.wram[0] & 0x0f
}

// DocBoy `ch3_disable_channel_while_sampling_*`.
#[test]
fn channel_3_switched_off_in_a_read_reads_where_the_program_counter_points() {
    let levels: Vec<u8> = (0..16).map(level_after_stop).collect();
    let first = levels[0];
    assert_eq!(levels, (0..16).map(|shift| (first + shift) & 0x0f).collect::<Vec<u8>>());
}

/// Levels of channel 1 right after NR14 lengthens its period, and later, by the M-cycles since the
/// trigger.
fn levels_after_a_longer_period(is_cgb_c: bool, is_double: bool) -> [u8; 8] {
    std::array::from_fn(|index| {
        let rom = vec![0; 0x8000];
        let mut machine = Machine::power_on(&Cartridge::from_rom(&rom).unwrap());
        machine.apu.is_cgb_c = is_cgb_c;
        (machine.apu.double_speed, machine.speed.double) = (is_double, is_double);
        let written = if is_double { 52 } else { 24 } + index as u32;
        let writes = [
            (0, NR52, 0),
            (4, NR52, 0xff),
            (8, NR11, 0),
            (13, NR12, 0xf8),
            (18, NR13, 0xfc),
            (29, NR14, 0x87),
            (29 + written, NR14, 0),
        ];
        let div_base = machine.timer.div_base;
        for (mcycle, address, value) in writes {
            machine.apu.write(machine.now + mcycle, div_base, address, value);
        }
        let mut level = |mcycle| {
            machine.apu.sync(machine.now + mcycle, div_base);
            let mut seen = machine;
            seen.now += mcycle;
            seen.peek(&rom, &[], PCM12)
        };
        level(31 + written) << 4 | level(52 + written)
    })
}

// SameSuite `channel_1_freq_change_timing-cgbDE` and `-cgb0BC`.
#[test]
fn a_cgb_c_shows_a_level_that_rises_as_0_and_keeps_a_step_at_double_speed() {
    let levels = levels_after_a_longer_period;
    assert_eq!(levels(false, false), [0x00, 0x00, 0x00, 0x0f, 0xff, 0xff, 0xff, 0xf0]);
    assert_eq!(levels(true, false), [0x00, 0x00, 0x00, 0x0f, 0x0f, 0xff, 0xff, 0xf0]);
    assert_eq!(levels(false, true), [0x00, 0x00, 0x00, 0x0f, 0x0f, 0x0f, 0x0f, 0xff]);
    assert_eq!(levels(true, true), [0x00, 0x00, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f, 0x0f]);
}
