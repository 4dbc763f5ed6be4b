//! The swarm in device memory.

use gbxcule_runtime::{Argument, Array, Build, Device, Error, Stream};

use super::buffers::Buffers;
use super::copy_env::LANES;
use super::kernel::Arguments;
use super::kernel_set::KernelSet;
use super::manual_buttons::ManualButtons;
use super::memory::Memory;
use super::picture_stack::DevicePictures;
use super::rollout::{Rollout, refused_action};
use super::state_arrays::{BYTES, INTS, Layout, SCRATCH, StateArrays, env_bytes, lengths};
use super::step::Order;
use super::sticky::DeviceSticky;
use super::{begin, host_copy, step};
use crate::checkpoint::StepOutputs;
use crate::episode::Episodes;
use crate::native::joined;
use crate::program::ScratchSize;
use crate::shared_calls::SwarmParts;
use crate::step_plan::StepPlan;
use crate::{EnvSnapshot, LinkMode, Rom, Stage, SwarmConfig, SwarmError};

/// Bytes of an env in [`Buffers`] beside rewards and observations: action, done and mask; manual
/// buttons, three times; progress in a step.
const ENV_BUFFER_BYTES: u64 = 3 + 6 + 5;

/// Settings of a [`DeviceSwarm`] that a native swarm does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceConfig {
    /// The device to run on.
    pub device: Device,
    /// The layout of the machines' arrays.
    pub layout: Layout,
    /// Check the machine's own array indices too, to find defects of the translation: the
    /// machine's sources mask every index. Programs are always checked.
    pub checked: bool,
}

/// Machines stepped together by compiled kernels. Their state lies in the device's memory. Results
/// are those of [`crate::NativeSwarm`], bit by bit.
///
/// All work runs in one [`Stream`], in the order of the calls. [`DeviceSwarm::step`] and other
/// calls that change machines only queue their work; calls that return values wait for it, and so
/// may return the error of an earlier step.
///
/// ```
/// use gbxcule_swarm::{DeviceConfig, DeviceSwarm, NativeSwarm, Rom, SwarmConfig};
///
/// let rom = gbxcule_assembler::by_name("ALU_LOOP").expect("a built-in ROM");
/// let rom = Rom::new(rom.bytes()).expect("a good header");
/// let mut native = NativeSwarm::new(rom.clone(), SwarmConfig::new(2)).expect("a swarm");
/// // The default device is the CPU; a CUDA device takes the same calls.
/// let device = DeviceConfig::default();
/// let mut swarm = DeviceSwarm::new(rom, SwarmConfig::new(2), device).expect("a device");
/// native.step(&[0, 1]).expect("an action for each env");
/// swarm.step(&[0, 1]).expect("an action for each env");
/// assert_eq!(swarm.cpu_state(1).expect("an env"), native.cpu_state(1).expect("an env"));
/// ```
pub struct DeviceSwarm {
    pub(crate) config: SwarmConfig,
    device: DeviceConfig,
    pub(crate) rom: Rom,
    pub(super) memory: Memory,
    pub(crate) seed: u64,
    pub(crate) episodes: Episodes,
    pub(super) kernels: KernelSet,
    /// State of all envs.
    pub(super) envs: StateArrays,
    pub(super) starts: Starts,
    pub(super) manual_buttons: ManualButtons,
    /// Room for one env that is copied between host and device.
    staging_env: StateArrays,
    pub(super) buffers: Buffers,
    /// Pictures that are kept of each env, if the configuration asks for them.
    pub(super) pictures: Option<DevicePictures>,
    pub(super) sticky: Option<DeviceSticky>,
    /// Kernels and arrays of steps whose actions lie on the device, once they were asked for.
    pub(super) rollout: Option<Rollout>,
}

/// Starts of episodes, at least one; both fields hold the same states.
pub(super) struct Starts {
    pub(super) on_device: StateArrays,
    on_host: Vec<EnvSnapshot>,
}

