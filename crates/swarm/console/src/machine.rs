//! A machine of either model. Both models are compiled from the same sources and have the same
//! functions; the native swarm calls them through [`AnyMachine`].

use gbxcule_gameboy as original;
use gbxcule_gameboy::state::Difference;
use gbxcule_gameboy::{Cartridge, Model, PowerOnMemory, Step};
use gbxcule_gameboy_color as color;
use gbxcule_recompiler::Recompile;

use crate::{ConsoleError, Rom, banked_address};

/// One Game Boy.
#[derive(Debug, PartialEq, Eq)]
pub enum AnyMachine {
    /// The original.
    Original(Box<original::Machine>),
    /// The Color.
    Color(Box<color::Machine>),
}

/// Evaluates one expression with the machine of either model.
#[macro_export]
macro_rules! of_either {
    ($self:expr, $machine:ident => $act:expr) => {
        match $self {
            $crate::AnyMachine::Original($machine) => $act,
            $crate::AnyMachine::Color($machine) => $act,
        }
    };
}

/// Evaluates one expression with a value that belongs to a machine's model, and with the machine.
macro_rules! with_machine {
    ($own:expr, $machine:expr; $value:ident, $of_model:ident => $act:expr) => {
        match ($own, $machine) {
            (Self::Original($value), AnyMachine::Original($of_model)) => $act,
            (Self::Color($value), AnyMachine::Color($of_model)) => $act,
            _ => unreachable!("the machines of a swarm have one model"),
        }
    };
}

impl Clone for AnyMachine {
    fn clone(&self) -> Self {
        match self {
            Self::Original(machine) => Self::Original(machine.clone()),
            Self::Color(machine) => Self::Color(machine.clone()),
        }
    }

    /// Copies a machine. Allocates nothing if both machines are of one model.
    fn clone_from(&mut self, source: &Self) {
        match (self, source) {
            (Self::Original(own), Self::Original(source)) => **own = **source,
            (Self::Color(own), Self::Color(source)) => **own = **source,
            (own, source) => *own = source.clone(),
        }
    }
}

impl AnyMachine {
    /// Makes a machine before its first instruction, with these contents of memory.
    pub fn power_on(rom: &Rom, contents: PowerOnMemory) -> Self {
        let cartridge = rom.cartridge();
        match rom.model() {
            Model::Original => Self::from(original::Machine::power_on_with(cartridge, contents)),
            Model::Color => Self::from(color::Machine::power_on_with(cartridge, contents)),
        }
    }

    /// Loads a state that [`AnyMachine::save_state`] stored, of a machine of this ROM's model.
    ///
    /// # Errors
    /// The bytes are no state of a machine with this cartridge.
    pub fn load_state(rom: &Rom, bytes: &[u8], cart_ram: &mut [u8]) -> Result<Self, ConsoleError> {
        let cartridge = rom.cartridge();
        Ok(match rom.model() {
            Model::Original => {
                Self::from(original::Machine::load_state(cartridge, bytes, cart_ram)?)
            }
            Model::Color => Self::from(color::Machine::load_state(cartridge, bytes, cart_ram)?),
        })
    }

    /// The original machine; `None` if this is a Color.
    pub fn original(&self) -> Option<&original::Machine> {
        match self {
            Self::Original(machine) => Some(machine),
            Self::Color(_) => None,
        }
    }

    /// The Color; `None` if this is an original machine.
    pub fn color(&self) -> Option<&color::Machine> {
        match self {
            Self::Original(_) => None,
            Self::Color(machine) => Some(machine),
        }
    }

    /// Returns the machine's model.
    pub fn model(&self) -> Model {
        match self {
            Self::Original(_) => Model::Original,
            Self::Color(_) => Model::Color,
        }
    }

    /// Bytes that a machine of a model takes.
    pub fn bytes(model: Model) -> usize {
        match model {
            Model::Original => size_of::<original::Machine>(),
            Model::Color => size_of::<color::Machine>(),
        }
    }

    /// Returns the length of a state of a machine with this cartridge.
    pub fn state_len(&self, cartridge: &Cartridge) -> usize {
        of_either!(self, machine => machine.state_len(cartridge))
    }

    /// Stores everything in `out`, which must be `state_len` bytes long.
    ///
    /// # Errors
    /// A buffer has another length.
    pub fn save_state(
        &self,
        cartridge: &Cartridge,
        cart_ram: &[u8],
        out: &mut [u8],
    ) -> Result<(), ConsoleError> {
        Ok(of_either!(self, machine => machine.save_state(cartridge, cart_ram, out))?)
    }

    /// The first field in which two machines of one model differ.
    pub fn first_difference(&self, other: &Self) -> Option<Difference> {
        match (self, other) {
            (Self::Original(own), Self::Original(other)) => own.first_difference(other),
            (Self::Color(own), Self::Color(other)) => own.first_difference(other),
            _ => None,
        }
    }

