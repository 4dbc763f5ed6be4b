//! A swarm with its action source, stepped whole or in pieces so that somebody can watch: for `watch`, `play`, `record`
//! and `demo`.
//!
//! A step run in pieces ends in the very state of a step run whole. The swarm underneath takes joypad bits as actions,
//! so that hands on a keyboard may hold several buttons; the codec's actions are translated here.

use gbxcule_lab::action_source::ActionGen;
use gbxcule_swarm::{Codec, CpuState, NativeSwarm, Rom, Schedule, Stage, SwarmConfig, SwarmError};

use crate::run_options::RunOptions;

/// Frames a second of a real machine: 4,194,304 T-cycles, 70,224 of them to a frame.
pub(crate) const REAL_FRAMES_PER_S: f64 = 4_194_304.0 / 70_224.0;

/// Every combination of buttons: the action's number is the joypad's bits.
const JOYPAD: Codec = Codec { name: "joypad_bits", actions: &JOYPAD_ROWS };
const JOYPAD_ROWS: [(&str, u8); 256] = {
    let mut rows = [("BITS", 0); 256];
    let mut bits = 0_usize;
    while bits < rows.len() {
        rows[bits].1 = bits as u8;
        bits += 1;
    }
    rows
};

/// What drives a swarm.
#[derive(Debug, Clone)]
pub(crate) struct Drive {
    pub(crate) codec: Codec,
    pub(crate) schedule: Schedule,
    pub(crate) action_gen: ActionGen,
    pub(crate) seed: u64,
    pub(crate) stage: Stage,
}

impl Drive {
    /// What the command line says, with steps of so many frames.
    pub(crate) fn new(run: &RunOptions, frames_per_step: u32) -> anyhow::Result<Self> {
        run.check()?;
        Ok(Self {
            codec: run.codec,
            schedule: Schedule::new(frames_per_step, run.release_after_frames)?,
            action_gen: run.action_gen.clone(),
            seed: run.actions_seed,
            stage: run.stage,
        })
    }
}

/// What somebody who looks closely sees of one machine.
#[derive(Debug, Clone)]
pub(crate) struct Closely {
    pub(crate) cpu: CpuState,
    pub(crate) frames: u64,
    pub(crate) reward: Option<f32>,
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
    buttons: Vec<u8>,
    held: Vec<Option<u8>>,
}

impl Driver {
    pub(crate) fn new(rom: Rom, num_envs: usize, drive: Drive) -> Result<Self, SwarmError> {
        let config =
            SwarmConfig { codec: JOYPAD, stage: drive.stage, ..SwarmConfig::new(num_envs) };
        Ok(Self {
            swarm: NativeSwarm::new(rom, config)?,
            drive,
            step: 0,
            frame: 0,
            actions: vec![0; num_envs],
            buttons: vec![0; num_envs],
            held: vec![None; num_envs],
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
    }

    /// Run up to so many frames, but not past the end of the step nor past its release; says how many it were.
    pub(crate) fn advance(&mut self, most_frames: u32, draw: bool) -> Result<u32, SwarmError> {
        let (of, release) =
            (self.drive.schedule.frames_per_step(), self.drive.schedule.release_after_frames());
        if self.frame == 0 {
            let Drive { codec, action_gen, seed, .. } = &self.drive;
            action_gen.fill(*codec, *seed, self.step, &mut self.actions);
        }
        let whole = self.frame == 0 && most_frames >= of;
        let piece_end = if self.frame < release { of.min(release) } else { of };
        let frames = if whole { of } else { most_frames.clamp(1, piece_end - self.frame) };
        let pressed = self.frame < release;
        for (env, buttons) in self.buttons.iter_mut().enumerate() {
            let by_action = self.drive.codec.buttons(self.actions[env]).unwrap_or(0);
            *buttons = self.held[env].unwrap_or(if pressed { by_action } else { 0 });
        }
        // Whole: the step's own release. A piece has none, it ends where the release would come.
        let piece = Schedule::new(frames, if whole { release } else { frames })?;
        self.swarm.set_schedule(piece);
        self.swarm.set_draw_last(draw);
        self.swarm.step(&self.buttons)?;
        self.frame += frames;
        if self.frame == of {
            (self.step, self.frame) = (self.step + 1, 0);
        }
        Ok(frames)
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
        let held = self.held.get(env).copied().flatten();
        let action = self.drive.codec.actions.get(usize::from(self.actions[env]));
        Ok(Closely {
            cpu: self.swarm.cpu_state(env)?,
            frames: self.swarm.counters(env)?.frames,
            reward: self.drive.stage.owns_reward().then(|| self.swarm.rewards()[env]),
            action: action.filter(|_| held.is_none()).map(|(name, _)| *name),
            buttons: self.buttons[env],
            held: held.is_some(),
            memory: self.swarm.read_memory(env, 0xC000..0xC020)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_swarm::button;

    fn driver(frames_per_step: u32) -> Driver {
        let rom = gbxcule_roms::by_name("PEARL_DRIFT").expect("the game").bytes();
        let drive = Drive {
            codec: Codec::FULL_V1,
            schedule: Schedule::new(frames_per_step, 8).expect("a schedule"),
            action_gen: ActionGen::Random,
            seed: 3,
            stage: Stage::FullStep,
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
                assert_eq!(whole.swarm.rewards(), pieces.swarm.rewards());
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
}
