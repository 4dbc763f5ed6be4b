//! Compares sound with computed values, and checks that it changes nothing in the machine.

use gbxcule_gameboy::{Cartridge, Machine, Step};
use gbxcule_sound::{Levels, SAMPLES_PER_FRAME, Sound, sample_rate, wav};

/// Machine with its cartridge and its sound.
struct Console {
    machine: Machine,
    rom: Vec<u8>,
    ram: Vec<u8>,
    sound: Sound,
}

impl Console {
    fn new(mut rom: Vec<u8>) -> Self {
        let cartridge = Cartridge::from_rom(&rom).expect("a right header");
        rom.resize(cartridge.padded_len(), 0xff);
        let machine = Machine::power_on(&cartridge);
        let ram = vec![0xff; cartridge.ram_bytes as usize];
        Self { sound: Sound::new(&machine), machine, rom, ram }
    }

    /// Makes a machine with a program that writes to sound registers, one after the other, and
    /// waits.
    fn writing(writes: &[(u8, u8)]) -> Self {
        let mut text = "Start: xor a\nldh [$26], a\nld a, $80\nldh [$26], a\n".to_owned();
        let always = [(0x24, 0x77), (0x25, 0xff)];
        for (register, value) in always.iter().chain(writes) {
            text += &format!("ld a, {value}\nldh [${register:02x}], a\n");
        }
        Self::new(
            gbxcule_assembler::assemble(&(text + ".wait: jr .wait\n")).expect("a program").bytes,
        )
    }

    /// Returns the levels of one channel in each half M-cycle, for a number of frames.
    fn levels(&mut self, channel: usize, frames: u32) -> Vec<u8> {
        let mut levels = Vec::new();
        for _ in 0..frames {
            let hear = |all: &Levels| levels.push(all[channel].unwrap_or(0));
            self.sound.run_frame_with(&mut self.machine, &self.rom, &mut self.ram, false, hear);
        }
        levels
    }
}

/// Returns level and length of each run of equal levels, except the first and the last, which are
/// incomplete.
fn runs(levels: &[u8]) -> Vec<(u8, usize)> {
    let runs: Vec<_> = levels.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
    runs[1..runs.len() - 1].to_vec()
}

#[test]
fn a_machine_runs_as_it_does_unheard() {
    let step = Step { frames: 3, release_after: 2, draw_last: true };
    for rom in gbxcule_assembler::all() {
        let mut heard = Console::new(rom.bytes().to_vec());
        let mut unheard = Console::new(rom.bytes().to_vec());
        for number in 0..6_u8 {
            let buttons = number.wrapping_mul(0x35);
            let Console { machine, rom: bytes, ram, sound } = &mut heard;
            let took = sound.run_step(machine, bytes, ram, buttons, step);
            let Console { machine, rom: bytes, ram, .. } = &mut unheard;
            assert_eq!(took, machine.run_step(bytes, ram, buttons, step), "{}", rom.name);
            assert!(heard.machine == unheard.machine, "{} after step {number}", rom.name);
            assert!(heard.ram == unheard.ram, "{} after step {number}", rom.name);
            assert_eq!(*heard.sound.apu(), heard.machine.apu, "{}", rom.name);
            let samples = heard.sound.samples().len();
            let expected = took as usize / 22;
            assert!(samples.abs_diff(expected) <= 1, "{}: {samples}, not {expected}", rom.name);
            heard.sound.clear();
        }
    }
    assert_eq!((SAMPLES_PER_FRAME, sample_rate()), (798, 47_663));
}

/// Between frames the machine gets another state, or its memory is written from outside.
#[test]
fn a_machine_that_was_changed_is_heard_as_it_is() {
    let mut console = Console::writing(&[(0x16, 0x80), (0x17, 0xf0), (0x18, 0), (0x19, 0x87)]);
    let fresh = console.machine;
    assert!(console.levels(1, 2).contains(&15));
    let Console { machine, rom, ram, .. } = &mut console;
    machine.poke(rom, ram, 0xff17, 0x50);
    machine.poke(rom, ram, 0xff19, 0x87);
    let levels = console.levels(1, 2);
    assert!(levels.contains(&5) && !levels.contains(&15));
    console.machine = fresh;
    assert!(console.levels(1, 2).contains(&15));
    assert_eq!(*console.sound.apu(), console.machine.apu);
}