impl DeviceSwarm {
    /// Makes a swarm whose machines are switched on and have run no frame.
    ///
    /// # Errors
    /// No machines asked for, the device can't be had or has too little memory, or the
    /// configuration does not fit: sound, hooks, cable, codec, chance.
    pub fn new(rom: Rom, config: SwarmConfig, device: DeviceConfig) -> Result<Self, SwarmError> {
        config.check()?;
        config.chance.map_or(Ok(()), |chance| chance.check(&rom))?;
        if config.sound {
            return Err(SwarmError::SoundOnDevice);
        }
        let memory = Memory::new(device.device)?;
        let kernels = KernelSet::new(&rom, &config, device)?;
        let lengths = lengths(&kernels.facts.machine, &rom, config.scratch_size());
        let outputs = 4 * (1 + config.programs.obs_dim()) as u64;
        let pictures = config.pictures.map_or(0, |it| it.bytes() + it.picture.bytes()) as u64;
        let bytes = env_bytes(lengths) + outputs + pictures + ENV_BUFFER_BYTES;
        memory.fits(config.num_envs, bytes)?;
        let one = || StateArrays::new(lengths, 1, Layout::EnvMajor, &memory);
        let starts = EnvSnapshot::power_on(&rom, config.power_on);
        let mut swarm = Self {
            envs: StateArrays::new(lengths, config.num_envs, device.layout, &memory)?,
            episodes: Episodes::new(config.num_envs, starts.len()),
            starts: Starts { on_device: one()?, on_host: starts },
            manual_buttons: ManualButtons::new(config.num_envs, &memory)?,
            staging_env: one()?,
            buffers: Buffers::new(&rom, &config, &memory)?,
            sticky: DeviceSticky::new(&config, device, &memory)?,
            pictures: config
                .pictures
                .map(|form| {
                    DevicePictures::new(form, config.num_envs, rom.model(), device, &memory)
                })
                .transpose()?,
            config,
            device,
            rom,
            memory,
            seed: 0,
            kernels,
            rollout: None,
        };
        swarm.restart_from(&[], 0)?;
        Ok(swarm)
    }

    /// Returns the device and its settings.
    #[must_use]
    pub fn device(&self) -> DeviceConfig {
        self.device
    }

    /// The order in which machines of a warp execute.
    #[must_use]
    pub fn order(&self) -> Order {
        self.kernels.facts.order
    }

    /// Returns the number of blocks of code made for the ROM; `None` if machines run without them:
    /// the configuration or the model leaves them out ([`SwarmConfig::recompile`]), or too
    /// little of the ROM's code is hot.
    #[must_use]
    pub fn blocks(&self) -> Option<usize> {
        Some(self.kernels.facts.blocks).filter(|&blocks| blocks > 0)
    }

    /// Resets the marked envs to the starts of their next episodes: chance is drawn, the
    /// programs' `begin` runs, and their observations are those before the first step. All other
    /// envs stay as they are, and so do the rewards and `dones` of all envs.
    ///
    /// # Errors
    /// The mask does not have one entry for each env, or marks one machine of a pair alone, a
    /// program stopped, or the device failed.
    pub fn reset_masked(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        self.config.check_length("mask entry", mask.len())?;
        self.config.check_pairs(mask)?;
        self.leave_rollout()?;
        let count = self.starts.on_host.len();
        let (mut envs, mut drawn, mut chosen) = (Vec::new(), Vec::new(), vec![Vec::new(); count]);
        for (env, _) in mask.iter().enumerate().filter(|(_, marked)| **marked) {
            envs.push(env);
            drawn.push(self.episodes.by_env[env].draw());
            chosen[self.episodes.start(env, self.config.link)].push(env);
        }
        // A launch for each start that one of them has.
        for (start, own) in chosen.iter().enumerate().filter(|(_, own)| own.len() < envs.len()) {
            if !own.is_empty() {
                let mut mask = vec![false; mask.len()];
                own.iter().for_each(|&env| mask[env] = true);
                self.transfer(&self.envs, &self.starts.on_device, start, &self.mask(&mask)?)?;
            }
        }
        let marks = self.mask(mask)?;
        if let Some(start) = chosen.iter().position(|own| own.len() == envs.len()) {
            self.transfer(&self.envs, &self.starts.on_device, start, &marks)?;
        }
        if let Some(chance) = self.config.chance {
            let bytes: Vec<u8> = drawn.iter().flat_map(|&drawn| chance.bytes(drawn)).collect();
            self.write_rows(&envs, chance.low, &bytes)?;
        }
        envs.iter().for_each(|&env| self.episodes.awaits_begin[env] = false);
        self.begin_pictures(&marks)?;
        self.begin(&marks, true)
    }

