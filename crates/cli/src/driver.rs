//! A swarm with its action source, stepped whole or in pieces so that somebody can watch: for `watch`, `play`, `record`
//! and `demo`.
//!
//! A step run in pieces ends in the very state of a step run whole, what programs computed included. Hands on a keyboard
//! may hold several buttons of an env, through whole steps, instead of its actions.

use gbxcule_lab::action_source::ActionGen;
use gbxcule_swarm::{
    Codec, CpuState, NativeSwarm, Piece, Programs, Rom, Schedule, Stage, SwarmConfig, SwarmError,
};

use crate::run_options::RunOptions;

/// Frames a second of a real machine: 4,194,304 T-cycles, 70,224 of them to a frame.
pub(crate) const REAL_FRAMES_PER_S: f64 = 4_194_304.0 / 70_224.0;

/// What drives a swarm.
#[derive(Debug, Clone)]
pub(crate) struct Drive {
    pub(crate) codec: Codec,
    pub(crate) schedule: Schedule,
    pub(crate) action_gen: ActionGen,
    pub(crate) seed: u64,
    pub(crate) stage: Stage,
    pub(crate) programs: Programs,
}

impl Drive {
    /// What the command line says, with steps of so many frames and the built-in programs.
    pub(crate) fn new(run: &RunOptions, frames_per_step: u32) -> anyhow::Result<Self> {
        run.check()?;
        Ok(Self {
            codec: run.codec,
            schedule: Schedule::new(frames_per_step, run.release_after_frames)?,
            action_gen: run.action_gen.clone(),
            seed: run.actions_seed,
            stage: run.stage,
            programs: Programs::default(),
        })
    }

    /// The same with these programs; an observation of the user's is computed without being asked for twice.
    pub(crate) fn with(self, programs: Programs) -> Self {
        let observes = programs.obs().name() != "obs_v0";
        let stage = match self.stage {
            Stage::RewardOnly if observes => Stage::FullStep,
            stage => stage,
        };
        Self { stage, programs, ..self }
    }
}

/// Numbers of an observation that are shown.
const MOST_SHOWN: usize = 32;

/// What somebody who looks closely sees of one machine.
#[derive(Debug, Clone)]
pub(crate) struct Closely {
    pub(crate) cpu: CpuState,
    pub(crate) frames: u64,
    /// None in stages that have none.
    pub(crate) reward: Option<f32>,
    /// Of all steps of the episode, which ends when the programs say so and begins when they no longer do.
    pub(crate) episode_return: Option<f32>,
    /// None if the programs never say.
    pub(crate) is_done: Option<bool>,
    /// The first numbers of the observation, and how many there are.
    pub(crate) observation: Option<(Vec<f32>, usize)>,
    /// The action of the present step by its codec's name; none while hands hold the buttons.
    pub(crate) action: Option<&'static str>,
    /// The joypad bits pressed in the last frame.
    pub(crate) buttons: u8,
    pub(crate) held: bool,
    /// C000 to C01F.
    pub(crate) memory: Vec<u8>,
}

/// The swarm, and where in which step it is.
pub(crate) struct Driver {
    swarm: NativeSwarm,
    drive: Drive,
    step: u64,
    frame: u32,
    actions: Vec<u8>,
    /// The buttons of the step's actions, or those that hands hold.
    buttons: Vec<u8>,
    /// What is held down now.
    pressed: Vec<u8>,
    held: Vec<Option<u8>>,
    returns: Vec<f32>,
    over: Vec<bool>,
}

impl Driver {
    pub(crate) fn new(rom: Rom, num_envs: usize, drive: Drive) -> Result<Self, SwarmError> {
        let config = SwarmConfig {
            codec: drive.codec,
            stage: drive.stage,
            programs: drive.programs.clone(),
            ..SwarmConfig::new(num_envs)
        };
        Ok(Self {
            swarm: NativeSwarm::new(rom, config)?,
            drive,
            step: 0,
            frame: 0,
            actions: vec![0; num_envs],
            buttons: vec![0; num_envs],
            pressed: vec![0; num_envs],
            held: vec![None; num_envs],
            returns: vec![0.0; num_envs],
            over: vec![false; num_envs],
        })
    }

    pub(crate) fn num_envs(&self) -> usize {
        self.actions.len()
    }

    pub(crate) fn drive(&self) -> &Drive {
        &self.drive
    }

    /// Steps done.
    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    /// Frames done of the step that is under way.
    pub(crate) fn frame(&self) -> u32 {
        self.frame
    }

