//! States in which the episodes of a built-in game begin: its title, and the states after START is
//! pressed on the title.

use gbxcule_games::Game;
use gbxcule_runtime::Device;

use crate::{Chance, Codec, PowerOnChoice, Rom, Schedule, Stage, Swarm, SwarmConfig, SwarmError};

/// Number of states in which seeded episodes begin: for each state START was pressed one step
/// later.
const STARTS: usize = 16;
/// Number of levels of a game.
pub const LEVELS: u32 = 65_535;
/// The random state of all games.
pub const CHANCE: Chance = Chance { low: RANDOM, width_bytes: 2 };
/// Frames of a step on the title, steps before the first START, and greatest number of steps.
const TITLE_FRAMES: u32 = 4;
const STEPS_BEFORE_START: usize = 30;
const MAX_TITLE_STEPS: usize = 400;
/// Addresses in all games: of the number of the game's state (1 while it is played), the random
/// state, and the bits of the variant.
const STATE: u32 = 0xC005;
const RANDOM: u32 = 0xC00C;
const VARIANT: u32 = 0xDFAB;
const PLAYING: u8 = 1;

/// Returns the random state of a level. It is unique, and never 0, from which the generator would
/// not leave.
fn level_seed(level: u32) -> u16 {
    (1 + u64::from(level) * 40_507 % u64::from(LEVELS)) as u16
}

/// Returns the built-in game of this name.
pub fn game(name: &str) -> Option<&'static Game> {
    gbxcule_games::GAMES.iter().find(|game| game.name == name)
}

/// A game that waits on its title.
pub struct Title {
    game: &'static Game,
    rom: Rom,
    power_on: PowerOnChoice,
    /// Bits of the variant.
    bits: u8,
    state: Vec<u8>,
}

impl Title {
    /// Switches the game on, whose ROM `rom` is, and waits until its memory and random state are
    /// set up.
    ///
    /// # Errors
    /// A machine faults.
    pub fn new(
        game: &'static Game,
        rom: Rom,
        power_on: PowerOnChoice,
        bits: u8,
    ) -> Result<Self, SwarmError> {
        let mut title = Self { game, rom, power_on, bits, state: Vec::new() };
        let mut swarm = title.switched_on(1)?;
        for _ in 0..STEPS_BEFORE_START {
            swarm.step(&[0])?;
        }
        title.state = swarm.save_state(0)?;
        Ok(title)
    }

    /// Returns the state on the title, which has no variant's bits yet.
    pub fn state(&self) -> &[u8] {
        &self.state
    }

    /// Returns true if the game is played in a variant, or in its easy difficulty.
    #[must_use]
    pub fn is_variant(&self) -> bool {
        self.bits != 0
    }

    /// Returns the states in which seeded episodes begin; a single state for a game without a
    /// title.
    ///
    /// # Errors
    /// A machine faults.
    pub fn starts(&self) -> Result<Vec<Vec<u8>>, SwarmError> {
        if !self.game.has_title {
            return Ok(vec![self.machines(1)?.save_state(0)?]);
        }
        let press_steps: [usize; STARTS] = std::array::from_fn(|env| env);
        self.press_start(&mut self.machines(STARTS)?, &press_steps)
    }

    /// Returns the states in which levels begin: the random state on the title decides a level.
    ///
    /// # Errors
    /// A machine faults.
    pub fn level_starts(&self, levels: &[u32]) -> Result<Vec<Vec<u8>>, SwarmError> {
        let mut swarm = self.machines(levels.len())?;
        for (env, &level) in levels.iter().enumerate() {
            swarm.write_memory(env, RANDOM, &level_seed(level).to_le_bytes())?;
        }
        if self.game.has_title {
            self.press_start(&mut swarm, &vec![0; levels.len()])
        } else {
            (0..levels.len()).map(|env| swarm.save_state(env)).collect()
        }
    }

    fn switched_on(&self, num_envs: usize) -> Result<Swarm, SwarmError> {
        let config = SwarmConfig {
            codec: Codec::by_name("NOOP,START")?,
            schedule: Schedule::new(TITLE_FRAMES, TITLE_FRAMES)?,
            stage: Stage::EmulateOnly,
            power_on: self.power_on,
            ..SwarmConfig::new(num_envs)
        };
        Swarm::new(self.rom.clone(), config, Device::Cpu)
    }

    /// Makes equal machines that wait on the title, with the bits of the variant.
    fn machines(&self, num_envs: usize) -> Result<Swarm, SwarmError> {
        let mut swarm = self.switched_on(num_envs)?;
        for env in 0..num_envs {
            swarm.load_state(env, &self.state)?;
            if self.bits != 0 {
                swarm.write_memory(env, VARIANT, &[self.bits])?;
            }
        }
        Ok(swarm)
    }

    /// Presses START in each env at its step of `press_steps`, and returns the states in which play
    /// begins.
    fn press_start(
        &self,
        swarm: &mut Swarm,
        press_steps: &[usize],
    ) -> Result<Vec<Vec<u8>>, SwarmError> {
        let mut starts = vec![None; press_steps.len()];
        for step in 0..MAX_TITLE_STEPS {
            let presses: Vec<u8> = press_steps.iter().map(|&it| u8::from(it == step)).collect();
            swarm.step(&presses)?;
            for (env, start) in starts.iter_mut().enumerate().filter(|(_, it)| it.is_none()) {
                if swarm.read_memory(env, STATE..STATE + 1)? == [PLAYING] {
                    *start = Some(swarm.save_state(env)?);
                }
            }
            if starts.iter().all(Option::is_some) {
                break;
            }
        }
        let starts = starts.into_iter().collect::<Option<Vec<_>>>();
        Ok(starts.unwrap_or_else(|| unreachable!("{} begins after its title", self.game.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::{LEVELS, level_seed};
    use std::collections::HashSet;

    #[test]
    fn each_level_has_a_random_state_of_its_own() {
        let seeds: HashSet<u16> = (0..LEVELS).map(level_seed).collect();
        assert_eq!(seeds.len(), LEVELS as usize);
        assert!(!seeds.contains(&0), "0 stays 0");
    }
}
