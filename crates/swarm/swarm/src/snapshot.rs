//! The saved state of one env.

use crate::machine::{MachineSound, of_either};
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
    /// `None` where an episode begins: then the scratch is zeros, and the programs' `begin` runs.
    pub(crate) scratch: Option<Vec<f32>>,
    /// The last observation of the programs; `None` where an episode begins, and if the stage
    /// of the swarm computes none.
    pub(crate) observation: Option<Vec<f32>>,
    /// The stack of its last pictures; `None` where an episode begins, and in a swarm that keeps
    /// none.
    pub(crate) pictures: Option<(PictureStack, Vec<u8>)>,
    /// Sound state beside the machine's; `None` if the swarm makes no sound, or if sound begins
    /// anew.
    pub(crate) sound: Option<MachineSound>,
}

impl EnvSnapshot {
    /// Machines switched on, one for each of the memory's possible contents.
    pub(crate) fn power_on(rom: &Rom, memory: PowerOnChoice) -> Vec<Self> {
        let switch_on = |contents| {
            let cart_ram = vec![0xFF; rom.cart_ram_bytes()];
            Self::start(AnyMachine::power_on(rom, contents), cart_ram)
        };
        memory.contents().into_iter().map(switch_on).collect()
    }

    /// A machine where an episode begins: counters are 0, and programs keep nothing yet.
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
            machine.frame = ahead.frame;
        });
    }

    /// Makes a start of a snapshot: counters at zero and no scratch values.
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
    #[must_use]
    pub fn machine(&self) -> &AnyMachine {
        &self.machine
    }

    /// The cartridge RAM.
    #[must_use]
    pub fn cart_ram(&self) -> &[u8] {
        &self.cart_ram
    }

    /// The cells that its programs keep from step to step; none where an episode has yet to begin.
    #[must_use]
    pub fn scratch(&self) -> &[f32] {
        self.scratch.as_deref().unwrap_or_default()
    }

    /// Returns the observation, if it is one of this configuration's programs.
    pub(crate) fn observation_in(&self, config: &SwarmConfig) -> Option<&[f32]> {
        let observation = self.observation.as_deref()?;
        let is_theirs = observation.len() == config.programs.obs_dim();
        (is_theirs && config.stage.owns_observation()).then_some(observation)
    }

    /// Returns the stack of pictures, if it is one of this form.
    pub(crate) fn pictures_as(&self, form: PictureStack) -> Option<&[u8]> {
        self.pictures.as_ref().filter(|(known, _)| *known == form).map(|(_, bytes)| &bytes[..])
    }

    /// Returns the env's counters since its reset.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
