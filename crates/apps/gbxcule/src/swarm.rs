//! Game Boys that run one ROM and are stepped together, on the CPU or on a CUDA device.
//!
//! ```
//! use gbxcule::Device;
//! use gbxcule::swarm::{Swarm, SwarmConfig, built_in_rom, game};
//!
//! // A built-in game brings its steps, actions, reward, observation and starts.
//! let mut swarm = game("KEEP_OF_KEYS")?.swarm(64, Device::Cpu)?;
//! swarm.reset(7)?;
//! swarm.step(&[3; 64])?;
//! assert_eq!(swarm.rewards()?.len(), 64);
//!
//! // Any ROM runs with a configuration of one's own.
//! let rom = built_in_rom("ALU_LOOP")?;
//! let swarm = Swarm::new(rom, SwarmConfig::new(64), Device::Cpu)?;
//! # Ok::<(), gbxcule::Error>(())
//! ```

use crate::Device;
use crate::error::Error;
use gbxcule_games::GAMES;
use gbxcule_swarm::game_start::{self, CHANCE, Title};

pub use gbxcule_swarm::{
    Action, AnyMachine, Chance, Codec, CodecError, ConsoleError, Counters, CpuState, Crop,
    EnvSnapshot, Episode, FRAME_BYTES, ForeignStateError, Frame, FrameRange, Grays, Hook,
    HookCount, LinkMode, Model, Picture, PictureStack, PowerOnChoice, Pressed, ProgramText,
    Programs, Recompile, Revision, Rom, Schedule, ScratchArray, ScratchCell, Stage, Swarm,
    SwarmConfig, SwarmError, SwarmOf, TextRole, View, button,
};

/// Assembles a built-in ROM by its name: a micro-ROM such as `ALU_LOOP`, or a game.
///
/// # Errors
/// No built-in ROM has this name.
pub fn built_in_rom(name: &str) -> Result<Rom, Error> {
    let rom = gbxcule_assembler::by_name(name).ok_or_else(|| {
        let all = gbxcule_assembler::all().iter().chain(gbxcule_assembler::for_color());
        let known = all.map(|it| it.name.to_owned()).collect();
        Error::UnknownRom { name: name.to_owned(), known }
    })?;
    Ok(Rom::new(rom.bytes())?)
}

/// A built-in game: its ROM, and how its episodes are played.
#[derive(Clone)]
pub struct Game {
    rom: Rom,
    row: &'static gbxcule_games::Game,
}

/// Finds a built-in game by its name, such as `PEARL_DRIFT`.
///
/// # Errors
/// A name that no built-in game has.
pub fn game(name: &str) -> Result<Game, Error> {
    let row = game_start::game(name).ok_or_else(|| {
        let known = GAMES.iter().map(|it| it.name.to_owned()).collect();
        Error::UnknownGame { name: name.to_owned(), known }
    })?;
    Ok(Game { rom: built_in_rom(name)?, row })
}

impl Game {
    /// Returns the ROM.
    pub fn rom(&self) -> &Rom {
        &self.rom
    }

    /// Describes a swarm that plays the game: with its actions, the frames of its steps, and its
    /// program for reward, end and observation. A number that each episode draws decides all
    /// chance.
    ///
    /// # Errors
    /// None for the games of this version.
    pub fn config(&self, num_envs: usize) -> Result<SwarmConfig, Error> {
        let row = self.row;
        Ok(SwarmConfig {
            codec: Codec::by_name(row.actions)?,
            schedule: Schedule::new(row.frames_per_step, row.release_after_frames)?,
            programs: Programs::find(row.name, row.name)?,
            chance: Some(CHANCE),
            ..SwarmConfig::new(num_envs)
        })
    }

    /// Returns the states in which episodes begin, for [`SwarmOf::restart_from`]: behind the
    /// game's title.
    ///
    /// # Errors
    /// A machine faults.
    pub fn starts(&self) -> Result<Vec<Vec<u8>>, Error> {
        let title = Title::new(self.row, self.rom.clone(), PowerOnChoice::default(), 0)?;
        Ok(title.starts()?)
    }

    /// Makes a swarm that plays the game: of [`Self::config`], with episodes that begin in
    /// [`Self::starts`].
    ///
    /// # Errors
    /// The device is missing or has too little memory.
    pub fn swarm(&self, num_envs: usize, device: Device) -> Result<Swarm, Error> {
        let mut swarm = Swarm::new(self.rom.clone(), self.config(num_envs)?, device)?;
        let starts = self.starts()?;
        let starts: Vec<&[u8]> = starts.iter().map(Vec::as_slice).collect();
        // As Python's environments do with `start_steps=1`.
        swarm.restart_from(&starts, 1)?;
        Ok(swarm)
    }
}
