//! The engine of a swarm in device memory.

use gbxcule_runtime::{Argument, Array, Build, Device, Error, Stream};

use super::buffers::Buffers;
use super::copy_env::LANES;
use super::kernel::Arguments;
use super::kernel_set::KernelSet;
use super::manual_buttons::ManualButtons;
use super::memory::Memory;
use super::picture_stack::DevicePictures;
use super::rollout::{Rollout, refused_action};
use super::state_arrays::{StateArrays, env_bytes, lengths};
use super::step::Order;
use super::sticky::DeviceSticky;
use super::{begin, host_copy, step};
use crate::engine::SwarmState;
use crate::native::joined;
use crate::step_plan::StepPlan;
use crate::{EnvSnapshot, LinkMode, Rom, Stage, SwarmConfig, SwarmError};

/// Bytes of an env in [`Buffers`] without rewards and observations: action, done and mask; three
/// arrays of manual buttons; progress in a step.
const ENV_BUFFER_BYTES: u64 = 3 + 6 + 5;

/// Settings of a [`crate::DeviceSwarm`] that a native swarm does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceConfig {
    /// The device to run on.
    pub device: Device,
    /// True if also the machine's array indices, which its sources mask, are checked, to find
    /// defects of the translation. Programs are always checked.
    pub checked: bool,
}

/// The engine that runs machines by compiled kernels, in one [`Stream`] of the device that holds
/// their state.
pub struct DeviceEngine {
    pub(super) state: SwarmState,
    device: DeviceConfig,
    pub(super) memory: Memory,
    pub(super) kernels: KernelSet,
    /// State of all envs.
    pub(super) envs: StateArrays,
    /// The starts of episodes.
    pub(super) starts: StateArrays,
    pub(super) manual_buttons: ManualButtons,
    /// State arrays of one env, for copies between host and device.
    pub(super) staging_env: StateArrays,
    pub(super) buffers: Buffers,
    /// Pictures that are kept of each env, if the configuration asks for them.
    pub(super) pictures: Option<DevicePictures>,
    pub(super) sticky: Option<DeviceSticky>,
    /// Kernels and arrays of rollouts, once a rollout was prepared.
    pub(super) rollout: Option<Rollout>,
}

impl DeviceEngine {
    /// Makes an engine whose machines are not yet in a start.
    pub(crate) fn new(
        rom: Rom,
        config: SwarmConfig,
        device: DeviceConfig,
    ) -> Result<Self, SwarmError> {
        config.check()?;
        config.chance.map_or(Ok(()), |chance| chance.check(&rom))?;
        if config.sound {
            return Err(SwarmError::SoundOnDevice);
        }
        if rom.revision().is_super() {
            return Err(SwarmError::SuperOnDevice { revision: rom.revision() });
        }
        let memory = Memory::new(device.device)?;
        let kernels = KernelSet::new(&rom, &config, device)?;
        let lengths = lengths(&kernels.facts.machine, &rom, config.scratch_size());
        let outputs = 4 * (1 + config.programs.obs_dim()) as u64;
        let pictures = config.pictures.map_or(0, |it| it.bytes() + it.picture.bytes()) as u64;
        let bytes = env_bytes(lengths) + outputs + pictures + ENV_BUFFER_BYTES;
        memory.fits(config.num_envs, bytes)?;
        let one = || StateArrays::new(lengths, 1, &memory);
        Ok(Self {
            envs: StateArrays::new(lengths, config.num_envs, &memory)?,
            starts: one()?,
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
            state: SwarmState::new(rom, config, None),
            device,
            memory,
            kernels,
            rollout: None,
        })
    }

    /// Returns the device and its settings.
    pub fn device(&self) -> DeviceConfig {
        self.device
    }

    /// The order in which machines of a warp execute.
    pub fn order(&self) -> Order {
        self.kernels.facts.order
    }