    /// All machines to their start; hands stay on their buttons.
    pub(crate) fn reset(&mut self) {
        self.swarm.reset(self.drive.seed);
        (self.step, self.frame) = (0, 0);
        self.returns.fill(0.0);
        self.over.fill(false);
    }

    /// Run up to so many frames, but not past the end of the step nor past its release; says how many it were.
    pub(crate) fn advance(&mut self, most_frames: u32, draw: bool) -> Result<u32, SwarmError> {
        let (of, release) =
            (self.drive.schedule.frames_per_step(), self.drive.schedule.release_after_frames());
        if self.frame == 0 {
            let Drive { codec, action_gen, seed, .. } = &self.drive;
            action_gen.fill(*codec, *seed, self.step, &mut self.actions);
        }
        // Hands do not let go where the schedule does.
        let is_held = self.held.iter().any(Option::is_some);
        let whole = self.frame == 0 && most_frames >= of && !is_held;
        let piece_end = if self.frame < release { of.min(release) } else { of };
        let frames = if whole { of } else { most_frames.clamp(1, piece_end - self.frame) };
        let is_pressed = self.frame < release;
        for env in 0..self.actions.len() {
            let by_action = self.drive.codec.buttons(self.actions[env]).unwrap_or(0);
            self.buttons[env] = self.held[env].unwrap_or(by_action);
            let by_schedule = if is_pressed { by_action } else { 0 };
            self.pressed[env] = self.held[env].unwrap_or(by_schedule);
        }
        // Whole: the step's own release. A piece has none, it ends where the release would come.
        let piece = Schedule::new(frames, if whole { release } else { frames })?;
        self.swarm.set_schedule(piece);
        self.swarm.set_draw_last(draw);
        let ends_step = self.frame + frames == of;
        self.swarm.step_piece(&Piece {
            actions: &self.actions,
            buttons: &self.buttons,
            pressed: &self.pressed,
            ends_step,
        })?;
        self.frame += frames;
        if ends_step {
            (self.step, self.frame) = (self.step + 1, 0);
            self.add_rewards();
        }
        Ok(frames)
    }

    fn add_rewards(&mut self) {
        let outputs = self.swarm.rewards().iter().zip(self.swarm.dones());
        for ((sum, over), (reward, done)) in
            self.returns.iter_mut().zip(&mut self.over).zip(outputs)
        {
            match (*over, *done) {
                (true, true) => {}
                (true, false) => *sum = *reward,
                (false, _) => *sum += *reward,
            }
            *over = *done;
        }
    }

    /// Whether the programs say that an env's episode is over.
    pub(crate) fn is_over(&self, env: usize) -> bool {
        self.over.get(env).copied().unwrap_or(false)
    }

    /// Run to the end of the step, drawing its last frame; says how many frames it took.
    pub(crate) fn finish_step(&mut self, draw: bool) -> Result<u32, SwarmError> {
        let mut frames = 0;
        loop {
            frames += self.advance(self.drive.schedule.frames_per_step(), draw)?;
            if self.frame == 0 {
                return Ok(frames);
            }
        }
    }

    /// Put hands on an env's buttons, or take them off; an env that does not exist has none.
    pub(crate) fn hold(&mut self, env: usize, buttons: Option<u8>) {
        if let Some(held) = self.held.get_mut(env) {
            *held = buttons;
        }
    }

    /// The last drawn frame of an env.
    pub(crate) fn picture(&self, env: usize) -> Result<&[u8], SwarmError> {
        self.swarm.frame(env)
    }

    /// Everything about one env.
    pub(crate) fn look_closely(&self, env: usize) -> Result<Closely, SwarmError> {
        let owns_reward = self.drive.stage.owns_reward();
        let held = self.held.get(env).copied().flatten();
        let action = self.drive.codec.actions.get(usize::from(self.actions[env]));
        Ok(Closely {
            cpu: self.swarm.cpu_state(env)?,
            frames: self.swarm.counters(env)?.frames,
            reward: owns_reward.then(|| self.swarm.rewards()[env]),
            episode_return: owns_reward.then(|| self.returns[env]),
            is_done: (owns_reward && self.drive.programs.has_done()).then(|| self.over[env]),
            observation: self.drive.stage.owns_observation().then(|| self.observation(env)),
            action: action.filter(|_| held.is_none()).map(|(name, _)| *name),
            buttons: self.pressed[env],
            held: held.is_some(),
            memory: self.swarm.read_memory(env, 0xC000..0xC020)?,
        })
    }