#[test]
fn a_pulse_has_its_period_its_duty_and_its_volume() {
    for (duty, high, low) in [(0x00, 1, 7), (0x40, 2, 6), (0x80, 4, 4), (0xc0, 6, 2)] {
        for (channel, base) in [(0, 0x10), (1, 0x15)] {
            // A step takes 2048 - 0x700 M-cycles.
            let writes = [(base + 1, duty), (base + 2, 0xa0), (base + 3, 0), (base + 4, 0x87)];
            let runs = runs(&Console::writing(&writes).levels(channel, 3));
            assert!(runs.len() > 10);
            for (level, length) in runs {
                let steps = if level == 0 { low } else { high };
                assert_eq!((level % 10, length), (0, steps * 256 * 2), "duty {duty:02x}");
            }
        }
    }
}

#[test]
fn the_wave_is_read_from_its_memory_a_sample_each_period() {
    let pattern: Vec<(u8, u8)> =
        (0..16_u8).map(|byte| (0x30 + byte, byte.wrapping_mul(0x1f) ^ 0x59)).collect();
    let samples: Vec<u8> = pattern.iter().flat_map(|(_, byte)| [byte >> 4, byte & 15]).collect();
    for (volume, shift) in [(0x20, 0), (0x40, 1), (0x60, 2), (0x00, 4)] {
        // A sample takes 2048 - 0x7f9 = 7 half M-cycles.
        let play = [(0x1a, 0x80), (0x1c, volume), (0x1d, 0xf9), (0x1e, 0x87)];
        let writes = [&pattern[..], &play].concat();
        let levels = Console::writing(&writes).levels(2, 2);
        let levels = &levels[levels.len() - 7 * 32 * 8..];
        let matches = |from: usize| {
            (0..32 * 7).all(|at| levels[from + at] == samples[at / 7] >> shift)
                && (0..32 * 7 * 6).all(|at| levels[from + at] == levels[from + at + 32 * 7])
        };
        assert!((0..32 * 7).any(matches), "volume {volume:02x}");
    }
}

#[test]
fn noise_is_that_of_a_shift_register() {
    // NR43 sets the width, and periods of 2, 8 and 24 M-cycles.
    for (setup, period) in [(0x08, 2), (0x00, 2), (0x1a, 16), (0x03, 12)] {
        let writes = [(0x21, 0xf0), (0x22, setup), (0x23, 0x80)];
        let levels = Console::writing(&writes).levels(3, 4);
        // Before the trigger the channel is silent; its register begins with zeros.
        let heard = levels.iter().position(|level| *level != 0).expect("noise");
        let mut register = 0_u16;
        let mut bits = Vec::new();
        while bits.len() < levels.len() {
            let bit = 1 ^ (register ^ register >> 1) & 1;
            register = register >> 1 | bit << 14;
            if setup & 8 != 0 {
                register = register & !(1 << 6) | bit << 6;
            }
            bits.push(register & 1);
        }
        let first = bits.iter().position(|bit| *bit == 1).expect("a one");
        for (at, level) in levels[heard..].iter().enumerate() {
            assert_eq!(*level != 0, bits[first + at / (2 * period)] == 1, "{setup:02x} at {at}");
        }
    }
}

#[test]
fn volumes_rise_and_fall_64_times_a_second_at_most() {
    for (setup, first, by) in [(0xf2, 15, -1_i8), (0x39, 3, 1)] {
        let pace = usize::from(setup & 7_u8);
        let writes = [(0x16, 0x80), (0x17, setup), (0x18, 0xff), (0x19, 0x87)];
        let levels = Console::writing(&writes).levels(1, 40);
        // The wave's zeros are ignored: it is high in at least every 8th half M-cycle.
        let loud: Vec<u8> =
            levels.chunks_exact(16).map(|part| *part.iter().max().expect("some")).collect();
        let runs: Vec<_> = runs(&loud).into_iter().filter(|run| run.0 != 0).collect();
        let volumes: Vec<u8> = runs.iter().map(|run| run.0).collect();
        let expected: Vec<u8> = (0..volumes.len())
            .map(|at| (first as i8 + by * (at as i8 + i8::from(volumes[0] != first))) as u8)
            .collect();
        assert_eq!(volumes, expected);
        assert!(volumes.len() >= 12, "{volumes:?}");
        for (_, length) in &runs[1..] {
            assert_eq!(*length, pace * 16_384 * 2 / 16);
        }
    }
}