    /// Changes the weights that the programs read from the next step on.
    ///
    /// # Errors
    /// The programs take another number of weights, or the device failed.
    pub fn set_weights(&mut self, weights: &[f32]) -> Result<(), SwarmError> {
        self.config.programs.check_weights(weights)?;
        self.config.weights = weights.to_vec();
        let cells = self.config.programs.weight_cells();
        for states in [&self.envs, &self.starts.on_device].into_iter().filter(|_| !cells.is_empty())
        {
            let columns = states.arrays[SCRATCH].slice(1, cells.clone(), 1)?;
            columns.write(&weights.repeat(columns.shape()[0]))?;
        }
        Ok(())
    }

    /// Begins episodes of the marked envs where their machines are, as after the loss of a life:
    /// the programs' scratch is zero and `begin` runs, and pictures begin with the last frame.
    ///
    /// # Errors
    /// The mask does not have one entry for each env, a program stopped, or the device failed.
    pub fn begin_again(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        let marks = self.mask(mask)?;
        self.leave_rollout()?;
        let ScratchSize { numbers, ints, bytes } = self.config.scratch_size();
        let mut begun = vec![0.0; numbers];
        begun[self.config.programs.weight_cells()].copy_from_slice(&self.config.weights);
        for env in (0..mask.len()).filter(|&env| mask[env]) {
            let row = |part: usize| self.envs.arrays[part].slice(0, env..env + 1, 1);
            row(SCRATCH)?.write(&begun)?;
            row(INTS)?.write(&vec![0i32; ints])?;
            row(BYTES)?.write(&vec![0u8; bytes])?;
            self.episodes.awaits_begin[env] = false;
        }
        self.begin_pictures(&marks)?;
        self.begin(&marks, true)
    }

    /// Fills the marked envs' stacks of pictures with their frames.
    pub(super) fn begin_pictures(&self, mask: &Array) -> Result<(), SwarmError> {
        let Some(pictures) = &self.pictures else { return Ok(()) };
        pictures.fill(&self.envs, mask, self.manual_buttons.of_idle_step())
    }

    /// Runs the programs' `begin` where it is awaited.
    pub(super) fn begin_awaited(&mut self) -> Result<(), SwarmError> {
        let Some(pending) = self.episodes.take_awaiting_begin() else { return Ok(()) };
        self.begin(&self.mask(&pending)?, true)
    }

    /// Runs the programs' `begin`, for which the scratch must be zero, if the marked envs begin an
    /// episode, and `observe` in any case.
    pub(super) fn begin(&self, mask: &Array, begins: bool) -> Result<(), SwarmError> {
        let Some(kernel) = &self.kernels.begin else { return Ok(()) };
        let arguments = Arguments::new(&self.envs)
            .with("rom", &self.buffers.rom)
            .with("mask", mask)
            .with("begins", u32::from(begins))
            .with("seed", self.seed as u32)
            .with("observations", &self.buffers.observations);
        self.with_program_line(arguments.launch(kernel, &[self.config.num_envs]))
    }

