//! A swarm with its source of actions, for `watch`, `play`, `record` and `demo`, on any device.
//! Steps are run whole, or in pieces so that they can be watched.
//!
//! A step in pieces ends in the same state, with the same results of the programs, as a whole step.
//! Buttons that a user holds replace an env's actions.

use std::ops::Range;

use gbxcule_lab::action_source::ActionSource;
use gbxcule_runtime::Device;
use gbxcule_swarm::{
    Action, Codec, Frame, FrameRange, Programs, Returns, Rom, Schedule, Stage, Swarm, SwarmConfig,
    SwarmError,
};

use crate::env_details::{EnvDetails, StepDetails};
use crate::pad::Pad;
use crate::run_options::RunOptions;
use crate::watch::memory_search;

/// A swarm's configuration and the source of its actions.
#[derive(Debug, Clone)]
pub(crate) struct DriveSettings {
    pub(crate) config: SwarmConfig,
    pub(crate) action_source: ActionSource,
    /// Seed of the actions.
    pub(crate) seed: u64,
}

impl DriveSettings {
    /// Makes the settings from the command line, with steps of `frames_per_step` frames and the
    /// built-in programs.
    pub(crate) fn new(
        run: &RunOptions,
        num_envs: usize,
        (codec, schedule): (Codec, Schedule),
    ) -> Self {
        let config = SwarmConfig {
            codec,
            schedule,
            stage: run.stage,
            recompile: run.recompile(),
            ..SwarmConfig::new(num_envs)
        };
        Self { config, action_source: run.action_gen.clone(), seed: run.actions_seed }
    }

    /// Replaces the programs. Steps compute observations from then on if the observation is not
    /// the default one.
    pub(crate) fn with_programs(mut self, programs: Programs) -> Self {
        let default = Programs::default();
        let is_default = programs.observation_text() == default.observation_text();
        if self.config.stage == Stage::RewardOnly && !is_default {
            self.config.stage = Stage::FullStep;
        }
        self.config.programs = programs;
        self
    }
}

/// Rewards of a step, and the envs whose episodes have ended.
pub(crate) struct StepOutcome {
    pub(crate) rewards: Vec<f32>,
    pub(crate) over: Vec<bool>,
}

/// Swarm, and its position: the step, and the frame within the step.
pub(crate) struct Driver {
    swarm: Swarm,
    action_source: ActionSource,
    /// Seed of the actions.
    seed: u64,
    steps_done: u64,
    frames_done: u32,
    /// Number of machine 0's samples in the step before the last call of `advance`.
    samples_before: usize,
    actions: Vec<u8>,
    manual_buttons: Vec<Option<u8>>,
    /// Returns of the episodes; `None` in stages without rewards.
    returns: Option<Returns>,
}

impl Driver {
    pub(crate) fn new(rom: Rom, drive: DriveSettings, device: Device) -> Result<Self, SwarmError> {
        let DriveSettings { config, action_source, seed } = drive;
        Self::of(Swarm::new(rom, config, device)?, action_source, seed)
    }

    /// Continues the swarm of a checkpoint with its settings; only the source of the actions is
    /// new.
    pub(crate) fn restored(
        checkpoint: &[u8],
        action_source: ActionSource,
        seed: u64,
        device: Device,
    ) -> Result<Self, SwarmError> {
        let (swarm, _note) = Swarm::from_checkpoint(checkpoint, Some(device), None)?;
        Self::of(swarm, action_source, seed)
    }

    fn of(swarm: Swarm, action_source: ActionSource, seed: u64) -> Result<Self, SwarmError> {
        let owns_reward = swarm.config().stage.owns_reward();
        let num_envs = swarm.config().num_envs;
        Ok(Self {
            returns: owns_reward.then(|| Returns::new(&swarm)).transpose()?,
            swarm,
            action_source,
            seed,
            steps_done: 0,
            frames_done: 0,
            samples_before: 0,
            actions: vec![0; num_envs],
            manual_buttons: vec![None; num_envs],
        })
    }

    /// Makes all machines begin in the first of some saved states, and at each reset in one of
    /// them, after `steps` steps without buttons.
    pub(crate) fn restart_from(&mut self, states: &[&[u8]], steps: u32) -> Result<(), SwarmError> {
        self.swarm.restart_from(states, steps)
    }