    /// Runs a step with the buttons held for its first frames; returns its M-cycles.
    pub fn run_step(&mut self, rom: &[u8], cart_ram: &mut [u8], buttons: u8, step: Step) -> u32 {
        of_either!(self, machine => machine.run_step(rom, cart_ram, buttons, step))
    }

    /// Starts a frame with these buttons held.
    pub fn begin_frame_with(&mut self, buttons: u8, draw: bool) {
        of_either!(self, machine => machine.begin_frame_with(buttons, draw));
    }

    /// Runs to the next hook, and returns its number, or to the end of the frame.
    pub fn run_to_hook(
        &mut self,
        rom: &[u8],
        cart_ram: &mut [u8],
        (marks, places): (&[u8], &[u32]),
        resumes: bool,
    ) -> u32 {
        of_either!(self, machine => machine.run_to_hook(rom, cart_ram, marks, places, resumes))
    }

    /// M-cycles of four T-cycles since power-on, wrapping.
    pub fn mcycles_at_single_speed(&self) -> u32 {
        of_either!(self, machine => machine.mcycles_at_single_speed())
    }

    /// Returns the byte at an address, for debuggers and observers.
    pub fn peek(&self, rom: &[u8], cart_ram: &[u8], address: u16) -> u8 {
        of_either!(self, machine => machine.peek(rom, cart_ram, address))
    }

    /// Reads the byte at a place: an address, or an address in a bank.
    pub fn peek_place(&self, rom: &[u8], cart_ram: &[u8], place: u32) -> u8 {
        let (bank, address) = banked_address::split(place);
        match (bank, self) {
            (None, machine) => machine.peek(rom, cart_ram, address),
            (Some(bank), Self::Original(machine)) => {
                original::view::read_bank(machine, rom, cart_ram, bank, address)
            }
            (Some(bank), Self::Color(machine)) => {
                color::view::read_bank(machine, rom, cart_ram, bank, address)
            }
        }
    }

    /// Writes a byte for debuggers, at an address, or at an address in a bank.
    pub fn poke_place(&mut self, rom: &[u8], cart_ram: &mut [u8], place: u32, value: u8) {
        let (bank, address) = banked_address::split(place);
        of_either!(self, machine => match bank {
            None => machine.poke(rom, cart_ram, address, value),
            Some(bank) => machine.poke_bank(rom, cart_ram, bank, address, value),
        });
    }

    /// The last drawn frame.
    pub fn frame(&self) -> Frame<'_> {
        match self {
            Self::Original(machine) => Frame::Shades(&machine.frame),
            Self::Color(machine) => Frame::Colors(&machine.frame),
        }
    }
}

/// The name of a model in messages.
pub(crate) fn model_name(model: Model) -> &'static str {
    match model {
        Model::Original => "an original Game Boy",
        Model::Color => "a Game Boy Color",
    }
}

/// Bytes of work RAM, video RAM and the picture of a model.
pub fn memory_bytes(model: Model) -> [usize; 3] {
    match model {
        Model::Original => {
            [original::machine::WRAM_BYTES, original::ppu::VRAM_BYTES, original::FRAME_BYTES]
        }
        Model::Color => [color::machine::WRAM_BYTES, color::ppu::VRAM_BYTES, color::FRAME_BYTES],
    }
}

impl From<original::Machine> for AnyMachine {
    fn from(machine: original::Machine) -> Self {
        Self::Original(Box::new(machine))
    }
}

impl From<color::Machine> for AnyMachine {
    fn from(machine: color::Machine) -> Self {
        Self::Color(Box::new(machine))
    }
}