    /// Holds these buttons down in an env instead of its actions' buttons, through whole steps and
    /// resets; `None` returns to the actions' buttons.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn hold_buttons(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError> {
        self.config.check_env(env)?;
        self.manual_buttons.hold(env, buttons)
    }

    /// Turns an error of the runtime into the swarm's. If a program stopped, the error names the
    /// line; on a GPU, whose steps are only queued, the program may have stopped in an earlier
    /// step.
    pub(super) fn with_program_line<T>(&self, outcome: Result<T, Error>) -> Result<T, SwarmError> {
        let programs = &self.config.programs;
        outcome.map_err(|error| match error {
            Error::Fault(fault) if [step::KERNEL, begin::KERNEL].contains(&&*fault.kernel) => {
                let env = fault.thread.first().map_or(0, |&env| env as usize);
                let error = Box::new(programs.describe(&fault.diagnostic()));
                SwarmError::ProgramStopped { env, error }
            }
            error => match refused_action(&error) {
                Some(refused) => self.unknown_action(refused),
                None => SwarmError::Device(error),
            },
        })
    }

    /// Waits until all queued work is done.
    ///
    /// # Errors
    /// The device failed, or a program stopped in an earlier step.
    pub fn sync(&mut self) -> Result<(), SwarmError> {
        self.with_program_line(self.memory.stream.synchronize())
    }

    /// The stream of all the swarm's work; it counts the bytes that are copied.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.memory.stream
    }

    /// Copies an env's state to the host.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError> {
        self.config.check_env(env)?;
        self.transfer(&self.staging_env, &self.envs, env, &self.buffers.mask_of_one)?;
        self.with_program_line(self.memory.stream.synchronize())?;
        let like = &self.starts.on_host[0];
        let mut snapshot =
            host_copy::download(&self.kernels.facts.machine, &self.rom, like, &self.staging_env)?;
        if self.episodes.awaits_begin[env] {
            snapshot.scratch = None;
        } else if self.config.stage.owns_observation() {
            snapshot.observation = Some(self.buffers.observation_of(env)?.to_vec()?);
        }
        if let Some(pictures) = &self.pictures {
            snapshot.pictures = Some((pictures.form, pictures.of(env)?));
        }
        Ok(snapshot)
    }

    /// Loads a copied state into an env, with the programs' scratch and observation. If it has no
    /// scratch, the programs begin; if it has a scratch and no observation, they observe anew, and
    /// the scratch stays as it was copied.
    ///
    /// # Errors
    /// There is no such env, the snapshot belongs to another cartridge, model or other programs, or
    /// the device failed.
    pub fn restore(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        snapshot.check(&self.rom, &self.config)?;
        self.load_env(env, snapshot)?;
        if let Some(observation) = snapshot.observation_in(&self.config) {
            return Ok(self.buffers.observation_of(env)?.write(observation)?);
        }
        self.episodes.awaits_begin[env] = false;
        self.begin(&self.buffers.mask, snapshot.scratch.is_none())?;
        if snapshot.scratch.is_some() { self.load_env(env, snapshot) } else { Ok(()) }
    }

    /// Loads a checked state into an env, without running a program. Afterwards the swarm's mask
    /// marks that env alone, and callers rely on it.
    pub(crate) fn load_env(
        &mut self,
        env: usize,
        snapshot: &EnvSnapshot,
    ) -> Result<(), SwarmError> {
        self.config.check_env(env)?;
        self.upload(snapshot)?;
        let mut mask = vec![false; self.config.num_envs];
        mask[env] = true;
        let mask = self.mask(&mask)?;
        self.transfer(&self.envs, &self.staging_env, 0, &mask)?;
        if let Some(pictures) = &self.pictures {
            pictures.load(env, snapshot)?;
        }
        self.episodes.awaits_begin[env] = snapshot.scratch.is_none();
        Ok(())
    }

    /// Copies a state to the room for one env.
    fn upload(&self, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        let is_open = self.config.link == LinkMode::Open;
        if is_open && self.config.weights.is_empty() {
            return host_copy::upload(
                &self.kernels.facts.machine,
                &self.rom,
                snapshot,
                &self.staging_env,
            );
        }
        let counters = if is_open { snapshot.counters } else { joined(snapshot.counters) };
        let mut scratch = snapshot.scratch().to_vec();
        scratch.resize(self.config.cells(), 0.0);
        self.config.put_weights(&mut scratch);
        let snapshot = EnvSnapshot { counters, scratch: Some(scratch), ..snapshot.clone() };
        host_copy::upload(&self.kernels.facts.machine, &self.rom, &snapshot, &self.staging_env)
    }

    pub(crate) fn starts(&self) -> &[EnvSnapshot] {
        &self.starts.on_host
    }

    pub(crate) fn manual_buttons(&self) -> Vec<Option<u8>> {
        self.manual_buttons.by_env()
    }

    /// Restores the starts, the seed and the outputs of a swarm of this size.
    pub(crate) fn restore_outputs(
        &mut self,
        starts: Vec<EnvSnapshot>,
        computed: &StepOutputs,
        seed: u64,
    ) -> Result<(), SwarmError> {
        self.seed = seed;
        self.put_starts(starts)?;
        let dones: Vec<u8> = computed.dones.iter().copied().map(u8::from).collect();
        self.buffers.rewards.write(&computed.rewards)?;
        self.buffers.dones.write(&dones)?;
        Ok(self.buffers.observations.write(&computed.observations)?)
    }

    /// Copies one env's state to all marked envs, on the device.
    ///
    /// # Errors
    /// There is no such env, the mask does not have one entry for each env, or the device failed.
    pub fn copy_state(&mut self, source: usize, mask: &[bool]) -> Result<(), SwarmError> {
        self.config.check_env(source)?;
        // The source would only be copied onto itself, while others read it.
        let mut mask = mask.to_vec();
        if let Some(marked) = mask.get_mut(source) {
            *marked = false;
        }
        let marks = self.mask(&mask)?;
        let observes = self.config.stage.owns_observation();
        self.launch_transfer(&self.envs, &self.envs, source, &marks, observes)?;
        if let Some(pictures) = &self.pictures {
            pictures.copy(source, &marks)?;
        }
        self.episodes.copy(source, &mask);
        Ok(())
    }

    /// Copies env `source` of one set of arrays to the marked envs of another.
    fn transfer(
        &self,
        to: &StateArrays,
        from: &StateArrays,
        source: usize,
        mask: &Array,
    ) -> Result<(), SwarmError> {
        self.launch_transfer(to, from, source, mask, false)
    }

    /// Does what `transfer` does, and copies the swarm's observation of env `source`, too, if it
    /// `observes`.
    fn launch_transfer(
        &self,
        to: &StateArrays,
        from: &StateArrays,
        source: usize,
        mask: &Array,
        observes: bool,
    ) -> Result<(), SwarmError> {
        let arguments = Arguments::from_parts("to_", to)
            .with_parts("from_", from)
            .with("source", Argument::Int(source as i128))
            .with("mask", mask)
            .with("observations", &self.buffers.observations)
            .with("observes", Argument::Int(i128::from(observes)));
        Ok(arguments.launch(&self.kernels.transfer, &[mask.len(), LANES])?)
    }

    /// Uploads a mask, after a check of its length.
    fn mask(&self, mask: &[bool]) -> Result<Array, SwarmError> {
        self.config.check_length("mask entry", mask.len())?;
        let bytes: Vec<u8> = mask.iter().map(|&marked| u8::from(marked)).collect();
        self.buffers.mask.write(&bytes)?;
        Ok(self.buffers.mask.clone())
    }
}