    /// Makes each machine begin in the state of its number, after `steps` steps without buttons.
    pub(crate) fn restart_each_from(
        &mut self,
        states: &[&[u8]],
        steps: u32,
    ) -> Result<(), SwarmError> {
        self.restart_from(states, steps)?;
        self.reset()?;
        for env in 0..states.len() {
            let is_env = |other| other == env;
            let weights: Vec<u32> = (0..states.len()).map(|it| u32::from(is_env(it))).collect();
            self.swarm.set_start_weights(&weights)?;
            let mask: Vec<bool> = (0..states.len()).map(is_env).collect();
            self.swarm.reset_masked(&mask)?;
        }
        Ok(())
    }

    pub(crate) fn num_envs(&self) -> usize {
        self.actions.len()
    }

    pub(crate) fn device(&self) -> Device {
        self.swarm.device()
    }

    pub(crate) fn config(&self) -> &SwarmConfig {
        self.swarm.config()
    }

    pub(crate) fn action_source(&self) -> &ActionSource {
        &self.action_source
    }

    /// Returns the seed of the actions.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn steps_done(&self) -> u64 {
        self.steps_done
    }

    /// Returns the number of finished frames in the present step.
    pub(crate) fn frames_done(&self) -> u32 {
        self.frames_done
    }

    /// Returns the number of frames until the end of the present step.
    pub(crate) fn frames_left(&self) -> u32 {
        self.config().schedule.frames_per_step() - self.frames_done
    }

    /// Resets all machines; buttons held by a user stay held.
    pub(crate) fn reset(&mut self) -> Result<(), SwarmError> {
        self.swarm.reset(self.seed)?;
        (self.steps_done, self.frames_done) = (0, 0);
        self.returns.as_ref().map_or(Ok(()), Returns::reset)
    }

    /// Runs up to `max_frames` frames, but not past the end of the step; returns their number. A
    /// device only queues them.
    pub(crate) fn advance(&mut self, max_frames: u32, draw_last: bool) -> Result<u32, SwarmError> {
        let frames_per_step = self.config().schedule.frames_per_step();
        if self.frames_done == 0 {
            let codec = &self.swarm.config().codec;
            self.action_source.fill(codec, self.seed, self.steps_done, &mut self.actions);
        }
        self.samples_before = match self.frames_done {
            0 => 0,
            _ => self.samples_of_first().len(),
        };
        let frames = max_frames.clamp(1, self.frames_left());
        let end = self.frames_done + frames;
        self.swarm
            .step_frames(&self.actions, &FrameRange { frames: self.frames_done..end, draw_last })?;
        self.frames_done = end;
        if end == frames_per_step {
            (self.steps_done, self.frames_done) = (self.steps_done + 1, 0);
            if let Some(returns) = &self.returns {
                returns.add(&self.swarm)?;
            }
        }
        Ok(frames)
    }

    /// Returns the samples that machine 0 made in the last call of `advance`; an empty slice
    /// without sound.
    pub(crate) fn new_samples(&self) -> &[[i16; 2]] {
        self.samples_of_first().get(self.samples_before..).unwrap_or_default()
    }

    fn samples_of_first(&self) -> &[[i16; 2]] {
        self.swarm.samples(0).unwrap_or_default()
    }

    /// Returns the samples of an env in the present step.
    pub(crate) fn samples(&self, env: usize) -> Result<&[[i16; 2]], SwarmError> {
        self.swarm.samples(env)
    }

    /// Waits until all queued work is done.
    pub(crate) fn sync(&mut self) -> Result<(), SwarmError> {
        self.swarm.sync()
    }

    /// Returns the envs of a range whose episodes have ended, by the programs.
    pub(crate) fn over(&self, envs: Range<usize>) -> Result<Vec<usize>, SwarmError> {
        if !self.knows_ends() {
            return Ok(Vec::new());
        }
        let dones = self.swarm.dones_of(envs.clone())?;
        Ok(envs.zip(dones).filter(|(_, done)| *done).map(|(env, _)| env).collect())
    }

    /// Runs to the end of the step and draws its last frame if `draw` is true; returns the number
    /// of frames.
    pub(crate) fn finish_step(&mut self, draw: bool) -> Result<u32, SwarmError> {
        self.advance(self.config().schedule.frames_per_step(), draw)
    }

    /// Holds the buttons of an env's pad, or releases them for `None`; ignores an env or a
    /// controller that does not exist.
    pub(crate) fn hold(&mut self, pad: Pad, buttons: Option<u8>) -> Result<(), SwarmError> {
        let Pad { env, controller } = pad;
        let is_super = self.swarm.rom().revision().is_super();
        let Some(manual) = self.manual_buttons.get_mut(env) else { return Ok(()) };
        match controller {
            0 => {
                *manual = buttons;
                self.swarm.hold_buttons(env, buttons)
            }
            1..=3 if is_super => {
                let mask: Vec<bool> = (0..self.num_envs()).map(|other| other == env).collect();
                self.swarm.set_controllers(&mask, controller, &[buttons.unwrap_or_default()])
            }
            _ => Ok(()),
        }
    }

    /// Returns the buttons that a user, or else the env's action, pressed in the last frame.
    pub(crate) fn held(&self, env: usize) -> u8 {
        self.manual_buttons[env].unwrap_or_else(|| self.pressed(env))
    }

    /// Returns true if a user drives an env.
    pub(crate) fn is_driven(&self, env: usize) -> bool {
        self.manual_buttons[env].is_some()
    }

    /// Changes a byte of an env's memory; ignores an env or a place that does not exist.
    pub(crate) fn poke(&mut self, env: usize, place: u32, byte: u8) -> Result<(), SwarmError> {
        memory_search::poke(&mut self.swarm, env, place, byte)
    }

    /// Passes the last drawn frames of some envs to `see`, one after the other.
    pub(crate) fn pictures(
        &self,
        envs: &[usize],
        see: impl FnMut(Frame<'_>),
    ) -> Result<(), SwarmError> {
        self.swarm.frames(envs, see)
    }

    /// Returns a Super Game Boy's last drawn frame with its border, in RGB555.
    pub(crate) fn bordered_picture(&self, env: usize) -> Result<Vec<u16>, SwarmError> {
        self.swarm.bordered_picture(env)
    }

    /// Returns true if the cartridge has RAM with a battery.
    pub(crate) fn has_battery(&self) -> bool {
        let rom = self.swarm.rom();
        rom.cartridge().has_battery && rom.cart_ram_bytes() > 0
    }

    /// Returns the RAM of machine 0's cartridge.
    pub(crate) fn cartridge_ram(&self) -> Result<Vec<u8>, SwarmError> {
        Ok(self.swarm.snapshot(0)?.cart_ram().to_vec())
    }

    /// Returns the battery file of machine 0 in the form of other emulators.
    pub(crate) fn battery(&self) -> Result<Vec<u8>, SwarmError> {
        self.swarm.save_battery(0)
    }

    /// Loads a battery file into machine 0.
    pub(crate) fn insert_battery(&mut self, file: &[u8]) -> Result<(), SwarmError> {
        self.swarm.load_battery(0, file)
    }

    /// Returns details of an env for the page's panel.
    pub(crate) fn details(&self, env: usize) -> Result<EnvDetails, SwarmError> {
        let swarm = &self.swarm;
        let manual = self.manual_buttons.get(env).copied().flatten();
        let is_done = || self.over(env..env + 1).map(|over| !over.is_empty());
        let owns_reward = self.returns.is_some();
        let rewards = owns_reward.then(|| swarm.rewards_of(env..env + 1)).transpose()?;
        let action = self.action(env).filter(|_| manual.is_none());
        let step = StepDetails {
            reward: rewards.map(|rewards| rewards[0]),
            episode_return: self.returns.as_ref().map(|returns| returns.of(env)).transpose()?,
            is_done: self.knows_ends().then(is_done).transpose()?,
            action: action.map(|action| action.name.to_string()),
            buttons: self.held(env),
            held: manual.is_some(),
        };
        EnvDetails::of(swarm, env, step)
    }

    /// Returns rewards and ends of the last whole step; `None` on a device, or if no program ends
    /// episodes.
    pub(crate) fn outcome(&self) -> Result<Option<StepOutcome>, SwarmError> {
        if !self.knows_ends() || self.device() != Device::Cpu {
            return Ok(None);
        }
        Ok(Some(StepOutcome { rewards: self.swarm.rewards()?, over: self.swarm.dones()? }))
    }

    /// Returns the swarm, for reading.
    pub(crate) fn swarm(&self) -> &Swarm {
        &self.swarm
    }

    /// Returns true if steps compute rewards and the programs decide when episodes end.
    fn knows_ends(&self) -> bool {
        self.returns.is_some() && self.config().programs.has_done()
    }

    /// Returns the action of an env in the present step.
    fn action(&self, env: usize) -> Option<&Action> {
        self.config().codec.actions.get(usize::from(self.actions[env]))
    }

    /// Returns the buttons that an env's action pressed in the last frame.
    fn pressed(&self, env: usize) -> u8 {
        let schedule = self.config().schedule;
        let last = match (self.steps_done, self.frames_done) {
            (0, 0) => return 0,
            (_, 0) => schedule.frames_per_step(),
            (_, frame) => frame,
        };
        let pressed = self.action(env).filter(|action| last <= action.frames_held(schedule));
        pressed.map_or(0, |action| action.buttons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_swarm::{Codec, NativeSwarm, button};

    /// Programs that sum up all values that a step offers, so that an additional run of a program
    /// changes the result.
    fn programs() -> Programs {
        let text = "\
import gbxcule as gb
import warp as wp

SCRATCH = 1
OBS_DIM = 3

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    scratch[0] += wp.float32(gb.action(machine)) + 0.125
    return scratch[0]

@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.action(machine) < wp.uint8(3)

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = scratch[0]
    obs[1] = wp.float32(gb.buttons(machine))
    obs[2] = wp.float32(gb.pixel(machine, 80, 100)) + wp.float32(gb.frames(machine))
";
        let text = gbxcule_swarm::ProgramText::new("task.py", text);
        Programs::new(text.clone(), text).expect("programs")
    }

    fn driver(frames_per_step: u32) -> Driver {
        let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game").bytes();
        let config = SwarmConfig {
            schedule: Schedule::new(frames_per_step, 8).expect("a schedule"),
            stage: Stage::FullStep,
            programs: programs(),
            ..SwarmConfig::new(5)
        };
        let drive = DriveSettings { config, action_source: ActionSource::Random, seed: 3 };
        Driver::new(Rom::new(rom).expect("a ROM"), drive, Device::Cpu).expect("a swarm")
    }

    fn all_states(driver: &Driver) -> Vec<Vec<u8>> {
        let state = |env| driver.swarm.save_state(env).expect("an env");
        (0..driver.num_envs()).map(state).collect()
    }

    #[test]
    fn a_step_in_pieces_ends_like_a_step_at_once_and_like_a_swarm_with_the_codec() {
        for frames_per_step in [5, 8, 24] {
            let (mut whole, mut pieces) = (driver(frames_per_step), driver(frames_per_step));
            let rom =
                Rom::new(gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game").bytes());
            let config = SwarmConfig {
                schedule: whole.config().schedule,
                draw_last: true,
                stage: Stage::FullStep,
                programs: programs(),
                ..SwarmConfig::new(5)
            };
            let mut swarm = NativeSwarm::new(rom.expect("a ROM"), config).expect("a swarm");
            let mut actions = [0; 5];
            for step in 0..12 {
                whole.finish_step(true).expect("a step");
                while pieces.steps_done() == step {
                    pieces.advance(1 + (step as u32 % 3) * 3, true).expect("a piece");
                }
                ActionSource::Random.fill(&Codec::default(), 3, step, &mut actions);
                swarm.step(&actions).expect("a step");
                assert_eq!(all_states(&whole), all_states(&pieces), "step {step}");
                let state = |env| swarm.save_state(env).expect("an env");
                assert_eq!(all_states(&whole), (0..5).map(state).collect::<Vec<_>>());
                for driver in [&whole, &pieces] {
                    assert_eq!(driver.swarm.rewards().expect("rewards"), swarm.rewards());
                    assert_eq!(driver.swarm.dones().expect("dones"), swarm.dones());
                    let observations = driver.swarm.observations();
                    assert_eq!(observations.expect("observations"), swarm.observations());
                }
                let returns = |driver: &Driver| {
                    let looked = (0..5).map(|env| driver.details(env).expect("an env"));
                    looked.map(|details| details.step.episode_return).collect::<Vec<_>>()
                };
                assert_eq!(returns(&whole), returns(&pieces));
            }
        }
    }

    #[test]
    fn machines_begin_in_a_state_and_a_checkpoint_goes_on() {
        let mut first = driver(8);
        (0..5).for_each(|_| _ = first.finish_step(false).expect("a step"));
        let state = first.swarm.save_state(1).expect("an env");
        let machine =
            |driver: &Driver, env| driver.swarm.snapshot(env).expect("an env").machine().clone();
        let mut other = self::driver(8);
        other.restart_from(&[&state], 0).expect("a state");
        for _ in 0..2 {
            assert!((0..5).all(|env| machine(&other, env) == machine(&first, 1)));
            other.finish_step(false).expect("a step");
            assert!((0..5).any(|env| machine(&other, env) != machine(&first, 1)));
            other.reset().expect("a reset");
        }
        other.restart_from(&[b"no state"], 0).expect_err("no state");
        let checkpoint = first.swarm.checkpoint(b"a note").expect("bytes");
        let again = Driver::restored(&checkpoint, ActionSource::Random, 3, Device::Cpu);
        let mut again = again.expect("a swarm");
        assert_eq!(all_states(&again), all_states(&first));
        assert_eq!(again.config().schedule, first.config().schedule);
        // A restored driver counts steps from 0, so its actions are those of a first step.
        let actions = first.actions.clone();
        ActionSource::Random.fill(&Codec::default(), 3, 0, &mut first.actions);
        assert_ne!(actions, first.actions);
        let range = FrameRange { frames: 0..8, draw_last: false };
        first.swarm.step_frames(&first.actions, &range).expect("a step");
        again.finish_step(false).expect("a step");
        assert_eq!(all_states(&again), all_states(&first));
    }

    #[test]
    fn held_buttons_stay_through_the_whole_step_and_in_no_other_env() {
        let (mut free, mut held) = (driver(24), driver(24));
        let pad = |env| Pad { env, controller: 0 };
        held.hold(pad(2), Some(button::UP | button::LEFT)).expect("an env");
        held.hold(pad(99), Some(button::A)).expect("an env that does not exist is ignored");
        for _ in 0..4 {
            free.finish_step(false).expect("a step");
            while held.steps_done() < free.steps_done() {
                held.advance(1, false).expect("a frame");
                let details = held.details(2).expect("an env");
                assert_eq!(
                    (details.step.buttons, details.step.action),
                    (button::UP | button::LEFT, None)
                );
            }
        }
        let (free, held) = (all_states(&free), all_states(&held));
        let differing: Vec<_> = (0..5).filter(|env| free[*env] != held[*env]).collect();
        assert_eq!(differing, [2]);
    }

    #[test]
    fn a_return_is_of_the_episode_that_the_programs_say() {
        let mut driver = driver(8);
        let (mut sum, mut was_over, mut episodes) = (0.0, false, 0);
        for _ in 0..40 {
            driver.finish_step(false).expect("a step");
            let details = driver.details(2).expect("an env");
            let (reward, done) =
                (details.step.reward.expect("a reward"), details.step.is_done == Some(true));
            if was_over && !done {
                (sum, episodes) = (0.0, episodes + 1);
            }
            if !(was_over && done) {
                sum += reward;
            }
            assert_eq!(details.step.episode_return, Some(sum));
            assert_eq!(driver.over(0..5).expect("envs").contains(&2), done);
            assert_eq!(
                details.observation.map(|(numbers, of)| (numbers[0], of)),
                Some((reward, 3))
            );
            was_over = done;
        }
        assert!(episodes > 2, "{episodes}");
        driver.reset().expect("a reset");
        assert_eq!(driver.details(2).expect("an env").step.episode_return, Some(0.0));
    }
}