/// A frame as its model draws it.
#[derive(Debug, Clone, Copy)]
pub enum Frame<'f> {
    /// Four pixels to a byte, the leftmost in the top bits; 0 is the lightest shade.
    Shades(&'f [u8; original::FRAME_BYTES]),
    /// Two bytes a pixel, the lower one first: RGB555, red in the lowest bits.
    Colors(&'f [u8; color::FRAME_BYTES]),
}

impl<'f> Frame<'f> {
    /// Splits bytes into frames of machines of one model.
    pub fn each(model: Model, frames: &'f [u8]) -> Box<dyn Iterator<Item = Self> + 'f> {
        match model {
            Model::Original => Box::new(frames.as_chunks().0.iter().map(Self::Shades)),
            Model::Color => Box::new(frames.as_chunks().0.iter().map(Self::Colors)),
        }
    }
}

/// Runs frames of machines of one model by code made for their ROM.
pub enum AnyRunner {
    /// Of originals.
    Original(gbxcule_recompiler::Runner),
    /// Of Colors.
    Color(gbxcule_recompiler_color::Runner),
}

impl AnyRunner {
    /// A runner for machines that run a ROM.
    pub fn new(rom: &Rom, recompile: Recompile) -> Self {
        let bytes = rom.shared_bytes();
        match rom.model() {
            Model::Original => Self::Original(gbxcule_recompiler::Runner::new(bytes, recompile)),
            Model::Color => Self::Color(gbxcule_recompiler_color::Runner::new(bytes, recompile)),
        }
    }

    /// Runs a step like [`AnyMachine::run_step`].
    pub fn run_step(
        &mut self,
        machine: &mut AnyMachine,
        cart_ram: &mut [u8],
        buttons: u8,
        step: Step,
    ) -> u32 {
        with_machine!(self, machine; runner, machine => {
            machine.run_step_with(buttons, step, |machine, draw| {
                runner.run_frame(machine, cart_ram, draw);
            })
        })
    }

    /// Runs a frame with these buttons held.
    pub fn run_frame(
        &mut self,
        machine: &mut AnyMachine,
        cart_ram: &mut [u8],
        buttons: u8,
        draw: bool,
    ) {
        with_machine!(self, machine; runner, machine => {
            machine.set_buttons(buttons);
            runner.run_frame(machine, cart_ram, draw);
        });
    }

    /// Number of blocks, if frames are run by them.
    pub fn blocks(&self) -> Option<usize> {
        match self {
            Self::Original(runner) => {
                runner.shared().are_used().then(|| runner.shared().table().len())
            }
            Self::Color(runner) => {
                runner.shared().are_used().then(|| runner.shared().table().len())
            }
        }
    }
}

/// The sound of a machine of either model.
#[derive(Clone, Debug)]
pub enum MachineSound {
    /// Of an original.
    Original(gbxcule_sound::Sound),
    /// Of a Color.
    Color(gbxcule_sound_color::Sound),
}

impl MachineSound {
    /// Begins sound at the machine's present state.
    pub fn new(machine: &AnyMachine) -> Self {
        match machine {
            AnyMachine::Original(machine) => Self::Original(gbxcule_sound::Sound::new(machine)),
            AnyMachine::Color(machine) => Self::Color(gbxcule_sound_color::Sound::new(machine)),
        }
    }

    /// Begins anew at the present state of a machine of the same model.
    pub fn restart(&mut self, machine: &AnyMachine) {
        with_machine!(self, machine; sound, machine => sound.restart(machine));
    }

    /// Returns a copy of the sound without its samples.
    pub fn without_samples(&self, machine: &AnyMachine) -> Self {
        match (self, machine) {
            (Self::Original(sound), AnyMachine::Original(machine)) => {
                Self::Original(sound.without_samples(machine))
            }
            (Self::Color(sound), AnyMachine::Color(machine)) => {
                Self::Color(sound.without_samples(machine))
            }
            _ => unreachable!("the machines of a swarm have one model"),
        }
    }

    /// Returns, as bytes, the part of the sound that the machine's state doesn't hold.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Original(sound) => sound.to_bytes(),
            Self::Color(sound) => sound.to_bytes(),
        }
    }

    /// Makes the sound that bytes hold; `None` if they are not the bytes of a sound.
    pub fn from_bytes(machine: &AnyMachine, bytes: &[u8]) -> Option<Self> {
        match machine {
            AnyMachine::Original(machine) => {
                gbxcule_sound::Sound::from_bytes(machine, bytes).map(Self::Original)
            }
            AnyMachine::Color(machine) => {
                gbxcule_sound_color::Sound::from_bytes(machine, bytes).map(Self::Color)
            }
        }
    }

    /// Bytes of the sound of a machine, without its samples.
    pub fn bytes(model: Model) -> usize {
        match model {
            Model::Original => size_of::<gbxcule_sound::Sound>(),
            Model::Color => size_of::<gbxcule_sound_color::Sound>(),
        }
    }

    /// Runs a step of a machine of the same model, and makes its samples.
    pub fn run_step(
        &mut self,
        machine: &mut AnyMachine,
        rom: &[u8],
        cart_ram: &mut [u8],
        buttons: u8,
        step: Step,
    ) -> u32 {
        with_machine!(self, machine; sound, machine => {
            sound.run_step(machine, rom, cart_ram, buttons, step)
        })
    }

    /// Samples made since they were last cleared.
    pub fn samples(&self) -> &[[i16; 2]] {
        match self {
            Self::Original(sound) => sound.samples(),
            Self::Color(sound) => sound.samples(),
        }
    }

    /// Forgets the samples made so far.
    pub fn clear(&mut self) {
        match self {
            Self::Original(sound) => sound.clear(),
            Self::Color(sound) => sound.clear(),
        }
    }
}
