//! The swarm in device memory.

use std::ops::Range;

use gbxcule_gameboy::{FRAME_BYTES, Machine};
use gbxcule_kernel::check::Valid;
use gbxcule_kernel::ir::{Module, Scalar};
use gbxcule_runtime::{Argument, Array, Build, Device, Error, Kernel, Stream, compile};

use super::column::Columns;
use super::memory::Memory;
use super::part::{COUNTERS, FRAME, Layout, Parts, env_bytes, lengths};
use super::transfer::LANES;
use super::{image, inspect, step, transfer};
use crate::{Counters, CpuState, EnvSnapshot, Rom, SwarmConfig, SwarmError, action};

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
    memory: Memory,
    seed: u64,
    columns: Columns,
    kernels: Kernels,
    parts: Parts,
    /// One env, on the device and on the host.
    reset_point: (Parts, EnvSnapshot),
    /// Room for one env on its way.
    transit: Parts,
    own: Own,
}

struct Kernels {
    step: Kernel,
    transfer: Kernel,
    registers: Kernel,
    frame: Kernel,
    /// Wanted for debugging only, so compiled when first asked for.
    memory: std::sync::OnceLock<[Kernel; 3]>,
}

/// Arrays beside the state.
struct Own {
    rom: Array,
    actions: Array,
    codec: Array,
    rewards: Array,
    dones: Array,
    observations: Array,
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
        let start = EnvSnapshot {
            machine: Box::new(Machine::power_on(rom.cartridge())),
            cart_ram: vec![0xFF; rom.cart_ram_bytes()],
            counters: Counters::default(),
            scratch: Vec::new(),
        };
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
        let (counters, scratch) = (Counters::default(), Vec::new());
        let snapshot = EnvSnapshot { counters, scratch, ..self.snapshot(env)? };
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
        action::check(&self.config, actions)?;
        self.own.actions.write(actions)?;
        let SwarmConfig { num_envs, schedule, ref programs, .. } = self.config;
        let draw_last = self.config.draw_last || programs.look_at_frame();
        let Own { rom, actions, codec, rewards, dones, observations, .. } = &self.own;
        let mut arguments: Vec<Argument> = self.parts.arguments().collect();
        arguments.extend([
            rom.into(),
            actions.into(),
            codec.into(),
            schedule.frames_per_step().into(),
            schedule.release_after_frames().into(),
            draw_last.into(),
            (self.seed as u32).into(),
            rewards.into(),
            dones.into(),
            observations.into(),
        ]);
        self.told(self.kernels.step.launch(&[num_envs], &arguments))
    }

    /// What a call of the runtime's says, with the line where a program stopped: in the step that was called or, where
    /// steps are only asked for, in an earlier one.
    fn told<T>(&self, outcome: Result<T, Error>) -> Result<T, SwarmError> {
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

    /// One reward for each env, as of the last step whose stage owned it.
    ///
    /// # Errors
    /// The device failed.
    pub fn rewards(&self) -> Result<Vec<f32>, SwarmError> {
        self.told(self.own.rewards.to_vec())
    }

    /// Whether each env's episode is over, as of the last step whose stage owned the reward; never, if the
    /// programs do not say.
    ///
    /// # Errors
    /// The device failed.
    pub fn dones(&self) -> Result<Vec<bool>, SwarmError> {
        let dones: Vec<u8> = self.told(self.own.dones.to_vec())?;
        Ok(dones.into_iter().map(|done| done != 0).collect())
    }

    /// One observation after the other, as of the last step whose stage owned them.
    ///
    /// # Errors
    /// The device failed.
    pub fn observations(&self) -> Result<Vec<f32>, SwarmError> {
        self.told(self.own.observations.to_vec())
    }

    /// Where the rewards lie on the device: one a row.
    #[must_use]
    pub fn reward_array(&self) -> &Array {
        &self.own.rewards
    }

    /// Where on the device it lies whether episodes are over: a byte a row.
    #[must_use]
    pub fn done_array(&self) -> &Array {
        &self.own.dones
    }

    /// Where the last drawn frames lie on the device, packed as [`crate::FRAME_BYTES`] says: an env a row.
    #[must_use]
    pub fn frame_array(&self) -> &Array {
        &self.parts.arrays[FRAME]
    }

    /// Where the observations lie on the device: an env a row.
    #[must_use]
    pub fn observation_array(&self) -> &Array {
        &self.own.observations
    }

    /// An env's registers.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn cpu_state(&self, env: usize) -> Result<CpuState, SwarmError> {
        self.check_env(env)?;
        Ok(self.registers(env, 1)?[0])
    }

    /// The registers of all envs.
    ///
    /// # Errors
    /// The device failed.
    pub fn cpu_states(&self) -> Result<Vec<CpuState>, SwarmError> {
        self.registers(0, self.config.num_envs)
    }

    fn registers(&self, first: usize, count: usize) -> Result<Vec<CpuState>, SwarmError> {
        let out = self.memory.zeros(Scalar::U16, &[count, inspect::REGISTER_COUNT])?;
        let mut arguments: Vec<Argument> = self.parts.arguments().collect();
        arguments.extend([Argument::Int(first as i128), (&out).into()]);
        self.kernels.registers.launch(&[count], &arguments)?;
        let words: Vec<u16> = self.told(out.to_vec())?;
        Ok(words.chunks_exact(inspect::REGISTER_COUNT).map(CpuState::from_words).collect())
    }

    /// How far each env has come since its reset.
    ///
    /// # Errors
    /// The device failed.
    pub fn counters(&self) -> Result<Vec<Counters>, SwarmError> {
        let numbers: Vec<u64> = self.told(self.parts.arrays[COUNTERS].to_vec())?;
        let pairs = numbers.chunks_exact(2);
        Ok(pairs.map(|pair| Counters { frames: pair[0], tcycles: pair[1] }).collect())
    }

    /// The last drawn frame of an env, packed as [`crate::FRAME_BYTES`] says.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn frame(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        self.check_env(env)?;
        let out = self.memory.bytes(FRAME_BYTES)?;
        let mut arguments: Vec<Argument> = self.parts.arguments().collect();
        arguments.extend([Argument::Int(env as i128), (&out).into()]);
        self.kernels.frame.launch(&[FRAME_BYTES], &arguments)?;
        self.told(out.to_vec())
    }

    /// What a debugger would see at these addresses; reading disturbs nothing, and only these bytes are copied
    /// from the device.
    ///
    /// # Errors
    /// There is no such env, the range leaves the address space, or the device failed.
    pub fn read_memory(&self, env: usize, range: Range<u32>) -> Result<Vec<u8>, SwarmError> {
        self.check_env(env)?;
        if range.start > range.end || range.end > 0x1_0000 {
            return Err(SwarmError::BadRange { low: range.start, high: range.end });
        }
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let out = self.memory.bytes(range.len())?;
        let [peek, ..] = self.memory_kernels()?;
        peek.launch(&[range.len()], &self.at(env, range.start, &out))?;
        self.told(out.to_vec())
    }

    /// Change memory behind the machine's back, for debugging.
    ///
    /// # Errors
    /// There is no such env, the bytes leave the address space, or the device failed.
    pub fn write_memory(&mut self, env: usize, low: u16, bytes: &[u8]) -> Result<(), SwarmError> {
        self.check_env(env)?;
        let low = u32::from(low);
        let high = low.saturating_add(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        if high > 0x1_0000 {
            return Err(SwarmError::BadRange { low, high });
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let data = self.memory.copied(bytes)?;
        let [_, poke, _] = self.memory_kernels()?;
        Ok(poke.launch(&[1], &self.at(env, low, &data))?)
    }

    /// The bytes at addresses of some envs, one env after the other; only these are copied from the device.
    pub(crate) fn gather(&self, envs: &[usize], addresses: &[u16]) -> Result<Vec<u8>, SwarmError> {
        if envs.is_empty() || addresses.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Vec<i32> = envs.iter().map(|&env| env as i32).collect();
        let (numbers, places) = (self.memory.copied(&numbers)?, self.memory.copied(addresses)?);
        let out = self.memory.zeros(Scalar::U8, &[envs.len(), addresses.len()])?;
        let mut arguments: Vec<Argument> = self.parts.arguments().collect();
        arguments.extend([
            (&self.own.rom).into(),
            (&numbers).into(),
            (&places).into(),
            (&out).into(),
        ]);
        let [.., gather] = self.memory_kernels()?;
        gather.launch(&[envs.len()], &arguments)?;
        self.told(out.to_vec())
    }

    /// The last drawn frames of all envs, one after the other.
    ///
    /// # Errors
    /// The device failed.
    pub fn frames(&self) -> Result<Vec<u8>, SwarmError> {
        self.told(self.frame_array().to_vec())
    }

    /// Arguments about memory from an address on.
    fn at(&self, env: usize, low: u32, data: &Array) -> Vec<Argument> {
        let mut arguments: Vec<Argument> = self.parts.arguments().collect();
        let (env, low) = (Argument::Int(env as i128), Argument::Int(i128::from(low)));
        arguments.extend([(&self.own.rom).into(), env, low, data.into()]);
        arguments
    }

    fn memory_kernels(&self) -> Result<&[Kernel; 3], SwarmError> {
        if let Some(kernels) = self.kernels.memory.get() {
            return Ok(kernels);
        }
        let compiled = compile(inspect::memory_module(), self.device.device, self.device.build())?;
        let kernel = |name| compiled.kernel(name);
        let kernels = [kernel(inspect::PEEK)?, kernel(inspect::POKE)?, kernel(inspect::GATHER)?];
        Ok(self.kernels.memory.get_or_init(|| kernels))
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
        let (found, expected) = (snapshot.cart_ram.len(), self.rom.cart_ram_bytes());
        if found != expected {
            return Err(SwarmError::OtherCartridge { found, expected });
        }
        let (found, expected) = (snapshot.scratch.len(), self.config.programs.scratch_len());
        if found != expected && found != 0 {
            return Err(SwarmError::OtherPrograms { found, expected });
        }
        image::upload(&self.columns, self.rom.cartridge(), snapshot, &self.transit)?;
        let mut mask = vec![false; self.config.num_envs];
        mask[env] = true;
        let mask = self.mask(&mask)?;
        self.transfer(&self.parts, &self.transit, 0, &mask)
    }

    /// An env as versioned bytes that outlive this process, its cartridge RAM included.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn save_state(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        let EnvSnapshot { machine, cart_ram, .. } = self.snapshot(env)?;
        let cartridge = self.rom.cartridge();
        let mut bytes = vec![0; machine.state_len(cartridge)];
        machine.save_state(cartridge, &cart_ram, &mut bytes)?;
        Ok(bytes)
    }

    /// Put an env into the state that bytes hold; its counters start anew.
    ///
    /// # Errors
    /// There is no such env, the bytes are no state of a machine with this cartridge, or the device failed.
    pub fn load_state(&mut self, env: usize, bytes: &[u8]) -> Result<(), SwarmError> {
        self.check_env(env)?;
        let mut cart_ram = vec![0; self.rom.cart_ram_bytes()];
        let machine = Machine::load_state(self.rom.cartridge(), bytes, &mut cart_ram)?;
        let (counters, scratch) = (Counters::default(), Vec::new());
        self.restore(env, &EnvSnapshot { machine: Box::new(machine), cart_ram, counters, scratch })
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

    fn check_env(&self, env: usize) -> Result<(), SwarmError> {
        let last = self.config.num_envs - 1;
        if env > last { Err(SwarmError::NoSuchEnv { env, last }) } else { Ok(()) }
    }
}

impl DeviceConfig {
    #[allow(unsafe_code, reason = "the machine vouches for its indices")]
    fn build(self) -> Build {
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
            frame: registers.kernel(inspect::FRAME)?,
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
            rewards: memory.zeros(Scalar::F32, &[envs])?,
            dones: memory.bytes(envs)?,
            observations: memory.zeros(Scalar::F32, &[envs, config.programs.obs_dim()])?,
            mask: memory.bytes(envs)?,
            one: memory.copied(&[1_u8])?,
        })
    }
}