#[test]
fn sides_and_volumes_are_as_set() {
    // Channel 2 plays on the left only, at the left's volume of 8. The capacitor pulls a constant
    // level of 15 to the middle, so the loudest sample is compared.
    let writes = [(0x25, 0x20), (0x24, 0x70), (0x16, 0x80), (0x17, 0xf0), (0x18, 0), (0x19, 0x87)];
    let loudest = |writes: &[(u8, u8)]| {
        let mut console = Console::writing(writes);
        console.levels(1, 8);
        let samples = console.sound.samples();
        let side = |side: usize| samples[2000..].iter().map(|it| it[side].abs()).max();
        [side(0).expect("samples"), side(1).expect("samples")]
    };
    let [left, right] = loudest(&writes);
    assert!(left > 3000 && right < 40, "{left} {right}");
    let mut soft = writes;
    soft[1] = (0x24, 0x10);
    let [softer, _] = loudest(&soft);
    assert!(softer.abs_diff(left / 4) < left.unsigned_abs() / 50, "{softer} of {left}");
    assert_eq!(loudest(&[(0x24, 0x77)]), [0, 0], "every converter is off");
}

#[test]
fn a_wav_file_says_how_long_it_is() {
    let file = wav(&[[1, -2], [3, 4], [-5, 6]]);
    assert_eq!(file.len(), 44 + 12);
    assert_eq!(&file[..4], b"RIFF");
    assert_eq!(u32::from_le_bytes(file[4..8].try_into().expect("four bytes")), 36 + 12);
    assert_eq!(u32::from_le_bytes(file[24..28].try_into().expect("four bytes")), sample_rate());
    assert_eq!(u32::from_le_bytes(file[40..44].try_into().expect("four bytes")), 12);
    assert_eq!(file[44..48], [1, 0, 0xfe, 0xff]);
}

#[test]
fn sound_goes_on_from_its_bytes() {
    // The first pulse channel plays a falling tune, the fourth noise.
    let writes =
        [(0x11, 0x80), (0x12, 0xf3), (0x14, 0x87), (0x21, 0xf7), (0x22, 0x31), (0x23, 0x80)];
    let mut console = Console::writing(&writes);
    console.levels(0, 3);
    let bytes = console.sound.to_bytes();
    let again = Sound::from_bytes(&console.machine, &bytes).expect("bytes of a sound");
    let mut other = Console { sound: again, machine: console.machine, ..Console::writing(&writes) };
    console.sound.clear();
    for channel in 0..4 {
        assert_eq!(console.levels(channel, 2), other.levels(channel, 2));
    }
    assert_eq!(console.sound.samples(), other.sound.samples());
    assert!(console.sound.samples().iter().any(|sample| sample[0].abs() > 500));
}

#[test]
fn bytes_that_no_sound_gives_are_refused() {
    let console = Console::writing(&[]);
    let bytes = console.sound.to_bytes();
    for length in 0..bytes.len() {
        assert!(Sound::from_bytes(&console.machine, &bytes[..length]).is_none(), "{length} bytes");
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(Sound::from_bytes(&console.machine, &longer).is_none(), "a byte too many");
    // Every state that is accepted can be played.
    for place in 0..bytes.len() {
        for value in [1, 0x10, 0x7f, 0xff] {
            let mut changed = bytes.clone();
            changed[place] = value;
            if let Some(sound) = Sound::from_bytes(&console.machine, &changed) {
                Console { sound, machine: console.machine, ..Console::writing(&[]) }.levels(0, 1);
            }
        }
    }
}
