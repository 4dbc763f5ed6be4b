//! Steps of a rollout without copies to the host: actions, rewards, ends, returns and lengths stay
//! on the device, and the device begins the next episodes.
//!
//! A step is a few launches: `take_actions`, the step's own kernels, `end_step`, `begin_next`, and
//! the programs' `begin`. While a rollout goes on, the device counts the episodes, and the host
//! does not know the counts: [`DeviceEngine::leave_rollout`] copies them to the host.

use gbxcule_ir::check::Valid;
use gbxcule_ir::{Module, Scalar};
use gbxcule_runtime::{Argument, Array, DataType, Error, Kernel};

use super::copy_env::{self, BEGIN_NEXT, LANES};
use super::dialect_kernel;
use super::kernel::Arguments;
use super::outputs::work_ram;
use super::recipe::Recipe;
use super::state_arrays::{SCRATCH, WRAM};
use super::swarm::DeviceEngine;
use crate::{FrameRange, LinkMode, Stage, SwarmError};

/// The kernel that reads actions.
const TAKE_ACTIONS: &str = "take_actions";
const END_STEP: &str = "end_step";

/// The kernels' texts.
const NUMBER: &str = include_str!("rollout/number.py");
const TAKE_TEXT: &str = include_str!("rollout/take_actions.py");
const END_TEXT: &str = include_str!("rollout/end_step.py");

/// The mark of an env whose episode ended with the loss of a life.
const LIFE_LOST: u8 = 2;

/// Element types that actions on a device may have.
const ACTION_SCALARS: [Scalar; 3] = [Scalar::I32, Scalar::I64, Scalar::U8];

/// A number in the machine's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own about the bytes")]
pub struct MemoryNumber {
    /// The address of its first byte, in the work RAM that is always mapped.
    pub low: u32,
    /// Bytes, 1 to 7.
    pub width_bytes: u8,
    /// True if the high byte comes first.
    pub big_endian: bool,
    /// True if the highest bit is a sign.
    pub signed: bool,
    /// True if each byte is two decimal digits.
    pub decimal: bool,
}

/// Rewards and ends of the episodes of a rollout.
#[derive(Debug, Clone, PartialEq)]
pub struct RolloutConfig {
    /// True if the next episode begins in the same step in which the last one ended; false if it
    /// begins in the following step, in which the env rests.
    pub same_step: bool,
    /// Steps after which an episode is truncated.
    pub max_episode_steps: Option<u32>,
    /// True if the programs compute the reward; `changes` is then ignored.
    pub program_pays: bool,
    /// True if the programs' `done` ends episodes.
    pub program_ends: bool,
    /// Numbers with scales: the reward is the sum of each number's growth in the step times its
    /// scale.
    pub changes: Vec<(MemoryNumber, f32)>,
    /// Numbers in memory, each of which ends the episode when it is not 0.
    pub ends: Vec<MemoryNumber>,
    /// The number of lives: when it falls, the episode ends, and the next one begins at the
    /// machine's present state.
    pub lives: Option<MemoryNumber>,
}

/// The envs' places in their episodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RolloutState {
    /// Steps of each env's episode so far.
    pub lengths: Vec<i32>,
    /// Sum of rewards of each env's episode so far.
    pub returns: Vec<f32>,
    /// True where an episode is over and the next step begins another one.
    pub over: Vec<bool>,
    /// True where the last episode ended with the loss of a life, so that the next one begins at
    /// the machine's present state.
    pub goes_on: Vec<bool>,
}

/// Arrays of a rollout; element or row `i` is of env `i`.
#[derive(Debug, Clone)]
pub struct RolloutArrays {
    /// Returns of episodes, `f32`; after the step that ends an episode, the return of the whole
    /// episode.
    pub returns: Array,
    /// Lengths of episodes in steps, `i32`; after the step that ends an episode, its whole length.
    pub lengths: Array,
    /// True where the programs, or numbers of the configuration, ended an episode in the last step.
    pub terminated: Array,
    /// True where an episode ended in the last step because of its length, or because the other env
    /// of its pair ended.
    pub truncated: Array,
    /// Last observations of the episodes that ended; has no columns unless `same_step` is set.
    pub final_observations: Array,
    /// Masks of the next actions, `f32`: not 0 where the programs allow the action; has no columns
    /// if the programs have no masks.
    pub action_masks: Array,
}

