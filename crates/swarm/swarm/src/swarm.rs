//! One set of calls for both swarms, threads on the CPU and kernels on a CUDA device, for callers
//! whose users choose the device. [`NativeSwarm`] and [`DeviceSwarm`] themselves have more calls.

use std::ops::Range;

use gbxcule_runtime::Device;

use crate::checkpoint::{SavedEnv, StepOutputs};
use crate::super_picture::SuperPicture;
use crate::{
    Counters, CpuState, DeviceConfig, DeviceSwarm, EnvSnapshot, Episode, Frame, FrameRange,
    HookCount, NativeSwarm, Pressed, Rom, ScratchCell, SwarmConfig, SwarmError, View,
};

/// A native or a device swarm, behind one set of calls.
///
/// ```
/// use gbxcule_runtime::Device;
/// use gbxcule_swarm::{Rom, Swarm, SwarmConfig};
///
/// let rom = gbxcule_assembler::by_name("ALU_LOOP").expect("a built-in ROM");
/// let rom = Rom::new(rom.bytes()).expect("a good header");
/// let mut swarm = Swarm::new(rom, SwarmConfig::new(2), Device::Cpu).expect("a swarm");
/// swarm.step(&[0, 1]).expect("an action for each env");
/// ```
///
/// # Errors
/// A call that lists no errors has those of the function of its name in [`NativeSwarm`] and
/// [`DeviceSwarm`].
pub enum Swarm {
    /// A swarm on the CPU's threads.
    Native(Box<NativeSwarm>),
    /// A swarm in kernels on a CUDA device.
    Device(Box<DeviceSwarm>),
}

/// Evaluates one expression with the native or the device swarm, whichever there is.
macro_rules! either {
    ($self:expr, $swarm:ident => $act:expr) => {
        match $self {
            Swarm::Native($swarm) => $act,
            Swarm::Device($swarm) => $act,
        }
    };
}

#[allow(
    clippy::missing_errors_doc,
    reason = "each is what the two swarms' function of its name is"
)]
impl Swarm {
    /// Makes a swarm whose machines are switched on and have run no frame.
    pub fn new(rom: Rom, config: SwarmConfig, device: Device) -> Result<Self, SwarmError> {
        Ok(match device {
            Device::Cpu => Self::Native(Box::new(NativeSwarm::new(rom, config)?)),
            Device::Cuda(_) => {
                let device = DeviceConfig { device, ..DeviceConfig::default() };
                Self::Device(Box::new(DeviceSwarm::new(rom, config, device)?))
            }
        })
    }

    /// The swarm's configuration.
    #[must_use]
    pub fn config(&self) -> &SwarmConfig {
        either!(self, swarm => swarm.config())
    }

    /// Returns the number of blocks of code made for the ROM; `None` if machines run without them:
    /// the configuration or the model leaves them out ([`SwarmConfig::recompile`]), the last trial
    /// is not won (CPU), or too little of the ROM's code is hot (CUDA).
    #[must_use]
    pub fn blocks(&self) -> Option<usize> {
        match self {
            Self::Native(swarm) => swarm.blocks(),
            Self::Device(swarm) => swarm.blocks(),
        }
    }

    /// Returns the device swarm, if this is one.
    #[must_use]
    pub fn as_device(&self) -> Option<&DeviceSwarm> {
        match self {
            Self::Native(_) => None,
            Self::Device(swarm) => Some(swarm),
        }
    }

    /// Returns the device swarm, if this is one, to be changed.
    #[must_use]
    pub fn as_device_mut(&mut self) -> Option<&mut DeviceSwarm> {
        match self {
            Self::Native(_) => None,
            Self::Device(swarm) => Some(swarm),
        }
    }

