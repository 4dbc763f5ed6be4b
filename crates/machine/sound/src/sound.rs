//! Runs a machine and makes samples of its sound.

use gbxcule_gameboy::{Machine, Step};

#[cfg(not(color))]
use crate::channels::Channels;
#[cfg(color)]
use crate::color_channels::ColorChannels as Channels;
use crate::fields::Fields;
use crate::mixer::{Levels, Mixer, StereoSample};

/// Sound of one machine. If other code has run the machine or changed its state, waves and volumes
/// restart, because a machine's state holds only what programs can read. [`Sound::to_bytes`] holds
/// the other part.
#[derive(Clone, Debug)]
pub struct Sound {
    channels: Channels,
    mixer: Mixer,
    samples: Vec<StereoSample>,
}

impl Sound {
    /// Starts to follow a machine.
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        let channels = Channels::of(machine);
        Self { channels, mixer: Mixer::default(), samples: Vec::new() }
    }

    /// Restarts at the present state of a machine, like a new sound.
    pub fn restart(&mut self, machine: &Machine) {
        (self.channels, self.mixer) = (Channels::of(machine), Mixer::default());
        self.samples.clear();
    }

    /// Returns a copy of the sound without its samples.
    #[must_use]
    pub fn without_samples(&self, machine: &Machine) -> Self {
        let (channels, mixer) = (self.channels.clone(), self.mixer.clone());
        let mut sound = Self { channels, mixer, samples: Vec::new() };
        sound.follow(machine);
        sound
    }

    /// Returns the part of the state that is not in the machine's: positions in the waves, volumes,
    /// the present sample and the charge of the output.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.channels.write_to(&mut bytes);
        self.mixer.write_to(&mut bytes);
        bytes
    }

    /// Makes the sound of a machine from the bytes of [`Sound::to_bytes`]; `None` if no sound has
    /// these bytes.
    #[must_use]
    pub fn from_bytes(machine: &Machine, bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let channels = Channels::read(machine, &mut fields)?;
        let mixer = Mixer::read(&mut fields)?;
        fields.0.is_empty().then(|| Self { channels, mixer, samples: Vec::new() })
    }

    /// Restarts if other code has run the machine or changed its sound.
    fn follow(&mut self, machine: &Machine) {
        if self.channels.now() != machine.now || *self.channels.apu() != machine.apu {
            self.channels = Channels::of(machine);
        }
    }

    /// Runs the machine to the end of its frame.
    pub fn run_frame(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        draw: bool,
    ) {
        self.run_frame_with(machine, rom, cart_ram, draw, |_| {});
    }

    /// Runs the machine to the end of its frame, and passes the levels of every half M-cycle on.
    pub fn run_frame_with(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        draw: bool,
        mut heard: impl FnMut(&Levels),
    ) {
        self.follow(machine);
        machine.begin_frame(draw);
        loop {
            let (written, div_base) = (machine.apu.written, machine.timer.div_base);
            let is_over = machine.run_instruction(rom, cart_ram);
            let apu = &machine.apu;
            let writes = apu.written.count.wrapping_sub(written.count);
            if writes > 1 {
                self.advance_to(apu.synced_at.wrapping_sub(1), &mut heard);
                self.channels.write(apu.written.previous_address, apu.written.previous_value);
            }
            if writes > 0 {
                self.advance_to(apu.synced_at, &mut heard);
                self.channels.write(apu.written.address, apu.written.value);
            }
            if machine.timer.div_base != div_base {
                // The counter has 16 bits: at the end of a frame its base moves by a multiple of
                // its period.
                if machine.timer.div_base.wrapping_sub(div_base) & 0x3fff == 0 {
                    self.channels.rebase_div(machine.timer.div_base);
                } else {
                    self.advance_to(machine.timer.div_base, &mut heard);
                    self.channels.reset_div(machine.timer.div_base);
                }
            }
            #[cfg(color)]
            if machine.apu.double_speed != self.channels.apu().double_speed {
                self.advance_to(machine.speed.since, &mut heard);
                self.channels.change_speed(machine.apu.double_speed);
                self.advance_to(machine.apu.synced_at, &mut heard);
                self.channels = Channels::of(machine);
            }
            if is_over {
                self.advance_to(machine.now, &mut heard);
                return;
            }
        }
    }

    /// Runs a step as [`Machine::run_step`] does, with the same result.
    pub fn run_step(
        &mut self,
        machine: &mut Machine,
        rom: &[u8],
        cart_ram: &mut [u8],
        buttons: u8,
        step: Step,
    ) -> u32 {
        machine.run_step_with(buttons, step, |machine, draw| {
            self.run_frame(machine, rom, cart_ram, draw);
        })
    }

    /// Returns the samples made since they were last cleared.
    #[must_use]
    pub fn samples(&self) -> &[StereoSample] {
        &self.samples
    }

    /// Clears the samples.
    pub fn clear(&mut self) {
        self.samples.clear();
    }

    /// Returns the copy of the machine's audio unit. Between frames both are equal, on the Color
    /// except for noise that was not read.
    #[must_use]
    pub fn apu(&self) -> &gbxcule_gameboy::apu::Apu {
        self.channels.apu()
    }

    fn advance_to(&mut self, moment: u32, heard: &mut impl FnMut(&Levels)) {
        while self.channels.now() != moment {
            let left = moment.wrapping_sub(self.channels.now());
            for (levels, halves) in self.channels.advance(left) {
                (0..halves).for_each(|_| heard(&levels));
                self.mixer.add(&levels, self.channels.apu(), halves, &mut self.samples);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gbxcule_gameboy::{Cartridge, Machine};

    use super::Sound;

    /// Plays a ROM with all buttons in turn, and checks its sound after each frame.
    fn play(rom: &[u8], frames: u32) {
        let cartridge = Cartridge::from_rom(rom).expect("a right header");
        let mut rom = rom.to_vec();
        rom.resize(cartridge.padded_len(), 0xff);
        let mut ram = vec![0xff; cartridge.ram_bytes as usize];
        let mut machine = Machine::power_on(&cartridge);
        let mut sound = Sound::new(&machine);
        for frame in 0..frames {
            machine.set_buttons(1 << (frame / 3 % 8));
            sound.run_frame(&mut machine, &rom, &mut ram, false);
            sound.channels.assert_skips_are_steps(20_000);
        }
    }

    #[test]
    fn many_mcycles_at_once_are_as_many_one_after_the_other() {
        let color_roms = if cfg!(color) { gbxcule_assembler::for_color() } else { &[] };
        for rom in gbxcule_assembler::all().iter().chain(color_roms) {
            play(rom.bytes(), 24);
        }
    }

    #[test]
    fn every_channel_is_skipped_as_it_is_stepped() {
        // The programs have sweeps up and down, periods of one M-cycle, lengths that end, and all
        // kinds of noise.
        for kind in 0..32_u8 {
            let mut text = "Start: di\n".to_owned();
            if cfg!(color) && kind % 2 == 1 {
                // Double speed.
                text += "ld a, $30\nldh [$00], a\nld a, 1\nldh [$4D], a\nstop\n";
            }
            text += "xor a\nldh [$26], a\nld a, $80\nldh [$26], a\n";
            let bytes = (0x10..0x40_u8).filter(|register| *register != 0x26).map(|register| {
                let mixed = register.wrapping_mul(kind.wrapping_mul(29).wrapping_add(101));
                (register, mixed.rotate_left(u32::from(kind)))
            });
            let wave: Vec<_> = bytes.clone().filter(|(register, _)| *register >= 0x30).collect();
            for (register, value) in wave.into_iter().chain(bytes) {
                let value = match register {
                    0x12 | 0x17 | 0x21 | 0x1a => value | 0x80,
                    0x13 | 0x18 | 0x1d if kind % 4 == 0 => 0xff,
                    0x14 | 0x19 | 0x1e | 0x23 => value | 0x80 | if kind % 4 == 0 { 7 } else { 0 },
                    0x22 if kind % 3 == 0 => value & 7,
                    _ => value,
                };
                if register < 0x30 || kind == 0 {
                    text += &format!("ld a, {value}\nldh [${register:02x}], a\n");
                }
            }
            let built =
                gbxcule_assembler::assemble(&(text + ".wait: jr .wait\n")).expect("a program");
            let mut rom = built.bytes;
            if cfg!(color) {
                rom[0x143] = 0x80;
            }
            play(&rom, 24);
        }
    }
}