/// Kernels and arrays of a rollout.
pub(super) struct Rollout {
    config: RolloutConfig,
    take_actions: Vec<Kernel>,
    end_step: Kernel,
    begin_next: Kernel,
    pub(super) arrays: RolloutArrays,
    choices: Array,
    refused: Array,
    held_buttons: Array,
    numbers: Array,
    scales: Array,
    levels: Array,
    lives: Array,
    over: Array,
    mask: Array,
    seeds: Array,
    counts: Array,
    weights: Array,
    /// True while the device counts the episodes.
    is_entered: bool,
}

/// Returns the env and the action if the error reports an action that the codec does not have.
/// Callers that copy the arrays themselves use it.
pub fn refused_action(error: &Error) -> Option<(usize, i64)> {
    match error {
        Error::Fault(fault) if fault.kernel == TAKE_ACTIONS => {
            Some((fault.thread.first().map_or(0, |&env| env as usize), fault.index))
        }
        _ => None,
    }
}

impl DeviceEngine {
    /// Makes what a rollout needs, and returns its arrays. With another configuration the arrays
    /// are new ones.
    ///
    /// # Errors
    /// A number of the configuration, or the number of `chance`, lies outside of the work RAM that
    /// is always mapped; or the device failed.
    pub fn prepare_rollout(
        &mut self,
        config: &RolloutConfig,
    ) -> Result<&RolloutArrays, SwarmError> {
        if self.rollout.as_ref().is_none_or(|rollout| rollout.config != *config) {
            self.leave_rollout()?;
            self.rollout = Some(Rollout::new(self, config)?);
        }
        let Some(rollout) = &self.rollout else { unreachable!("it was just made") };
        Ok(&rollout.arrays)
    }

    /// Begins a rollout at these places in the envs' episodes: from now on the device counts
    /// episodes. Where `begin` is pending, the programs run it.
    ///
    /// # Errors
    /// A list does not have one number for each env, no rollout was prepared, or the device failed.
    pub fn enter_rollout(&mut self, state: &RolloutState) -> Result<(), SwarmError> {
        self.state.config.check_length("length", state.lengths.len())?;
        self.state.config.check_length("return", state.returns.len())?;
        self.state.config.check_length("end", state.over.len())?;
        self.state.config.check_length("life", state.goes_on.len())?;
        self.begin_awaited()?;
        let rollout = self.rollout.as_mut().ok_or(SwarmError::NoRollout)?;
        rollout.arrays.lengths.write(&state.lengths)?;
        rollout.arrays.returns.write(&state.returns)?;
        let ending = |(&over, &goes_on): (&bool, &bool)| u8::from(over) + u8::from(over && goes_on);
        let endings = state.over.iter().zip(&state.goes_on).map(ending);
        rollout.over.write(&endings.collect::<Vec<_>>())?;
        rollout.mask.fill(0_u8)?;
        let episodes = &self.state.episodes.by_env;
        rollout.seeds.write(&episodes.iter().map(|it| it.seed).collect::<Vec<_>>())?;
        rollout.counts.write(&episodes.iter().map(|it| it.count).collect::<Vec<_>>())?;
        rollout.weights = self.memory.copy_of(self.state.episodes.weights())?;
        rollout.is_entered = true;
        Ok(())
    }

