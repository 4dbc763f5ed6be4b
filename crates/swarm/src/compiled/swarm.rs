//! The swarm in device memory.

use gbxcule_kernel::check::Valid;
use gbxcule_kernel::ir::{Module, Scalar};
use gbxcule_runtime::{Argument, Array, Build, Device, Error, Kernel, Stream, compile};

use super::column::Columns;
use super::memory::Memory;
use super::part::{Layout, Parts, env_bytes, lengths};
use super::transfer::LANES;
use super::{image, inspect, step, transfer};
use crate::piece::StepPlan;
use crate::{EnvSnapshot, Piece, Rom, SwarmConfig, SwarmError, action};

/// How a [`DeviceSwarm`] runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceConfig {
    /// Where.
    pub device: Device,
    /// How the machines' arrays lie.
    pub layout: Layout,
    /// Whether the machine's indices are checked too while running. It masks them by construction: for finding faults
    /// of ours. Programs are always checked.
    pub checked: bool,
}

/// Machines stepped together by compiled kernels, their state in the device's memory. Results are those of
/// [`crate::NativeSwarm`], bit by bit.
///
/// All of it happens in one [`Stream`], in the order in which it was asked for. [`DeviceSwarm::step`] and whatever else
/// changes machines only ask; what returns values waits, and so it is there that a failure of an earlier step may
/// come out.
pub struct DeviceSwarm {
    config: SwarmConfig,
    device: DeviceConfig,
    rom: Rom,
    pub(super) memory: Memory,
    seed: u64,
    columns: Columns,
    pub(super) kernels: Kernels,
    pub(super) parts: Parts,
    /// One env, on the device and on the host.
    reset_point: (Parts, EnvSnapshot),
    /// Room for one env on its way.
    transit: Parts,
    pub(super) own: Own,
}

pub(super) struct Kernels {
    step: Kernel,
    transfer: Kernel,
    pub(super) registers: Kernel,
    pub(super) frames: Kernel,
    /// Wanted for debugging only, so compiled when first asked for.
    pub(super) memory: std::sync::OnceLock<[Kernel; 3]>,
}

/// Arrays beside the state.
pub(super) struct Own {
    pub(super) rom: Array,
    actions: Array,
    codec: Array,
    /// What hands hold.
    hands: Array,
    pub(super) rewards: Array,
    pub(super) dones: Array,
    pub(super) observations: Array,
    mask: Array,
    /// A mask for one env that marks it.
    one: Array,
}

impl DeviceSwarm {
    /// All machines switched on, none stepped.
    ///
    /// # Errors
    /// No machines asked for, or the device can't be had or has too little memory.
    pub fn new(rom: Rom, config: SwarmConfig, device: DeviceConfig) -> Result<Self, SwarmError> {
        if config.num_envs == 0 {
            return Err(SwarmError::NoEnvs);
        }
        let memory = Memory::new(device.device)?;
        let module = step::step_module(&config.programs, config.stage);
        let machine = super::translation::machine_type(&module);
        let columns = Columns::new(&module.types, machine);
        let kernels = Kernels::new(&module, device)?;
        let lengths = lengths(&columns, rom.cart_ram_bytes(), config.programs.scratch_len());
        let outputs = 4 * (1 + config.programs.obs_dim()) + 3;
        memory.fits(config.num_envs, env_bytes(lengths) + outputs as u64)?;
        let one = || Parts::new(lengths, 1, Layout::EnvMajor, &memory);
        let start = EnvSnapshot::power_on(&rom);
        let mut swarm = Self {
            parts: Parts::new(lengths, config.num_envs, device.layout, &memory)?,
            reset_point: (one()?, start),
            transit: one()?,
            own: Own::new(&rom, &config, &memory)?,
            config,
            device,
            rom,
            memory,
            seed: 0,
            columns,
            kernels,
        };
        let (point, start) = &swarm.reset_point;
        image::upload(&swarm.columns, swarm.rom.cartridge(), start, point)?;
        swarm.reset(0)?;
        Ok(swarm)
    }

    /// What runs in every machine.
    #[must_use]
    pub fn rom(&self) -> &Rom {
        &self.rom
    }

    /// What this swarm is made of.
    #[must_use]
    pub fn config(&self) -> &SwarmConfig {
        &self.config
    }

    /// Where and how it runs.
    #[must_use]
    pub fn device(&self) -> DeviceConfig {
        self.device
    }