    fn observation(&self, env: usize) -> (Vec<f32>, usize) {
        let obs_dim = self.drive.programs.obs_dim();
        let numbers = &self.swarm.observations()[env * obs_dim..][..obs_dim];
        (numbers[..obs_dim.min(MOST_SHOWN)].to_vec(), obs_dim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_swarm::button;

    /// They see everything that a step tells them, and keep sums of it: run once too often, it shows.
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
        let rom = gbxcule_roms::by_name("PEARL_DRIFT").expect("the game").bytes();
        let drive = Drive {
            codec: Codec::FULL_V1,
            schedule: Schedule::new(frames_per_step, 8).expect("a schedule"),
            action_gen: ActionGen::Random,
            seed: 3,
            stage: Stage::FullStep,
            programs: programs(),
        };
        Driver::new(Rom::new(rom).expect("a ROM"), 5, drive).expect("a swarm")
    }

    fn everything(driver: &Driver) -> Vec<Vec<u8>> {
        let state = |env| driver.swarm.save_state(env).expect("an env");
        (0..driver.num_envs()).map(state).collect()
    }

    #[test]
    fn a_step_in_pieces_ends_like_a_step_at_once_and_like_a_swarm_with_the_codec() {
        for frames_per_step in [5, 8, 24] {
            let (mut whole, mut pieces) = (driver(frames_per_step), driver(frames_per_step));
            let rom = Rom::new(gbxcule_roms::by_name("PEARL_DRIFT").expect("the game").bytes());
            let config = SwarmConfig {
                schedule: whole.drive.schedule,
                draw_last: true,
                stage: Stage::FullStep,
                programs: programs(),
                ..SwarmConfig::new(5)
            };
            let mut swarm = NativeSwarm::new(rom.expect("a ROM"), config).expect("a swarm");
            let mut actions = [0; 5];
            for step in 0..12 {
                whole.finish_step(true).expect("a step");
                while pieces.step() == step {
                    pieces.advance(1 + (step as u32 % 3) * 3, true).expect("a piece");
                }
                ActionGen::Random.fill(Codec::FULL_V1, 3, step, &mut actions);
                swarm.step(&actions).expect("a step");
                assert_eq!(everything(&whole), everything(&pieces), "step {step}");
                let state = |env| swarm.save_state(env).expect("an env");
                assert_eq!(everything(&whole), (0..5).map(state).collect::<Vec<_>>());
                for driver in [&whole, &pieces] {
                    assert_eq!(driver.swarm.rewards(), swarm.rewards());
                    assert_eq!(driver.swarm.dones(), swarm.dones());
                    assert_eq!(driver.swarm.observations(), swarm.observations());
                }
                assert_eq!(whole.returns, pieces.returns);
            }
        }
    }

    #[test]
    fn hands_hold_their_env_through_the_whole_step_and_no_other() {
        let (mut free, mut held) = (driver(24), driver(24));
        held.hold(2, Some(button::UP | button::LEFT));
        held.hold(99, Some(button::A));
        for _ in 0..4 {
            free.finish_step(false).expect("a step");
            while held.step() < free.step() {
                held.advance(1, false).expect("a frame");
                assert_eq!(held.buttons[2], button::UP | button::LEFT);
            }
        }
        let (free, held) = (everything(&free), everything(&held));
        let differing: Vec<_> = (0..5).filter(|env| free[*env] != held[*env]).collect();
        assert_eq!(differing, [2]);
    }

    #[test]
    fn a_return_is_of_the_episode_that_the_programs_say() {
        let mut driver = driver(8);
        let (mut sum, mut was_over, mut episodes) = (0.0, false, 0);
        for _ in 0..40 {
            driver.finish_step(false).expect("a step");
            let closely = driver.look_closely(2).expect("an env");
            let (reward, done) = (closely.reward.expect("a reward"), closely.is_done == Some(true));
            if was_over && !done {
                (sum, episodes) = (0.0, episodes + 1);
            }
            if !(was_over && done) {
                sum += reward;
            }
            assert_eq!(closely.episode_return, Some(sum));
            assert_eq!(driver.is_over(2), done);
            assert_eq!(
                closely.observation.map(|(numbers, of)| (numbers[0], of)),
                Some((reward, 3))
            );
            was_over = done;
        }
        assert!(episodes > 2, "{episodes}");
        driver.reset();
        assert_eq!(driver.look_closely(2).expect("an env").episode_return, Some(0.0));
    }
}
