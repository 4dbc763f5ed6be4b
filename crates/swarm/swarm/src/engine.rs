//! The state of every swarm, and the trait of its engine, which runs machines on CPU threads or by
//! kernels on a device. [`crate::swarm::SwarmOf`] checks the arguments of calls, and engines rely
//! on these checks.

use std::ops::Range;

use gbxcule_runtime::Device;

use crate::checkpoint::StepOutputs;
use crate::episode::Episodes;
use crate::interruptible_step::FrameTime;
use crate::native::NativeEngine;
use crate::step_plan::StepPlan;
use crate::{
    Counters, CpuState, DeviceEngine, EnvSnapshot, Frame, PowerOnChoice, Rom, ScratchArray,
    SwarmConfig, SwarmError, View,
};

/// State of a swarm that does not depend on its engine.
pub struct SwarmState {
    pub(crate) config: SwarmConfig,
    pub(crate) rom: Rom,
    /// Starts of episodes: at least one state.
    pub(crate) starts: Vec<EnvSnapshot>,
    pub(crate) episodes: Episodes,
    /// The seed of the last reset of all envs.
    pub(crate) seed: u64,
    /// The time of a frame; `None` if steps are only queued and can't be interrupted.
    pub(crate) frame_time: Option<FrameTime>,
}

impl SwarmState {
    /// The state of a swarm that was just made.
    pub(crate) fn new(rom: Rom, config: SwarmConfig, frame_time: Option<FrameTime>) -> Self {
        let power_on: PowerOnChoice = config.power_on;
        let starts = EnvSnapshot::power_on(&rom, power_on);
        let episodes = Episodes::new(config.num_envs, starts.len());
        Self { config, rom, starts, episodes, seed: 0, frame_time }
    }

    /// Every env.
    pub(crate) fn envs(&self) -> Range<usize> {
        0..self.config.num_envs
    }
}

/// Interface of an engine, which runs the machines of a swarm and the programs. Callers have
/// checked env numbers, lengths of masks and of actions, and addresses.
pub trait Engine: Send + Sync {
    /// The swarm's state.
    fn state(&self) -> &SwarmState;

    /// The swarm's state, to be changed.
    fn state_mut(&mut self) -> &mut SwarmState;

    /// The engine, if it is the CPU's.
    fn as_native(&self) -> Option<&NativeEngine> {
        None
    }

    /// The engine, if it is a device's.
    fn as_device(&self) -> Option<&DeviceEngine> {
        None
    }

    /// The engine, if it is a device's, to be changed.
    fn as_device_mut(&mut self) -> Option<&mut DeviceEngine> {
        None
    }

    /// Number of blocks of code made for the ROM; `None` if machines run without them.
    fn blocks(&self) -> Option<usize>;

    /// Waits until all queued work is done.
    fn sync(&mut self) -> Result<(), SwarmError>;

    /// Sets rewards and observations to zero and marks no episode as over.
    fn clear_outputs(&mut self) -> Result<(), SwarmError>;

    /// Replaces the outputs.
    fn restore_outputs(&mut self, computed: &StepOutputs) -> Result<(), SwarmError>;

    /// Replaces the starts of episodes, all with the same weight. Envs go on as they are.
    fn put_starts(&mut self, starts: Vec<EnvSnapshot>) -> Result<(), SwarmError>;

    /// Puts all machines into the first start. Runs no program.
    fn load_first_start(&mut self) -> Result<(), SwarmError>;

    /// Runs pending `begin`s of the programs, then the frames of the plan, then the programs if the
    /// plan says so. Without a mask no env rests.
    fn run(
        &mut self,
        actions: &[u8],
        mask: Option<&[bool]>,
        plan: StepPlan,
    ) -> Result<(), SwarmError>;

    /// Puts the marked envs to the starts of their next episodes, and begins the episodes.
    fn reset_masked(&mut self, mask: &[bool]) -> Result<(), SwarmError>;

    /// Begins episodes of the marked envs at their machines' present states.
    fn begin_again(&mut self, mask: &[bool]) -> Result<(), SwarmError>;

    /// Runs the programs' `observe` for an env that was just loaded; if the env `begins` an
    /// episode, runs `begin` first.
    fn begin_env(&mut self, env: usize, begins: bool) -> Result<(), SwarmError>;

    /// Hands the configuration's weights to the programs.
    fn take_weights(&mut self) -> Result<(), SwarmError>;

    /// Holds these buttons down in an env instead of its actions' buttons.
    fn hold_buttons(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError>;

    /// The manual buttons of each env.
    fn manual_buttons(&self) -> Vec<Option<u8>>;

    /// Copies an env's state.
    fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError>;

    /// Loads a state into an env. Runs no program.
    fn load_env(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError>;

    /// Replaces the observation of an env.
    fn put_observation(&mut self, env: usize, observation: &[f32]) -> Result<(), SwarmError>;

    /// Copies one env's state to all marked envs.
    fn copy_state(&mut self, source: usize, mask: &[bool]) -> Result<(), SwarmError>;

    /// The rewards of a range of envs.
    fn rewards_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError>;

    /// Returns true for each env of a range whose episode is over.
    fn dones_of(&self, envs: Range<usize>) -> Result<Vec<bool>, SwarmError>;

    /// The observations of a range of envs, one after the other.
    fn observations_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError>;

    /// Some cells of a scratch array, one env after the other.
    fn cells(&self, array: ScratchArray, cells: Range<usize>) -> Result<Vec<f64>, SwarmError>;

    /// The registers of a range of envs.
    fn registers(&self, envs: Range<usize>) -> Result<Vec<CpuState>, SwarmError>;

    /// The counters of a range of envs.
    fn counters(&self, envs: Range<usize>) -> Result<Vec<Counters>, SwarmError>;

    /// Calls `see` with the last drawn frame of each of these envs.
    fn see_frames(&self, envs: &[usize], see: &mut dyn FnMut(Frame<'_>)) -> Result<(), SwarmError>;

    /// Samples of an env's last step, left and right.
    fn samples(&self, env: usize) -> Result<&[[i16; 2]], SwarmError>;

    /// The bytes at these addresses as a debugger shows them.
    fn read_memory(&self, env: usize, range: Range<u32>) -> Result<Vec<u8>, SwarmError>;

    /// Writes one row of bytes to each of some envs, from `low` on. Each env is named once.
    fn write_rows(&mut self, envs: &[usize], low: u32, rows: &[u8]) -> Result<(), SwarmError>;

    /// Fills the rows of some envs with their view.
    fn fill_rows(&self, view: &View, rows: Vec<(usize, &mut [u8])>) -> Result<(), SwarmError>;

    /// The device on which the machines run.
    fn device(&self) -> Device {
        self.as_device().map_or(Device::Cpu, |engine| engine.device().device)
    }
}