    /// Presses actions that lie on the device, runs a step, and begins the next episodes of those
    /// envs whose episodes are over. All work is queued: the call copies nothing to or from the
    /// host and does not wait.
    ///
    /// `actions` has a row for each env and a column for each table of the codec, of `i32`, `i64`
    /// or `u8`. An env whose action its codec does not have presses nothing in this step; the next
    /// call that waits returns [`SwarmError::UnknownDeviceAction`]. On the CPU this call returns
    /// the error itself, before any machine moves.
    ///
    /// # Errors
    /// The rollout was not entered, the actions have another shape, type or device, or the device
    /// failed.
    pub fn step_rollout(&mut self, actions: &Array) -> Result<(), SwarmError> {
        let Some(rollout) = self.rollout.as_ref().filter(|rollout| rollout.is_entered) else {
            return Err(SwarmError::NoRollout);
        };
        let plan =
            FrameRange::whole(&self.state.config).plan(&self.state.config, self.state.seed)?;
        rollout.launch_take_actions(self, actions)?;
        if let Some(sticky) = &self.sticky {
            let [seeds, counts] = [&rollout.seeds, &rollout.counts];
            let actions = &self.buffers.actions;
            sticky.stick(&self.envs, actions, &rollout.held_buttons, [seeds, counts], true)?;
        }
        self.launch_step(&rollout.held_buttons, &plan)?;
        rollout.launch_end_step(self)?;
        rollout.launch_begin_next(self)?;
        self.begin_pictures(&rollout.mask)?;
        self.begin(&rollout.mask, true)
    }

    /// Ends the rollout: waits for its steps and returns the envs' places in their episodes; `None`
    /// if no rollout was entered.
    ///
    /// # Errors
    /// The device failed, a program stopped in an earlier step, or an action was refused there.
    pub fn leave_rollout(&mut self) -> Result<Option<RolloutState>, SwarmError> {
        let Some(rollout) = self.rollout.as_ref().filter(|rollout| rollout.is_entered) else {
            return Ok(None);
        };
        // After a fault the rollout goes on: the next call copies the numbers to the host.
        self.with_program_line(self.memory.stream.synchronize())?;
        let counts: Vec<u64> = rollout.counts.to_vec()?;
        let (mut lengths, mut returns) =
            (rollout.arrays.lengths.to_vec()?, rollout.arrays.returns.to_vec()?);
        if rollout.config.same_step {
            for (env, _) in
                rollout.mask.to_vec::<u8>()?.iter().enumerate().filter(|(_, it)| **it != 0)
            {
                (lengths[env], returns[env]) = (0, 0.0);
            }
        }
        let endings = rollout.over.to_vec::<u8>()?;
        let over = endings.iter().map(|&ending| ending != 0).collect();
        let goes_on = endings.iter().map(|&ending| ending == LIFE_LOST).collect();
        for (episode, count) in self.state.episodes.by_env.iter_mut().zip(counts) {
            episode.count = count;
        }
        if let Some(rollout) = &mut self.rollout {
            rollout.is_entered = false;
        }
        Ok(Some(RolloutState { lengths, returns, over, goes_on }))
    }

    /// The error for an action that the codec does not have.
    pub(super) fn unknown_action(&self, (env, action): (usize, i64)) -> SwarmError {
        let choices = self.state.config.codec.choices();
        let tables: Vec<String> =
            choices.iter().map(|table| format!("0 to {}", table.len() - 1)).collect();
        SwarmError::UnknownDeviceAction {
            env,
            action,
            codec: self.state.config.codec.name.to_string(),
            tables: tables.join(", "),
        }
    }
}

