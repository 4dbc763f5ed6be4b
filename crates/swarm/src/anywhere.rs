//! The swarm wherever it was asked for, behind one set of calls: threads on the CPU, kernels on a CUDA device. For
//! callers that let their users choose; who knows the device takes [`NativeSwarm`] or [`DeviceSwarm`] and has more.

use std::ops::Range;

use gbxcule_runtime::Device;

use crate::{
    Counters, CpuState, DeviceConfig, DeviceSwarm, EnvSnapshot, FRAME_BYTES, NativeSwarm, Piece,
    Rom, SwarmConfig, SwarmError, View,
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

    /// Run a piece of a step; on a device this only asks for it.
    pub fn step_piece(&mut self, actions: &[u8], piece: &Piece) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.step_piece(actions, piece))
    }

    /// Put hands on an env's buttons, or take them off.
    pub fn hold(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.hold(env, buttons))
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
        self.rewards_of(0..self.config().num_envs)
    }

    /// The rewards of some neighbours.
    pub fn rewards_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        match self {
            Self::Threads(swarm) => of(swarm.rewards(), &envs, 1, swarm),
            Self::Kernels(swarm) => swarm.rewards_of(envs),
        }
    }

    /// Whether each env's episode is over.
    pub fn dones(&self) -> Result<Vec<bool>, SwarmError> {
        self.dones_of(0..self.config().num_envs)
    }

    /// Whether the episodes of some neighbours are over.
    pub fn dones_of(&self, envs: Range<usize>) -> Result<Vec<bool>, SwarmError> {
        match self {
            Self::Threads(swarm) => of(swarm.dones(), &envs, 1, swarm),
            Self::Kernels(swarm) => swarm.dones_of(envs),
        }
    }

    /// One observation after the other.
    pub fn observations(&self) -> Result<Vec<f32>, SwarmError> {
        self.observations_of(0..self.config().num_envs)
    }

    /// The observations of some neighbours.
    pub fn observations_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        match self {
            Self::Threads(swarm) => {
                of(swarm.observations(), &envs, swarm.config().programs.obs_dim(), swarm)
            }
            Self::Kernels(swarm) => swarm.observations_of(envs),
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

    /// The registers of all envs.
    pub fn cpu_states(&self) -> Result<Vec<CpuState>, SwarmError> {
        match self {
            Self::Threads(swarm) => {
                (0..swarm.config().num_envs).map(|env| swarm.cpu_state(env)).collect()
            }
            Self::Kernels(swarm) => swarm.cpu_states(),
        }
    }

    /// How far each env has come since its reset.
    pub fn all_counters(&self) -> Result<Vec<Counters>, SwarmError> {
        match self {
            Self::Threads(swarm) => {
                (0..swarm.config().num_envs).map(|env| swarm.counters(env)).collect()
            }
            Self::Kernels(swarm) => swarm.all_counters(),
        }
    }

    /// How far an env has come since its reset.
    pub fn counters(&self, env: usize) -> Result<Counters, SwarmError> {
        either!(self, swarm => swarm.counters(env))
    }

    /// Give the last drawn frames of some envs, one after the other, to somebody.
    pub fn frames(&self, envs: &[usize], mut see: impl FnMut(&[u8])) -> Result<(), SwarmError> {
        match self {
            Self::Threads(swarm) => envs.iter().try_for_each(|&env| {
                see(swarm.frame(env)?);
                Ok(())
            }),
            Self::Kernels(swarm) => {
                swarm.frames(envs)?.chunks_exact(FRAME_BYTES).for_each(see);
                Ok(())
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

    /// What runs in every machine.
    #[must_use]
    pub fn rom(&self) -> &Rom {
        either!(self, swarm => swarm.rom())
    }

    /// Set an env's state aside.
    pub fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError> {
        either!(self, swarm => swarm.snapshot(env))
    }

    /// Put a state that was set aside into an env.
    pub fn restore(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.restore(env, snapshot))
    }

    /// One env's state into all marked ones.
    pub fn copy_state(&mut self, source: usize, mask: &[bool]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.copy_state(source, mask))
    }
}

/// What a swarm's output, so much for each env, holds of some neighbours.
fn of<T: Copy>(
    output: &[T],
    envs: &Range<usize>,
    each: usize,
    swarm: &NativeSwarm,
) -> Result<Vec<T>, SwarmError> {
    let last = swarm.config().num_envs - 1;
    let rows = output.get(envs.start * each..envs.end * each);
    rows.map(<[T]>::to_vec).ok_or(SwarmError::NoSuchEnv { env: envs.end.saturating_sub(1), last })
}