    /// Fills the marked envs' stacks of pictures with their frames.
    pub(super) fn begin_pictures(&self, mask: &Array) -> Result<(), SwarmError> {
        let Some(pictures) = &self.pictures else { return Ok(()) };
        pictures.fill(&self.envs, mask, self.manual_buttons.of_idle_step())
    }

    /// Runs the programs' `begin` for envs where it is pending.
    pub(super) fn begin_awaited(&mut self) -> Result<(), SwarmError> {
        let Some(pending) = self.state.episodes.take_awaiting_begin() else { return Ok(()) };
        self.begin(&self.mask(&pending)?, true)
    }

    /// Runs the programs' `observe` for the marked envs; if these begin an episode, runs `begin`
    /// first, for which the scratch must be zero.
    pub(super) fn begin(&self, mask: &Array, begins: bool) -> Result<(), SwarmError> {
        let Some(kernel) = &self.kernels.begin else { return Ok(()) };
        let arguments = Arguments::new(&self.envs)
            .with("rom", &self.buffers.rom)
            .with("mask", mask)
            .with("begins", u32::from(begins))
            .with("seed", self.state.seed as u32)
            .with("observations", &self.buffers.observations);
        self.with_program_line(arguments.launch(kernel, &[self.state.config.num_envs]))
    }

    /// Converts an error of the runtime. If a program stopped, the new error names its line; on a
    /// GPU, whose steps are queued, the program may have stopped in an earlier step.
    pub(super) fn with_program_line<T>(&self, outcome: Result<T, Error>) -> Result<T, SwarmError> {
        let programs = &self.state.config.programs;
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

    /// The stream of all the swarm's work; it counts the bytes that are copied.
    pub fn stream(&self) -> &Stream {
        &self.memory.stream
    }

    /// Copies a state from the host into `staging_env`.
    pub(super) fn upload(&self, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        let is_open = self.state.config.link == LinkMode::Open;
        if is_open && self.state.config.weights.is_empty() {
            return host_copy::upload(
                &self.kernels.facts.machine,
                &self.state.rom,
                snapshot,
                &self.staging_env,
            );
        }
        let counters = if is_open { snapshot.counters } else { joined(snapshot.counters) };
        let mut scratch = snapshot.scratch().to_vec();
        scratch.resize(self.state.config.cells(), 0.0);
        self.state.config.put_weights(&mut scratch);
        let snapshot = EnvSnapshot { counters, scratch: Some(scratch), ..snapshot.clone() };
        host_copy::upload(
            &self.kernels.facts.machine,
            &self.state.rom,
            &snapshot,
            &self.staging_env,
        )
    }

    /// Copies env `source` of one set of arrays to the marked envs of another.
    pub(super) fn transfer(
        &self,
        to: &StateArrays,
        from: &StateArrays,
        source: usize,
        mask: &Array,
    ) -> Result<(), SwarmError> {
        self.launch_transfer(to, from, source, mask, false)
    }

    /// Launches `transfer`; with `observes`, the kernel also copies the observation of env
    /// `source`.
    pub(super) fn launch_transfer(
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

    /// Uploads a mask.
    pub(super) fn mask(&self, mask: &[bool]) -> Result<Array, SwarmError> {
        let bytes: Vec<u8> = mask.iter().map(|&marked| u8::from(marked)).collect();
        self.buffers.mask.write(&bytes)?;
        Ok(self.buffers.mask.clone())
    }
}

impl DeviceEngine {
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
        let (envs, seed) = (self.state.config.num_envs, plan.seed as u32);
        let arguments = numbers(Arguments::new(&self.envs));
        if self.state.config.link == LinkMode::Pairs {
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
        if self.state.config.stage != Stage::EmulateOnly {
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
            // SAFETY: the machine and the kernels around it are trusted. The machine masks its
            // indices by construction, also where programs call it (`gameboy::view`), handles are
            // made here for arrays of the lengths it knows, launches go from 0 to the number of
            // envs or bytes, and actions index a table of 256. Tests run all of this in checked
            // builds.
            unsafe { Build::trusting() }
        }
    }
}