impl Rollout {
    fn new(swarm: &DeviceEngine, config: &RolloutConfig) -> Result<Self, SwarmError> {
        let (memory, envs) = (&swarm.memory, swarm.state.config.num_envs);
        let numbers = config.changes.iter().map(|(number, _)| number).chain(&config.ends);
        let numbers = numbers.chain(&config.lives);
        let rows = numbers.map(|number| row(swarm, number)).collect::<Result<Vec<_>, _>>()?;
        if let Some(chance) = swarm.state.config.chance {
            offset(swarm, chance.low, chance.width_bytes)?;
        }
        let choices: Vec<i32> =
            swarm.state.config.codec.choices().iter().map(|table| table.len() as i32).collect();
        let scales: Vec<f32> = config.changes.iter().map(|(_, scale)| *scale).collect();
        let table = memory.zeros(Scalar::I32, &[rows.len().max(1), 3])?;
        if !rows.is_empty() {
            table.write(&rows.concat())?;
        }
        let columns = if config.same_step { swarm.state.config.programs.obs_dim() } else { 0 };
        let finals = memory.zeros(Scalar::F32, &[envs, columns.max(1)])?;
        let recipe = |name: &str| Recipe::new(name, swarm.state.rom.model());
        let take = |scalar: Scalar| {
            let made = recipe(&format!("{TAKE_ACTIONS} {}", scalar.spelled()))
                .compile(swarm.device(), || take_actions_module(scalar))?;
            made.kernel(TAKE_ACTIONS)
        };
        let end = recipe(END_STEP).compile(swarm.device(), end_step_module)?;
        let next = recipe(BEGIN_NEXT).compile(swarm.device(), copy_env::begin_next_module)?;
        Ok(Self {
            config: config.clone(),
            take_actions: ACTION_SCALARS.into_iter().map(take).collect::<Result<_, _>>()?,
            end_step: end.kernel(END_STEP)?,
            begin_next: next.kernel(BEGIN_NEXT)?,
            arrays: RolloutArrays {
                returns: memory.zeros(Scalar::F32, &[envs])?,
                lengths: memory.zeros(Scalar::I32, &[envs])?,
                terminated: memory.zeros(Scalar::Bool, &[envs])?,
                truncated: memory.zeros(Scalar::Bool, &[envs])?,
                final_observations: finals.slice(1, 0..columns, 1)?,
                action_masks: swarm.envs.arrays[SCRATCH].slice(
                    1,
                    swarm.state.config.programs.mask_cells(),
                    1,
                )?,
            },
            choices: memory.copy_of(&choices)?,
            refused: memory.zeros(Scalar::I32, &[0])?,
            held_buttons: memory.zeros(Scalar::I16, &[envs])?,
            numbers: table,
            scales: memory.copy_of(if scales.is_empty() { &[0.0] } else { &scales[..] })?,
            levels: memory.zeros(Scalar::I64, &[config.changes.len().max(1), envs])?,
            lives: memory.zeros(Scalar::I64, &[envs])?,
            over: memory.bytes(envs)?,
            mask: memory.bytes(envs)?,
            seeds: memory.zeros(Scalar::U64, &[envs])?,
            counts: memory.zeros(Scalar::U64, &[envs])?,
            weights: memory.zeros(Scalar::U32, &[1])?,
            is_entered: false,
        })
    }

    fn number_of_changes(&self) -> i32 {
        if self.config.program_pays { 0 } else { self.config.changes.len() as i32 }
    }

    /// The row of the number of lives, or -1.
    fn life_row(&self) -> Argument {
        let row = self.config.changes.len() + self.config.ends.len();
        Argument::Int(self.config.lives.map_or(-1, |_| row as i128))
    }

    fn launch_take_actions(&self, swarm: &DeviceEngine, given: &Array) -> Result<(), SwarmError> {
        let shape = [swarm.state.config.num_envs, self.choices.len()];
        let position = ACTION_SCALARS
            .into_iter()
            .position(|scalar| *given.data_type() == DataType::Scalar(scalar));
        let Some(position) = position.filter(|_| given.shape() == shape) else {
            return Err(SwarmError::WrongActionArray {
                found: format!("{} {:?}", given.data_type(), given.shape()),
                num_envs: shape[0],
                tables: shape[1],
            });
        };
        let arguments = Arguments::default()
            .with("given", given)
            .with("choices", &self.choices)
            .with("refused", &self.refused)
            .with("idle", Argument::Int(i128::from(swarm.state.config.codec.idle())))
            .with("actions", &swarm.buffers.actions)
            .with("rests", flag(!self.config.same_step))
            .with("over", &self.over)
            .with("manual_buttons", swarm.manual_buttons.array())
            .with("held_buttons", &self.held_buttons)
            .with("wram", &swarm.envs.arrays[WRAM])
            .with("numbers", &self.numbers)
            .with("changes", Argument::Int(self.number_of_changes().into()))
            .with("levels", &self.levels)
            .with("life_row", self.life_row())
            .with("lives", &self.lives);
        let kernel = &self.take_actions[position];
        swarm.with_program_line(arguments.launch(kernel, &[swarm.state.config.num_envs]))
    }

