//! The saved state of one env.

use gbxcule_gameboy::Step;

use crate::foreign_state::imported;
use crate::{Machine, PowerOnMemory, Programs, Rom, SwarmConfig, SwarmError};

/// How far an env has come since its reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Frames run.
    pub frames: u64,
    /// T-cycles run.
    pub tcycles: u64,
}

/// The whole state of one env: the machine, its cartridge RAM, its counters and its programs'
/// scratch.
#[derive(Clone)]
pub struct EnvSnapshot {
    pub(crate) machine: Machine,
    pub(crate) cart_ram: Vec<u8>,
    pub(crate) counters: Counters,
    /// `None` where an episode begins: then the scratch is zeros, and the programs' `begin` runs.
    pub(crate) scratch: Option<Vec<f32>>,
}

/// Frames of one machine between two questions whether to go on: a small part of a second.
const FRAMES_BETWEEN: u32 = 64;

impl EnvSnapshot {
    /// Machines switched on, one for each of the memory's possible contents.
    pub(crate) fn power_on(rom: &Rom, memory: PowerOnMemory) -> Vec<Self> {
        let switch_on = |contents| {
            let cart_ram = vec![0xFF; rom.cart_ram_bytes()];
            Self::start(Machine::power_on(rom, contents), cart_ram)
        };
        memory.contents().into_iter().map(switch_on).collect()
    }

    /// A machine where an episode begins: nothing is counted, programs keep nothing yet.
    pub(crate) fn start(machine: Machine, cart_ram: Vec<u8>) -> Self {
        let (counters, scratch) = (Counters::default(), None);
        Self { machine, cart_ram, counters, scratch }
    }

    /// Makes starts of states of any format, or of power-on if there are none, each run on for so
    /// many steps without buttons; `None` if `go_on` ended it.
    pub(crate) fn starts_of(
        states: &[&[u8]],
        steps: u32,
        rom: &Rom,
        config: &SwarmConfig,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<Self>>, SwarmError> {
        let mut starts = match states {
            [] => Self::power_on(rom, config.power_on),
            _ => {
                let read = |bytes: &&[u8]| imported(bytes, rom, &config.programs);
                let starts = states.iter().map(|bytes| read(bytes).map(Self::into_start));
                starts.collect::<Result<_, _>>()?
            }
        };
        let came_to_end = starts.iter_mut().all(|start| start.wait(rom, config, steps, go_on));
        Ok(came_to_end.then_some(starts))
    }

    /// Makes starts of one state or more.
    pub(crate) fn later_starts(
        states: &[&[u8]],
        rom: &Rom,
        config: &SwarmConfig,
    ) -> Result<Vec<Self>, SwarmError> {
        if states.is_empty() {
            return Err(SwarmError::NoStart);
        }
        let starts = Self::starts_of(states, 0, rom, config, &mut || true)?;
        Ok(starts.unwrap_or_default())
    }

    /// This machine as a start: counters at zero and no scratch values.
    pub(crate) fn into_start(self) -> Self {
        Self::start(self.machine, self.cart_ram)
    }

    /// Checks that an env with this cartridge and these programs can be in this state.
    pub(crate) fn check(&self, rom: &Rom, programs: &Programs) -> Result<(), SwarmError> {
        if self.machine.model() != rom.model() {
            return Err(SwarmError::OtherModel);
        }
        let (found, expected) = (self.cart_ram.len(), rom.cart_ram_bytes());
        if found != expected {
            return Err(SwarmError::OtherCartridge { found, expected });
        }
        let (found, expected) = (self.scratch().len(), programs.scratch_len());
        if found != expected && self.scratch.is_some() {
            return Err(SwarmError::OtherPrograms { found, expected });
        }
        Ok(())
    }

    /// Runs some steps without buttons, before anything is counted, asking now and then whether to
    /// go on; says whether it came to its end.
    fn wait(
        &mut self,
        rom: &Rom,
        config: &SwarmConfig,
        steps: u32,
        go_on: &mut dyn FnMut() -> bool,
    ) -> bool {
        let draw_last = config.draw_last || config.programs.look_at_frame();
        for _ in 0..steps {
            let mut left = config.schedule.frames_per_step();
            while left > 0 {
                if !go_on() {
                    return false;
                }
                let frames = left.min(FRAMES_BETWEEN);
                left -= frames;
                let draw_last = draw_last && left == 0;
                let step = Step { frames, release_after: u32::MAX, draw_last };
                self.machine.run_step(rom.bytes(), &mut self.cart_ram, 0, step);
            }
        }
        true
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
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

    /// How far it had come since its reset.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