impl SwarmParts for DeviceSwarm {
    fn clear_outputs(&mut self) -> Result<(), SwarmError> {
        self.buffers.rewards.fill(0.0_f32)?;
        self.buffers.dones.fill(0_u8)?;
        Ok(self.buffers.observations.fill(0.0_f32)?)
    }

    /// Copies the starts to the device.
    fn put_starts(&mut self, starts: Vec<EnvSnapshot>) -> Result<(), SwarmError> {
        let lengths = lengths(&self.kernels.facts.machine, &self.rom, self.config.scratch_size());
        let count = starts.len();
        let on_device = StateArrays::new(lengths, count, Layout::EnvMajor, &self.memory)?;
        for (at, start) in starts.iter().enumerate() {
            self.upload(start)?;
            let mut mask = vec![0_u8; count];
            mask[at] = 1;
            self.transfer(&on_device, &self.staging_env, 0, &self.memory.copy_of(&mask)?)?;
        }
        self.episodes.set_start_weights_unchecked(vec![1; count]);
        self.starts = Starts { on_device, on_host: starts };
        Ok(())
    }

    fn load_first_start(&mut self) -> Result<(), SwarmError> {
        let all = self.mask(&vec![true; self.config.num_envs])?;
        self.transfer(&self.envs, &self.starts.on_device, 0, &all)?;
        self.begin_pictures(&all)
    }

