//! The saved state of one env.

use gbxcule_console::{MachineSound, of_either};

use crate::{AnyMachine, PictureStack, PowerOnChoice, Rom, SwarmConfig, SwarmError};

/// Counters of an env since its reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Frames run.
    pub frames: u64,
    /// T-cycles run.
    pub tcycles: u64,
}

/// The whole state of one env: the machine, its cartridge RAM, its counters, its programs' scratch
/// and last observation, and its sound if the swarm makes sound.
#[derive(Clone)]
pub struct EnvSnapshot {
    pub(crate) machine: AnyMachine,
    pub(crate) cart_ram: Vec<u8>,
    pub(crate) counters: Counters,
    /// The programs' scratch; `None` at the beginning of an episode: the scratch is then zeros, and
    /// `begin` runs.
    pub(crate) scratch: Option<Vec<f32>>,
    /// The last observation; `None` at the beginning of an episode, and if the swarm's stage has no
    /// observation.
    pub(crate) observation: Option<Vec<f32>>,
    /// The stack of the last pictures; `None` at the beginning of an episode, and in a swarm
    /// without pictures.
    pub(crate) pictures: Option<(PictureStack, Vec<u8>)>,
    /// The part of the sound's state that is not in the machine; `None` if the swarm makes no
    /// sound, or if sound begins anew.
    pub(crate) sound: Option<MachineSound>,
}

impl EnvSnapshot {
    /// Makes snapshots of machines at power-on, one for each of the memory's possible contents.
    pub(crate) fn power_on(rom: &Rom, memory: PowerOnChoice) -> Vec<Self> {
        let switch_on = |contents| {
            let cart_ram = vec![0xFF; rom.cart_ram_bytes()];
            Self::start(AnyMachine::power_on(rom, contents), cart_ram)
        };
        memory.contents().into_iter().map(switch_on).collect()
    }

    /// Makes the snapshot of a machine at the beginning of an episode: counters are 0, and there is
    /// no scratch.
    pub(crate) fn start(machine: AnyMachine, cart_ram: Vec<u8>) -> Self {
        let counters = Counters::default();
        Self {
            machine,
            cart_ram,
            counters,
            scratch: None,
            observation: None,
            pictures: None,
            sound: None,
        }
    }

    /// Runs a copy of the machine for a frame, and takes that frame's picture.
    pub(crate) fn draw_ahead(&mut self, rom: &Rom) {
        let mut cart_ram = self.cart_ram.clone();
        of_either!(&mut self.machine, machine => {
            let mut ahead = **machine;
            ahead.run_frame(rom.bytes(), &mut cart_ram, true);
            machine.copy_picture(&ahead);
        });
    }

    /// Converts the snapshot to a start: counters are 0, and there is no scratch.
    pub(crate) fn into_start(self) -> Self {
        Self::start(self.machine, self.cart_ram)
    }

    /// Checks that an env with this cartridge and these programs can be in this state.
    pub(crate) fn check(&self, rom: &Rom, config: &SwarmConfig) -> Result<(), SwarmError> {
        if self.machine.model() != rom.model() {
            return Err(SwarmError::OtherModel);
        }
        let (found, expected) = (self.cart_ram.len(), rom.cart_ram_bytes());
        if found != expected {
            return Err(SwarmError::OtherCartridge { found, expected });
        }
        let (found, expected) = (self.scratch().len(), config.cells());
        if found != expected && self.scratch.is_some() {
            return Err(SwarmError::OtherPrograms { found, expected });
        }
        Ok(())
    }

    /// The machine.
    pub fn machine(&self) -> &AnyMachine {
        &self.machine
    }

    /// The cartridge RAM.
    pub fn cart_ram(&self) -> &[u8] {
        &self.cart_ram
    }

    /// The scratch of its programs; empty if an episode has yet to begin.
    pub fn scratch(&self) -> &[f32] {
        self.scratch.as_deref().unwrap_or_default()
    }

    /// Returns the observation, if it has the size that this configuration's programs compute.
    pub(crate) fn observation_in(&self, config: &SwarmConfig) -> Option<&[f32]> {
        let observation = self.observation.as_deref()?;
        let is_theirs = observation.len() == config.programs.obs_dim();
        (is_theirs && config.stage.owns_observation()).then_some(observation)
    }

    /// Returns the stack of pictures, if it has this form.
    pub(crate) fn pictures_as(&self, form: PictureStack) -> Option<&[u8]> {
        self.pictures.as_ref().filter(|(own, _)| *own == form).map(|(_, bytes)| &bytes[..])
    }

    /// Returns the env's counters since its reset.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
