//! Calls of a swarm that save and restore envs as bytes, in all formats.

use gbxcule_console::ConsoleError;
use gbxcule_console::foreign_state::{self, ForeignFormat, battery};

use crate::engine::Engine;
use crate::env_record::{self, EnvRecord};
use crate::swarm::SwarmOf;
use crate::{EnvSnapshot, Rom, SwarmConfig, SwarmError};

impl<E: Engine + ?Sized> SwarmOf<E> {
    /// Returns an env as versioned bytes that outlive this process: its machine with cartridge RAM,
    /// its counters, its programs' scratch and last observation, its episode, and a checksum.
    pub fn save_state(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        let (snapshot, episode) = (self.snapshot(env)?, self.episode(env)?);
        env_record::to_bytes(&snapshot, episode, self.rom(), &self.config().programs)
    }

    /// Returns an env as [`Self::save_state`] does, with the picture of the next frame in the
    /// state. So a swarm that draws nothing can save states whose pictures can be shown.
    ///
    /// # Errors
    /// As [`Self::save_state`].
    pub fn save_drawn_state(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        let (mut snapshot, episode) = (self.snapshot(env)?, self.episode(env)?);
        snapshot.draw_ahead(self.rom());
        env_record::to_bytes(&snapshot, episode, self.rom(), &self.config().programs)
    }

    /// Loads a state from bytes into an env. If the state was saved with the same programs, their
    /// scratch and last observation are loaded; otherwise, and if the state holds a machine alone,
    /// the programs begin anew. A state of version 1 holds no observation: its scratch is loaded,
    /// and the programs compute the observation. The env keeps its seed and its number of episodes.
    ///
    /// # Errors
    /// There is no such env, the bytes are no state of a machine with this cartridge, or the device
    /// failed; nothing has changed then.
    pub fn load_state(&mut self, env: usize, bytes: &[u8]) -> Result<(), SwarmError> {
        let record = EnvRecord::from_bytes(self.rom(), self.config(), bytes)?;
        self.restore(env, &record.snapshot)
    }

    /// Loads a state as [`Self::load_state`] does, and takes over the saved env's seed and number
    /// of episodes, so that later episodes, chance included, are those of the saved env.
    ///
    /// # Errors
    /// As [`Self::load_state`], or the state holds a machine alone.
    pub fn resume_state(&mut self, env: usize, bytes: &[u8]) -> Result<(), SwarmError> {
        let record = EnvRecord::from_bytes(self.rom(), self.config(), bytes)?;
        let episode = record.episode.ok_or(SwarmError::NoEpisode)?;
        self.restore(env, &record.snapshot)?;
        self.set_episode(env, episode)
    }

    /// Puts an env into a state of gbxcule, of PyBoy (a Color's from PyBoy 2.5.0 on), or of any
    /// emulator that writes BESS. From a state of another emulator the sound of a playing note is
    /// lost, counters start at 0, and the programs begin.
    ///
    /// # Errors
    /// As [`Self::load_state`].
    pub fn import_state(&mut self, env: usize, bytes: &[u8]) -> Result<(), SwarmError> {
        let snapshot = EnvSnapshot::imported(bytes, self.rom(), self.config())?;
        self.restore(env, &snapshot)
    }

    /// Returns the battery-backed memory of an env's cartridge in the format of other emulators'
    /// `.sav` files: its RAM, followed by the clock of an MBC3.
    pub fn save_battery(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        let EnvSnapshot { machine, cart_ram, .. } = self.snapshot(env)?;
        Ok(battery::written(&machine, &cart_ram, self.rom()))
    }

    /// Puts a `.sav` file, as [`Self::save_battery`] returns it, or PyBoy's `.ram`, into an
    /// env's cartridge; the machine goes on.
    ///
    /// # Errors
    /// There is no such env, the cartridge has another size of RAM, or the device failed.
    pub fn load_battery(&mut self, env: usize, file: &[u8]) -> Result<(), SwarmError> {
        let mut snapshot = self.snapshot(env)?;
        let EnvSnapshot { machine, cart_ram, .. } = &mut snapshot;
        battery::insert(file, self.rom(), machine, cart_ram).map_err(ConsoleError::from)?;
        self.restore(env, &snapshot)
    }

    /// Puts all marked envs into states of any format, one for all of them or one for each, as
    /// [`Self::import_state`] does.
    ///
    /// # Errors
    /// As [`Self::import_state`], the mask does not have one entry for each env, or there are
    /// too few or too many states; nothing has changed then, unless the device failed or a program
    /// stopped.
    pub fn load_states(&mut self, mask: &[bool], states: &[&[u8]]) -> Result<(), SwarmError> {
        let config = self.config();
        config.check_length("mask entry", mask.len())?;
        let envs: Vec<usize> = (0..mask.len()).filter(|&env| mask[env]).collect();
        if states.len() != 1 && states.len() != envs.len() {
            return Err(SwarmError::WrongStates { envs: envs.len(), found: states.len() });
        }
        let rom = self.rom();
        let snapshots = states.iter().map(|bytes| {
            let snapshot = EnvSnapshot::imported(bytes, rom, config)?;
            snapshot.check(rom, config).map(|()| snapshot)
        });
        let snapshots = snapshots.collect::<Result<Vec<_>, _>>()?;
        let last = snapshots.len().saturating_sub(1);
        for (at, &env) in envs.iter().enumerate() {
            self.restore(env, &snapshots[at.min(last)])?;
        }
        Ok(())
    }

    /// An env as a BESS state, which other emulators read.
    pub fn export_bess(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        exported(&self.snapshot(env)?, self.rom(), ForeignFormat::Bess)
    }

    /// An env as a state that PyBoy 2.8 reads.
    pub fn export_pyboy(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        exported(&self.snapshot(env)?, self.rom(), ForeignFormat::PyBoy)
    }
}

/// Returns an env in a format of other emulators.
fn exported(
    snapshot: &EnvSnapshot,
    rom: &Rom,
    format: ForeignFormat,
) -> Result<Vec<u8>, SwarmError> {
    let EnvSnapshot { machine, cart_ram, .. } = snapshot;
    Ok(foreign_state::exported(machine, cart_ram, rom, format).map_err(ConsoleError::from)?)
}

/// Returns the envs that a mask marks, after a check that `rows` can be divided evenly among them.
pub(crate) fn memory_rows(
    config: &SwarmConfig,
    mask: &[bool],
    rows: &[u8],
) -> Result<Vec<usize>, SwarmError> {
    config.check_length("mask entry", mask.len())?;
    let envs: Vec<usize> = (0..mask.len()).filter(|&env| mask[env]).collect();
    if rows.len().checked_rem(envs.len()).unwrap_or(rows.len()) != 0 {
        return Err(SwarmError::UnevenRows { bytes: rows.len(), envs: envs.len() });
    }
    Ok(envs)
}
