//! Sound of the Color: it changes nothing in the machine, and is the same at both speeds.

use gbxcule_gameboy_color::apu::Apu;
use gbxcule_gameboy_color::{Cartridge, Machine, Step};
use gbxcule_sound_color::{Levels, SAMPLES_PER_FRAME, Sound};

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

    /// Makes a machine with a program that writes to sound registers, one after the other, at one
    /// of the speeds, and then waits.
    fn writing(is_double: bool, writes: &[(u8, u8)]) -> Self {
        let mut text = "Start: di\n".to_owned();
        if is_double {
            text += "ld a, $30\nldh [$00], a\nld a, 1\nldh [$4D], a\nstop\n";
        }
        text += "xor a\nldh [$26], a\nld a, $80\nldh [$26], a\n";
        let always = [(0x24, 0x77), (0x25, 0xff)];
        for (register, value) in always.iter().chain(writes) {
            text += &format!("ld a, {value}\nldh [${register:02x}], a\n");
        }
        let built = gbxcule_assembler::assemble(&(text + ".wait: jr .wait\n"));
        let mut rom = built.expect("a program").bytes;
        rom[0x143] = 0x80;
        Self::new(rom)
    }

    /// Returns the levels of one channel in each half M-cycle of single speed, for a number of
    /// frames.
    fn levels(&mut self, channel: usize, frames: u32) -> Vec<u8> {
        let mut levels = Vec::new();
        for _ in 0..frames {
            let hear = |all: &Levels| levels.push(all[channel].unwrap_or(0));
            self.sound.run_frame_with(&mut self.machine, &self.rom, &mut self.ram, false, hear);
        }
        levels
    }
}

/// Brings noise up to date, which is computed only when it is read.
fn looked_at(apu: &Apu) -> Apu {
    let mut apu = *apu;
    for channel in 0..4 {
        apu.level(channel);
    }
    apu
}

#[test]
fn a_machine_runs_as_it_does_unheard() {
    let step = Step { frames: 3, release_after: 2, draw_last: true };
    for rom in gbxcule_assembler::for_color().iter().chain(gbxcule_assembler::all()) {
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
            assert_eq!(looked_at(heard.sound.apu()), looked_at(&heard.machine.apu), "{}", rom.name);
            let samples = heard.sound.samples().len();
            let expected = took as usize / 22;
            assert!(samples.abs_diff(expected) <= 1, "{}: {samples}, not {expected}", rom.name);
            heard.sound.clear();
        }
    }
    assert_eq!(SAMPLES_PER_FRAME, 798);
}

#[test]
fn a_pulse_has_its_period_its_duty_and_its_volume_at_both_speeds() {
    for is_double in [false, true] {
        for (duty, high, low) in [(0x00, 1, 7), (0x40, 2, 6), (0x80, 4, 4), (0xc0, 6, 2)] {
            for (channel, base) in [(0, 0x10), (1, 0x15)] {
                // A step takes 2048 - 0x700 M-cycles of single speed.
                let writes = [(base + 1, duty), (base + 2, 0xa0), (base + 3, 0), (base + 4, 0x87)];
                let levels = Console::writing(is_double, &writes).levels(channel, 12);
                let runs: Vec<_> =
                    levels.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
                // The time before the trigger, the first wave and the last one are ignored.
                assert!(runs.len() > 40);
                for &(level, length) in &runs[3..runs.len() - 1] {
                    let steps = if level == 0 { low } else { high };
                    let found = (level % 10, length);
                    assert_eq!(found, (0, steps * 256 * 2), "duty {duty:02x}, {is_double}");
                }
            }
        }
    }
}

/// A frame has the same number of samples at double speed, and they are as loud.
#[test]
fn both_speeds_sound_alike() {
    let writes = [(0x16, 0x80), (0x17, 0xf0), (0x18, 0), (0x19, 0x87), (0x21, 0x80), (0x23, 0x80)];
    let [single, double] = [false, true].map(|is_double| {
        let mut console = Console::writing(is_double, &writes);
        console.levels(1, 6);
        console.sound.clear();
        console.levels(1, 20);
        console.sound.samples().to_vec()
    });
    assert!(single.len().abs_diff(20 * 798) <= 1 && double.len().abs_diff(single.len()) <= 1);
    let power = |samples: &[[i16; 2]]| {
        samples.iter().map(|it| f64::from(it[0]).powi(2)).sum::<f64>() / samples.len() as f64
    };
    let (one, other) = (power(&single), power(&double));
    assert!(one > 1e5 && (one - other).abs() < one / 20.0, "{one} {other}");
}