    fn run(
        &mut self,
        actions: &[u8],
        mask: Option<&[bool]>,
        plan: StepPlan,
    ) -> Result<(), SwarmError> {
        self.begin_awaited()?;
        self.buffers.actions.write(actions)?;
        let manual_buttons = match mask {
            _ if plan.is_idle => self.manual_buttons.of_idle_step(),
            Some(mask) => self.manual_buttons.of_masked_step(mask)?,
            None => self.manual_buttons.array(),
        };
        if let Some(sticky) = self.sticky.as_ref().filter(|_| !plan.is_idle) {
            let draw = (&self.episodes.by_env[..], plan.first_frame == 0);
            sticky.stick_by_host(&self.envs, &self.buffers.actions, manual_buttons, draw)?;
        }
        self.launch_step(manual_buttons, &plan)
    }
}

impl DeviceSwarm {
    /// Launches a step with the actions and the manual buttons that lie on the device, and pushes
    /// its pictures when it is over.
    pub(super) fn launch_step(
        &self,
        manual_buttons: &Array,
        plan: &StepPlan,
    ) -> Result<(), SwarmError> {
        let Some(pictures) = &self.pictures else {
            return self.launch_frames(manual_buttons, plan);
        };
        let parts =
            if pictures.form.max_pool { plan.before_last_frame() } else { [Some(*plan), None] };
        for (place, part) in parts.into_iter().enumerate() {
            let Some(part) = part else { continue };
            if place == 1 {
                pictures.keep_frames(&self.envs)?;
            }
            self.launch_frames(manual_buttons, &part)?;
        }
        if plan.computes { pictures.push(&self.envs, manual_buttons) } else { Ok(()) }
    }

    /// Launches frames of a step.
    fn launch_frames(&self, manual_buttons: &Array, plan: &StepPlan) -> Result<(), SwarmError> {
        let buffers = &self.buffers;
        let Buffers { rom, actions, codec, frames_held, rewards, dones, observations, .. } =
            buffers;
        let numbers = |arguments: Arguments| {
            arguments
                .with("rom", rom)
                .with("actions", actions)
                .with("codec", codec)
                .with("frames_held", frames_held)
                .with("manual_buttons", manual_buttons)
                .with("frames", plan.frames)
                .with("first_frame", plan.first_frame)
        };
        let outputs = |arguments: Arguments| {
            arguments
                .with("computes", plan.computes)
                .with("rewards", rewards)
                .with("dones", dones)
                .with("observations", observations)
        };
        let (envs, seed) = (self.config.num_envs, plan.seed as u32);
        let arguments = numbers(Arguments::new(&self.envs));
        if self.config.link == LinkMode::Pairs {
            let drawn = plan.frames_drawn_in_pairs();
            let arguments = arguments.with("draw_from", drawn.start).with("draw_until", drawn.end);
            self.with_program_line(arguments.launch(&self.kernels.step, &[envs / 2]))?;
            let Some(kernel) = self.kernels.outputs.as_ref().filter(|_| plan.computes) else {
                return Ok(());
            };
            let arguments = outputs(numbers(Arguments::new(&self.envs)).with("seed", seed));
            return self.with_program_line(arguments.launch(kernel, &[envs]));
        }
        let mut arguments = arguments.with("draw_last", plan.draw_last).with("seed", seed);
        if self.config.stage != Stage::EmulateOnly {
            arguments = outputs(arguments);
        }
        if let Some(frames) = &buffers.single_frames {
            arguments = frames.arguments(plan, arguments);
        }
        self.with_program_line(arguments.launch(&self.kernels.step, &[envs]))
    }
}

impl DeviceConfig {
    #[allow(unsafe_code, reason = "the machine vouches for its indices")]
    pub(super) fn build(self) -> Build {
        if self.checked {
            Build::default()
        } else {
            // SAFETY: trusted are the machine and the kernels around it. Its indices are masked by
            // construction, also where programs call it (`gameboy::view`), handles are made here
            // for arrays of the lengths it knows, launches go from 0 to the number of envs or
            // bytes, and actions index a table of 256. Tests run it all in checked builds.
            unsafe { Build::trusting() }
        }
    }
}
