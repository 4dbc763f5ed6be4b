//! Envs as bytes, alike for every swarm: whatever can set an env aside and put it back writes and reads all formats.

use crate::portrait::{exported, imported};
use crate::{DeviceSwarm, EnvSnapshot, NativeSwarm, Rom, Swarm, SwarmError};

/// A swarm whose envs can be kept and moved.
pub trait EnvStates {
    /// What the machines play.
    fn rom(&self) -> &Rom;

    /// Set an env's state aside.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError>;

    /// Put a state that was set aside into an env.
    ///
    /// # Errors
    /// There is no such env, the snapshot belongs to another cartridge or other programs, or the device failed.
    fn restore(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError>;

    /// An env as versioned bytes that outlive this process, its cartridge RAM included.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    fn save_state(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        self.snapshot(env)?.to_bytes(self.rom())
    }

    /// Put an env into the state that bytes hold; its counters start anew.
    ///
    /// # Errors
    /// There is no such env, the bytes are no state of a machine with this cartridge, or the device failed; nothing has
    /// changed then.
    fn load_state(&mut self, env: usize, bytes: &[u8]) -> Result<(), SwarmError> {
        let snapshot = EnvSnapshot::from_bytes(self.rom(), bytes)?;
        self.restore(env, &snapshot)
    }

    /// Put an env into a state of this program, of PyBoy 2.8.1, or of any emulator that writes BESS; its counters start
    /// anew. Of other emulators' states sound in the middle of a note is lost.
    ///
    /// # Errors
    /// As [`EnvStates::load_state`].
    fn import_state(&mut self, env: usize, bytes: &[u8]) -> Result<(), SwarmError> {
        let snapshot = imported(bytes, self.rom())?;
        self.restore(env, &snapshot)
    }

    /// An env as a BESS state, which other emulators read.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    fn export_bess(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        Ok(exported(&self.snapshot(env)?, self.rom()))
    }
}

/// By the swarm's own functions of these names.
macro_rules! by_its_own {
    ($($swarm:ty),*) => { $(
        impl EnvStates for $swarm {
            fn rom(&self) -> &Rom {
                <$swarm>::rom(self)
            }

            fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError> {
                <$swarm>::snapshot(self, env)
            }

            fn restore(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
                <$swarm>::restore(self, env, snapshot)
            }
        }
    )* };
}

by_its_own!(NativeSwarm, DeviceSwarm, Swarm);