    /// The seed of the last reset.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Every env back to the reset point, outputs to zero.
    ///
    /// # Errors
    /// The device failed.
    pub fn reset(&mut self, seed: u64) -> Result<(), SwarmError> {
        self.seed = seed;
        self.own.rewards.fill(0.0_f32)?;
        self.own.dones.fill(0_u8)?;
        self.own.observations.fill(0.0_f32)?;
        self.reset_masked(&vec![true; self.config.num_envs])
    }

    /// The marked envs back to the reset point; the others and all outputs stay as they are.
    ///
    /// # Errors
    /// The mask has not one entry for each env, or the device failed.
    pub fn reset_masked(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        let mask = self.mask(mask)?;
        self.transfer(&self.parts, &self.reset_point.0, 0, &mask)
    }

    /// Make an env's present state the one that resets go back to; what programs keep starts from zero all the same.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn set_reset_point(&mut self, env: usize) -> Result<(), SwarmError> {
        let snapshot = self.snapshot(env)?.into_start();
        let point = &self.reset_point.0;
        image::upload(&self.columns, self.rom.cartridge(), &snapshot, point)?;
        self.reset_point.1 = snapshot;
        Ok(())
    }

    /// Press each env's action, run the schedule's frames, compute what the stage owns.
    ///
    /// # Errors
    /// Not one action for each env, or an action that the codec does not have; no machine has moved then. Or the
    /// device failed, or a program stopped, such as at an index outside its scratch: some machines have moved then.
    pub fn step(&mut self, actions: &[u8]) -> Result<(), SwarmError> {
        self.step_piece(actions, &Piece::whole(&self.config))
    }

    /// Run a piece of a step, which has the same actions in all of its pieces.
    ///
    /// # Errors
    /// As in [`DeviceSwarm::step`], or the step has no such frames.
    pub fn step_piece(&mut self, actions: &[u8], piece: &Piece) -> Result<(), SwarmError> {
        action::check(&self.config, actions)?;
        let StepPlan { step, seed, computes } = piece.plan(&self.config, self.seed)?;
        self.own.actions.write(actions)?;
        let Own { rom, actions, codec, hands, rewards, dones, observations, .. } = &self.own;
        let mut arguments: Vec<Argument> = self.parts.arguments().collect();
        arguments.extend([
            rom.into(),
            actions.into(),
            codec.into(),
            hands.into(),
            step.frames.into(),
            step.release_after.into(),
            step.draw_last.into(),
            computes.into(),
            (seed as u32).into(),
            rewards.into(),
            dones.into(),
            observations.into(),
        ]);
        self.told(self.kernels.step.launch(&[self.config.num_envs], &arguments))
    }

    /// Put hands on an env's buttons, or take them off. They hold what they hold instead of the env's actions, through
    /// whole steps and resets.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn hold(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError> {
        self.check_env(env)?;
        let hands = buttons.map_or(step::NO_HANDS, i16::from);
        Ok(self.own.hands.slice(0, env..env + 1, 1)?.write(&[hands])?)
    }

    /// What a call of the runtime's says, with the line where a program stopped: in the step that was called or, where
    /// steps are only asked for, in an earlier one.
    pub(super) fn told<T>(&self, outcome: Result<T, Error>) -> Result<T, SwarmError> {
        let programs = &self.config.programs;
        outcome.map_err(|error| match error {
            Error::Fault(fault) if fault.kernel == step::KERNEL => {
                let env = fault.thread.first().map_or(0, |&env| env as usize);
                let error = Box::new(programs.describe(&fault.diagnostic()));
                SwarmError::ProgramStopped { env, error }
            }
            error => SwarmError::Device(error),
        })
    }

    /// Wait until everything asked for has happened.
    ///
    /// # Errors
    /// The device failed, or a program stopped in a step before.
    pub fn sync(&mut self) -> Result<(), SwarmError> {
        self.told(self.memory.stream.synchronize())
    }

    /// Where everything happens that this swarm is asked for; it counts the bytes that are copied.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.memory.stream
    }

    /// Set an env's state aside, on the host.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError> {
        self.check_env(env)?;
        self.transfer(&self.transit, &self.parts, env, &self.own.one)?;
        self.told(self.memory.stream.synchronize())?;
        let like = &self.reset_point.1;
        image::download(&self.columns, self.rom.cartridge(), like, &self.transit)
    }

    /// Put a state that was set aside into an env.
    ///
    /// # Errors
    /// There is no such env, the snapshot belongs to another cartridge, or the device failed.
    pub fn restore(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        self.check_env(env)?;
        snapshot.check(&self.rom, &self.config.programs)?;
        image::upload(&self.columns, self.rom.cartridge(), snapshot, &self.transit)?;
        let mut mask = vec![false; self.config.num_envs];
        mask[env] = true;
        let mask = self.mask(&mask)?;
        self.transfer(&self.parts, &self.transit, 0, &mask)
    }

    /// One env's state into all marked ones, on the device.
    ///
    /// # Errors
    /// There is no such env, the mask has not one entry for each env, or the device failed.
    pub fn copy_state(&mut self, source: usize, mask: &[bool]) -> Result<(), SwarmError> {
        self.check_env(source)?;
        // The source would only be copied onto itself, while others read it.
        let mut mask = mask.to_vec();
        if let Some(marked) = mask.get_mut(source) {
            *marked = false;
        }
        let mask = self.mask(&mask)?;
        self.transfer(&self.parts, &self.parts, source, &mask)
    }

    /// An env of some state into the marked ones of another.
    fn transfer(
        &self,
        to: &Parts,
        from: &Parts,
        source: usize,
        mask: &Array,
    ) -> Result<(), SwarmError> {
        let mut arguments: Vec<Argument> = to.arguments().chain(from.arguments()).collect();
        arguments.extend([Argument::Int(source as i128), mask.into()]);
        Ok(self.kernels.transfer.launch(&[mask.len(), LANES], &arguments)?)
    }

    /// A mask of the caller's, on the device.
    fn mask(&self, mask: &[bool]) -> Result<Array, SwarmError> {
        let (num_envs, found) = (self.config.num_envs, mask.len());
        if found != num_envs {
            return Err(SwarmError::WrongLength { what: "mask entry", num_envs, found });
        }
        let bytes: Vec<u8> = mask.iter().map(|&marked| u8::from(marked)).collect();
        self.own.mask.write(&bytes)?;
        Ok(self.own.mask.clone())
    }

    pub(super) fn check_env(&self, env: usize) -> Result<(), SwarmError> {
        let last = self.config.num_envs - 1;
        if env > last { Err(SwarmError::NoSuchEnv { env, last }) } else { Ok(()) }
    }
}

