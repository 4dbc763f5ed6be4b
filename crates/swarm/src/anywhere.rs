//! The swarm wherever it was asked for, behind one set of calls: threads on the CPU, kernels on a CUDA device. For
//! callers that let their users choose; who knows the device takes [`NativeSwarm`] or [`DeviceSwarm`] and has more.

use std::ops::Range;

use gbxcule_runtime::Device;

use crate::{
    Counters, CpuState, DeviceConfig, DeviceSwarm, NativeSwarm, Rom, SwarmConfig, SwarmError, View,
};

/// Machines stepped together on a device.
pub enum Swarm {
    /// On the CPU's threads.
    Threads(Box<NativeSwarm>),
    /// In kernels on a CUDA device.
    Kernels(Box<DeviceSwarm>),
}

/// The same expression over whichever swarm there is.
macro_rules! either {
    ($self:expr, $swarm:ident => $act:expr) => {
        match $self {
            Swarm::Threads($swarm) => $act,
            Swarm::Kernels($swarm) => $act,
        }
    };
}

#[allow(
    clippy::missing_errors_doc,
    reason = "each is what the two swarms' function of its name is"
)]
impl Swarm {
    /// All machines switched on, none stepped.
    pub fn new(rom: Rom, config: SwarmConfig, device: Device) -> Result<Self, SwarmError> {
        Ok(match device {
            Device::Cpu => Self::Threads(Box::new(NativeSwarm::new(rom, config)?)),
            Device::Cuda(_) => {
                let device = DeviceConfig { device, ..DeviceConfig::default() };
                Self::Kernels(Box::new(DeviceSwarm::new(rom, config, device)?))
            }
        })
    }

    /// What it is made of.
    #[must_use]
    pub fn config(&self) -> &SwarmConfig {
        either!(self, swarm => swarm.config())
    }

    /// The one whose arrays lie on a device.
    #[must_use]
    pub fn on_device(&self) -> Option<&DeviceSwarm> {
        match self {
            Self::Threads(_) => None,
            Self::Kernels(swarm) => Some(swarm),
        }
    }

    /// Every env back to the reset point, outputs to zero.
    pub fn reset(&mut self, seed: u64) -> Result<(), SwarmError> {
        match self {
            Self::Threads(swarm) => {
                swarm.reset(seed);
                Ok(())
            }
            Self::Kernels(swarm) => swarm.reset(seed),
        }
    }

    /// The marked envs back to the reset point.
    pub fn reset_masked(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.reset_masked(mask))
    }

    /// Make an env's present state the one that resets go back to.
    pub fn set_reset_point(&mut self, env: usize) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.set_reset_point(env))
    }

    /// Press each env's action and run a step; on a device this only asks for it.
    pub fn step(&mut self, actions: &[u8]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.step(actions))
    }

    /// Wait until everything asked for has happened.
    pub fn sync(&mut self) -> Result<(), SwarmError> {
        match self {
            Self::Threads(_) => Ok(()),
            Self::Kernels(swarm) => swarm.sync(),
        }
    }

    /// One reward for each env.
    pub fn rewards(&self) -> Result<Vec<f32>, SwarmError> {
        match self {
            Self::Threads(swarm) => Ok(swarm.rewards().to_vec()),
            Self::Kernels(swarm) => swarm.rewards(),
        }
    }

    /// Whether each env's episode is over.
    pub fn dones(&self) -> Result<Vec<bool>, SwarmError> {
        match self {
            Self::Threads(swarm) => Ok(swarm.dones().to_vec()),
            Self::Kernels(swarm) => swarm.dones(),
        }
    }

    /// One observation after the other.
    pub fn observations(&self) -> Result<Vec<f32>, SwarmError> {
        match self {
            Self::Threads(swarm) => Ok(swarm.observations().to_vec()),
            Self::Kernels(swarm) => swarm.observations(),
        }
    }

    /// Show every env, or only the marked ones, in `out`.
    pub fn show(
        &self,
        view: &View,
        mask: Option<&[bool]>,
        out: &mut [u8],
    ) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.show(view, mask, out))
    }

    /// An env's registers.
    pub fn cpu_state(&self, env: usize) -> Result<CpuState, SwarmError> {
        either!(self, swarm => swarm.cpu_state(env))
    }

    /// How far an env has come since its reset.
    pub fn counters(&self, env: usize) -> Result<Counters, SwarmError> {
        match self {
            Self::Threads(swarm) => swarm.counters(env),
            Self::Kernels(swarm) => {
                let last = swarm.config().num_envs - 1;
                swarm.counters()?.get(env).copied().ok_or(SwarmError::NoSuchEnv { env, last })
            }
        }
    }

    /// What a debugger would see at these addresses.
    pub fn read_memory(&self, env: usize, range: Range<u32>) -> Result<Vec<u8>, SwarmError> {
        either!(self, swarm => swarm.read_memory(env, range))
    }

    /// Change memory behind the machine's back.
    pub fn write_memory(&mut self, env: usize, low: u16, bytes: &[u8]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.write_memory(env, low, bytes))
    }

    /// An env as versioned bytes.
    pub fn save_state(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        either!(self, swarm => swarm.save_state(env))
    }

    /// Put an env into a state of this program, of PyBoy, or a BESS one.
    pub fn import_state(&mut self, env: usize, bytes: &[u8]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.import_state(env, bytes))
    }

    /// An env as a BESS state.
    pub fn export_bess(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        either!(self, swarm => swarm.export_bess(env))
    }

    /// One env's state into all marked ones.
    pub fn copy_state(&mut self, source: usize, mask: &[bool]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.copy_state(source, mask))
    }
}
