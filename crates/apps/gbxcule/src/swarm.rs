//! Game Boys that run one ROM and are stepped together, on the CPU or on a CUDA device.
//!
//! ```
//! use gbxcule::swarm::{Swarm, SwarmConfig, game};
//!
//! let mut swarm = Swarm::new(game("PEARL_DRIFT")?, SwarmConfig::new(64), gbxcule::Device::Cpu)?;
//! swarm.reset(7)?;
//! swarm.step(&[3; 64])?;
//! assert_eq!(swarm.rewards()?.len(), 64);
//! # Ok::<(), gbxcule::Error>(())
//! ```

use crate::error::Error;

pub use gbxcule_swarm::{
    Action, Codec, Counters, EnvSnapshot, Episode, FrameRange, Model, Picture, ProgramText,
    Programs, Rom, Schedule, Stage, Swarm, SwarmConfig, SwarmError, View, button,
};

/// Assembles a built-in ROM or game by its name, such as `PEARL_DRIFT`.
///
/// # Errors
/// No built-in ROM has this name.
pub fn game(name: &str) -> Result<Rom, Error> {
    let rom = gbxcule_assembler::by_name(name).ok_or_else(|| {
        let known = gbxcule_assembler::all().iter().map(|it| it.name.to_owned());
        Error::UnknownRom { name: name.to_owned(), known: known.collect() }
    })?;
    Ok(Rom::new(rom.bytes())?)
}