    fn launch_end_step(&self, swarm: &DeviceEngine) -> Result<(), SwarmError> {
        let config = &self.config;
        let computes = swarm.state.config.stage != Stage::EmulateOnly;
        let arguments = Arguments::default()
            .with("wram", &swarm.envs.arrays[WRAM])
            .with("numbers", &self.numbers)
            .with("changes", Argument::Int(self.number_of_changes().into()))
            .with("scales", &self.scales)
            .with("levels", &self.levels)
            .with("program_pays", flag(config.program_pays))
            .with("first_end", Argument::Int(config.changes.len() as i128))
            .with("ends", Argument::Int(config.ends.len() as i128))
            .with("program_ends", flag(config.program_ends && computes))
            .with("is_paired", flag(swarm.state.config.link == LinkMode::Pairs))
            .with("max_steps", Argument::Int(config.max_episode_steps.unwrap_or(0).into()))
            .with("same_step", flag(config.same_step))
            .with("rewards", &swarm.buffers.rewards)
            .with("dones", &swarm.buffers.dones)
            .with("returns", &self.arrays.returns)
            .with("lengths", &self.arrays.lengths)
            .with("terminated", &self.arrays.terminated)
            .with("truncated", &self.arrays.truncated)
            .with("over", &self.over)
            .with("mask", &self.mask)
            .with("counts", &self.counts)
            .with("life_row", self.life_row())
            .with("lives", &self.lives);
        Ok(arguments.launch(&self.end_step, &[swarm.state.config.num_envs])?)
    }

    fn launch_begin_next(&self, swarm: &DeviceEngine) -> Result<(), SwarmError> {
        let chance = match swarm.state.config.chance {
            Some(chance) => {
                [offset(swarm, chance.low, chance.width_bytes)?, chance.width_bytes.into()]
            }
            None => [0, 0],
        };
        let arguments = Arguments::from_parts("to_", &swarm.envs)
            .with_parts("from_", &swarm.starts)
            .with("mask", &self.mask)
            .with("seeds", &self.seeds)
            .with("counts", &self.counts)
            .with("weights", &self.weights)
            .with("is_paired", flag(swarm.state.config.link == LinkMode::Pairs))
            .with("chance_at", Argument::Int(chance[0].into()))
            .with("chance_bytes", Argument::Int(chance[1].into()))
            .with("observations", &swarm.buffers.observations)
            .with("final_observations", &self.arrays.final_observations);
        Ok(arguments.launch(&self.begin_next, &[swarm.state.config.num_envs, LANES])?)
    }
}

fn flag(is_set: bool) -> Argument {
    Argument::Int(is_set.into())
}

/// The row of a number in the kernels' table.
fn row(swarm: &DeviceEngine, number: &MemoryNumber) -> Result<[i32; 3], SwarmError> {
    let form = [number.big_endian, number.signed, number.decimal];
    let form = form.iter().zip([1, 2, 4]).map(|(&is_set, bit)| i32::from(is_set) * bit).sum();
    let low = offset(swarm, number.low, number.width_bytes)?;
    Ok([low, i32::from(number.width_bytes), form])
}

/// The offset of a number in work RAM.
fn offset(swarm: &DeviceEngine, low: u32, width_bytes: u8) -> Result<i32, SwarmError> {
    let mapped = work_ram(swarm.state.rom.model());
    if !mapped.contains(&low) || low + u32::from(width_bytes) > mapped.end {
        return Err(SwarmError::OutsideOfWorkRam {
            low,
            start: mapped.start,
            last: mapped.end - 1,
        });
    }
    Ok((low - mapped.start) as i32)
}

/// The kernel that reads actions of a type; it checks them.
fn take_actions_module(scalar: Scalar) -> Valid<Module> {
    let text = TAKE_TEXT.replace("wp.NUMBER", &format!("wp.{}", scalar.spelled()));
    dialect_kernel::compiled(TAKE_ACTIONS, format!("{NUMBER}\n\n{text}"))
}

fn end_step_module() -> Valid<Module> {
    dialect_kernel::trusted(END_STEP, format!("{NUMBER}\n\n{END_TEXT}"))
}