    /// Resets every env to a start, where a new episode begins.
    pub fn reset(&mut self, seed: u64) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.reset(seed))
    }

    /// Seeds those envs for which there is a seed.
    pub fn seed_envs(&mut self, seeds: &[Option<u64>]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.seed_envs(seeds))
    }

    /// Returns the swarm's device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.as_device().map_or(Device::Cpu, |swarm| swarm.device().device)
    }

    /// Starts of episodes.
    pub(crate) fn starts(&self) -> &[EnvSnapshot] {
        either!(self, swarm => swarm.starts())
    }

    /// The manual buttons of each env.
    pub(crate) fn manual_buttons(&self) -> Vec<Option<u8>> {
        either!(self, swarm => swarm.manual_buttons())
    }

    /// Restores all that a checkpoint holds of a swarm that was just made; nothing runs.
    pub(crate) fn restore_checkpoint(
        &mut self,
        starts: Vec<EnvSnapshot>,
        envs: Vec<SavedEnv>,
        computed: &StepOutputs,
        seed: u64,
    ) -> Result<(), SwarmError> {
        for (env, SavedEnv { snapshot, episode, manual_buttons }) in envs.into_iter().enumerate() {
            self.hold_buttons(env, manual_buttons)?;
            self.set_episode(env, episode)?;
            either!(self, swarm => swarm.load_env(env, &snapshot)?);
        }
        either!(self, swarm => swarm.restore_outputs(starts, computed, seed))
    }

    /// Returns the seed of the last reset of all envs, which programs read as `gb.seed`.
    #[must_use]
    pub fn seed(&self) -> u64 {
        either!(self, swarm => swarm.seed())
    }

    /// Returns the env's seed and its number of episodes.
    pub fn episode(&self, env: usize) -> Result<Episode, SwarmError> {
        either!(self, swarm => swarm.episode(env))
    }

    /// Sets the env's seed and its number of episodes.
    pub fn set_episode(&mut self, env: usize, episode: Episode) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.set_episode(env, episode))
    }

    /// Returns the weight of each start.
    pub(crate) fn weights(&self) -> &[u32] {
        either!(self, swarm => swarm.weights())
    }

    /// Sets the starts of later episodes: states of any format, all with the same weight. Envs go
    /// on as they are.
    pub fn set_starts(&mut self, states: &[&[u8]]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.set_starts(states))
    }

    /// Sets the weight of each start: a start of weight 3 is chosen three times as often as one of
    /// weight 1.
    pub fn set_start_weights(&mut self, weights: &[u32]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.set_start_weights(weights))
    }

    /// Sets the weights that a checkpoint has.
    pub(crate) fn set_weights_of_all_starts(&mut self, weights: &[u32]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.set_weights_of_all_starts(weights))
    }

    /// Sets the starts of episodes: these states, or power-on for an empty list, each advanced by
    /// `steps` steps without buttons.
    pub fn restart_from(&mut self, states: &[&[u8]], steps: u32) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.restart_from(states, steps))
    }

    /// Does what `restart_from` does and calls `go_on` several times a second; if `go_on` returns
    /// false it stops, and the swarm is as before. Returns true if it finished.
    pub fn restart_from_while(
        &mut self,
        states: &[&[u8]],
        steps: u32,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, SwarmError> {
        either!(self, swarm => swarm.restart_from_while(states, steps, go_on))
    }

    /// Resets the marked envs to a start.
    pub fn reset_masked(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.reset_masked(mask))
    }

    /// Changes the weights that the programs read from the next step on.
    pub fn set_weights(&mut self, weights: &[f32]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.set_weights(weights))
    }

    /// Begins episodes of the marked envs where their machines are, as after the loss of a life.
    pub fn begin_again(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.begin_again(mask))
    }

    /// Makes an env's present state the only start of later episodes.
    pub fn start_from_env(&mut self, env: usize) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.start_from_env(env))
    }

    /// Presses each env's action and runs a step; on a device this only queues the work.
    pub fn step(&mut self, actions: &[u8]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.step(actions))
    }

    /// Runs a step, calls `go_on` several times a second, and stops when it returns false. Returns
    /// true if the step finished. If it did not, its first frames have run; hooks and `settled`
    /// were called in them, `reward`, `done` and `observe` were not. On a device `go_on` is never
    /// called and the result is always true. `draw_last` draws the last frame, even if the
    /// configuration does not ask for it.
    ///
    /// # Errors
    /// As in [`Self::step`].
    pub fn step_while(
        &mut self,
        pressed: Pressed<'_>,
        draw_last: bool,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, SwarmError> {
        let swarm = match self {
            Self::Native(swarm) => return swarm.step_while(pressed, draw_last, go_on),
            Self::Device(swarm) => swarm,
        };
        let range = FrameRange::whole(swarm.config()).drawn(draw_last);
        match pressed {
            Pressed::Actions(actions) => swarm.step_frames(actions, &range)?,
            Pressed::Masked { actions, mask } => {
                swarm.step_frames_masked(actions, mask, &range)?;
            }
            Pressed::Nothing => swarm.step_frames_without_buttons(&range)?,
        }
        Ok(true)
    }

    /// Runs a range of a step; on a device this only queues the work.
    pub fn step_frames(&mut self, actions: &[u8], range: &FrameRange) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.step_frames(actions, range))
    }

    /// Runs a range of a step of the marked envs; all others rest.
    pub fn step_frames_masked(
        &mut self,
        actions: &[u8],
        mask: &[bool],
        range: &FrameRange,
    ) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.step_frames_masked(actions, mask, range))
    }

    /// Holds these buttons down in an env instead of its actions' buttons; `None` returns
    /// to the actions' buttons.
    pub fn hold_buttons(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.hold_buttons(env, buttons))
    }

    /// Waits until all queued work is done.
    pub fn sync(&mut self) -> Result<(), SwarmError> {
        match self {
            Self::Native(_) => Ok(()),
            Self::Device(swarm) => swarm.sync(),
        }
    }

    /// Returns one reward for each env.
    ///
    /// # Errors
    /// The device failed, or a program stopped in an earlier step.
    pub fn rewards(&self) -> Result<Vec<f32>, SwarmError> {
        self.rewards_of(0..self.config().num_envs)
    }

    /// Returns the rewards of a range of envs.
    ///
    /// # Errors
    /// There is no such env, the device failed, or a program stopped in an earlier step.
    pub fn rewards_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        match self {
            Self::Native(swarm) => of(swarm.rewards(), &envs, 1, swarm),
            Self::Device(swarm) => swarm.rewards_of(envs),
        }
    }

    /// Returns for each env whether its episode is over.
    ///
    /// # Errors
    /// The device failed, or a program stopped in an earlier step.
    pub fn dones(&self) -> Result<Vec<bool>, SwarmError> {
        self.dones_of(0..self.config().num_envs)
    }

    /// Returns for each env of a range whether its episode is over.
    ///
    /// # Errors
    /// There is no such env, the device failed, or a program stopped in an earlier step.
    pub fn dones_of(&self, envs: Range<usize>) -> Result<Vec<bool>, SwarmError> {
        match self {
            Self::Native(swarm) => of(swarm.dones(), &envs, 1, swarm),
            Self::Device(swarm) => swarm.dones_of(envs),
        }
    }

    /// Returns the observations of all envs, one after the other.
    ///
    /// # Errors
    /// The device failed, or a program stopped in an earlier step.
    pub fn observations(&self) -> Result<Vec<f32>, SwarmError> {
        self.observations_of(0..self.config().num_envs)
    }

    /// Returns the observations of a range of envs, one after the other.
    ///
    /// # Errors
    /// There is no such env, the device failed, or a program stopped in an earlier step.
    pub fn observations_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        match self {
            Self::Native(swarm) => {
                of(swarm.observations(), &envs, swarm.config().programs.obs_dim(), swarm)
            }
            Self::Device(swarm) => swarm.observations_of(envs),
        }
    }

    /// Returns some cells of each env's scratch, one env after the other.
    fn cells(&self, cells: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        match self {
            Self::Native(swarm) => Ok(swarm.cells(cells)),
            Self::Device(swarm) => swarm.cells(cells),
        }
    }

    /// Returns how often each env came to each hook: all hooks of an env, then those of the next.
    ///
    /// # Errors
    /// The device failed, or a program stopped in an earlier step.
    pub fn hook_counts(&self) -> Result<Vec<HookCount>, SwarmError> {
        let cells = self.cells(self.config().programs.hook_cells())?;
        let (pairs, _) = cells.as_chunks();
        let count = |&[in_episode, in_step]: &[f32; 2]| HookCount {
            in_episode: in_episode as u32,
            in_step: in_step as u32,
        };
        Ok(pairs.iter().map(count).collect())
    }

    /// Returns for each env and each action whether `action_mask` allows it: all actions of an env,
    /// then those of the next.
    ///
    /// # Errors
    /// The device failed, or a program stopped in an earlier step.
    pub fn action_masks(&self) -> Result<Vec<bool>, SwarmError> {
        let cells = self.cells(self.config().programs.mask_cells())?;
        Ok(cells.into_iter().map(|cell| cell != 0.0).collect())
    }

    /// Returns one scratch cell of every env.
    ///
    /// # Errors
    /// The programs have no such cell, the device failed, or a program stopped in an earlier step.
    pub fn scratch_values(&self, cell: ScratchCell) -> Result<Vec<f32>, SwarmError> {
        self.cells(cell.place(&self.config().programs)?)
    }

    /// Writes the view of every env, or only of the marked ones, into `out`.
    pub fn fill_view(
        &self,
        view: &View,
        mask: Option<&[bool]>,
        out: &mut [u8],
    ) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.fill_view(view, mask, out))
    }

    /// Writes the view of every env into `out`, with the picture of the frame that comes next. The
    /// machines stay where they are.
    pub fn fill_view_ahead(&self, view: &View, out: &mut [u8]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.fill_view_ahead(view, out))
    }

    /// Returns an env's registers.
    pub fn cpu_state(&self, env: usize) -> Result<CpuState, SwarmError> {
        either!(self, swarm => swarm.cpu_state(env))
    }

    /// Returns the registers of all envs.
    ///
    /// # Errors
    /// The device failed, or a program stopped in an earlier step.
    pub fn cpu_states(&self) -> Result<Vec<CpuState>, SwarmError> {
        match self {
            Self::Native(swarm) => {
                (0..swarm.config().num_envs).map(|env| swarm.cpu_state(env)).collect()
            }
            Self::Device(swarm) => swarm.cpu_states(),
        }
    }

    /// Returns every env's counters: frames and T-cycles since its reset.
    ///
    /// # Errors
    /// The device failed, or a program stopped in an earlier step.
    pub fn all_counters(&self) -> Result<Vec<Counters>, SwarmError> {
        match self {
            Self::Native(swarm) => {
                (0..swarm.config().num_envs).map(|env| swarm.counters(env)).collect()
            }
            Self::Device(swarm) => swarm.all_counters(),
        }
    }

    /// Returns an env's counters: frames and T-cycles since its reset.
    pub fn counters(&self, env: usize) -> Result<Counters, SwarmError> {
        either!(self, swarm => swarm.counters(env))
    }

    /// Calls `see` with the last drawn frame of each of these envs, one after the other.
    ///
    /// # Errors
    /// There is no such env, the device failed, or a program stopped in an earlier step.
    pub fn frames(&self, envs: &[usize], mut see: impl FnMut(Frame<'_>)) -> Result<(), SwarmError> {
        match self {
            Self::Native(swarm) => {
                let mut picture = SuperPicture::new();
                envs.iter().try_for_each(|&env| {
                    swarm.machine(env)?;
                    let (machine, cart_ram) = swarm.machine_and_cart_ram(env);
                    see(picture.of(machine, swarm.rom(), cart_ram));
                    Ok(())
                })
            }
            Self::Device(swarm) => {
                let frames = swarm.frames(envs)?;
                Frame::each(swarm.rom().model(), &frames).for_each(see);
                Ok(())
            }
        }
    }

    /// Returns the bytes at these addresses as a debugger shows them.
    pub fn read_memory(&self, env: usize, range: Range<u32>) -> Result<Vec<u8>, SwarmError> {
        either!(self, swarm => swarm.read_memory(env, range))
    }

    /// Changes memory from `low` on, which is an address, or an address in a bank
    /// ([`crate::in_bank`]): directly, without the machine's own writes.
    pub fn write_memory(&mut self, env: usize, low: u32, bytes: &[u8]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.write_memory(env, low, bytes))
    }

    /// Changes memory of the marked envs from `low` on, as [`Self::write_memory`] does, with a row
    /// of bytes for each of them.
    pub fn write_memories(
        &mut self,
        mask: &[bool],
        low: u32,
        rows: &[u8],
    ) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.write_memories(mask, low, rows))
    }

    /// The ROM that runs in every machine.
    #[must_use]
    pub fn rom(&self) -> &Rom {
        either!(self, swarm => swarm.rom())
    }

    /// Copies an env's state.
    pub fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError> {
        either!(self, swarm => swarm.snapshot(env))
    }

    /// Samples of an env's last step, left and right. Empty if the swarm has no sound.
    ///
    /// # Errors
    /// There is no such env, or the swarm is on a device.
    pub fn samples(&self, env: usize) -> Result<&[[i16; 2]], SwarmError> {
        match self {
            Self::Native(swarm) => swarm.samples(env),
            Self::Device(_) => Err(SwarmError::SoundOnDevice),
        }
    }

    /// Loads a copied state into an env.
    pub fn restore(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.restore(env, snapshot))
    }

    /// Copies one env's state to all marked envs.
    pub fn copy_state(&mut self, source: usize, mask: &[bool]) -> Result<(), SwarmError> {
        either!(self, swarm => swarm.copy_state(source, mask))
    }
}

/// The part of a native swarm's output that belongs to a range of envs, `each` elements an env.
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