impl DeviceConfig {
    #[allow(unsafe_code, reason = "the machine vouches for its indices")]
    pub(super) fn build(self) -> Build {
        if self.checked {
            Build::default()
        } else {
            // SAFETY: trusted are the machine and the kernels around it. Its indices are masked by construction, also
            // where programs call it (`gameboy::view`), handles are made here for arrays of the lengths it knows,
            // launches go from 0 to the number of envs or bytes, and actions index a table of 256. Tests run it all
            // in checked builds.
            unsafe { Build::trusting() }
        }
    }
}

impl Kernels {
    fn new(step: &Valid<Module>, device: DeviceConfig) -> Result<Self, SwarmError> {
        let build = device.build();
        let compile = |module: &Valid<Module>| compile(module, device.device, build);
        let registers = compile(inspect::registers_module())?;
        Ok(Self {
            step: compile(step)?.kernel(step::KERNEL)?,
            transfer: compile(&transfer::module())?.kernel(transfer::KERNEL)?,
            registers: registers.kernel(inspect::REGISTERS)?,
            frames: registers.kernel(inspect::FRAMES)?,
            memory: std::sync::OnceLock::new(),
        })
    }
}

impl Own {
    fn new(rom: &Rom, config: &SwarmConfig, memory: &Memory) -> Result<Self, SwarmError> {
        let mut codec = [0_u8; 256];
        for (buttons, (_, action)) in codec.iter_mut().zip(config.codec.actions) {
            *buttons = *action;
        }
        let envs = config.num_envs;
        Ok(Self {
            rom: memory.copied(rom.bytes())?,
            actions: memory.bytes(envs)?,
            codec: memory.copied(&codec)?,
            hands: memory.copied(&vec![step::NO_HANDS; envs])?,
            rewards: memory.zeros(Scalar::F32, &[envs])?,
            dones: memory.bytes(envs)?,
            observations: memory.zeros(Scalar::F32, &[envs, config.programs.obs_dim()])?,
            mask: memory.bytes(envs)?,
            one: memory.copied(&[1_u8])?,
        })
    }
}
