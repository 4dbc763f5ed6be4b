//! A `gbxcule watch` or `play` of the test's own, and the swarm with which it must agree.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use gbxcule_lab::action_source::ActionSource;
use gbxcule_swarm::{Codec, NativeSwarm, Programs, Rom, Schedule, Stage, SwarmConfig};

/// Time that is longer than any request takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// Waits until a condition holds, or fails with its name.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < DEADLINE, "{what}: waited in vain");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A server on a free port, ended with the test.
pub(crate) struct Serving {
    pub(crate) child: Child,
    /// `127.0.0.1:PORT`.
    pub(crate) address: String,
    /// Query after the address: a token, or nothing.
    pub(crate) query: String,
    _stdout: BufReader<ChildStdout>,
}

impl Serving {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::run(Command::new(env!("CARGO_BIN_EXE_gbxcule")).args(arguments))
    }

    /// Runs a command that serves.
    pub(crate) fn run(command: &mut Command) -> Self {
        let mut child =
            command.args(["--port", "0"]).stdout(Stdio::piped()).spawn().expect("the binary runs");
        let mut stdout = BufReader::new(child.stdout.take().expect("it was piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        let (_, rest) = line.split_once("http://").unwrap_or_else(|| panic!("no address: {line}"));
        let (address, rest) = rest.split_once('/').expect("an address ends with a slash");
        let query = rest.split_whitespace().next().unwrap_or_default();
        let query = if query.starts_with('?') { query.to_owned() } else { String::new() };
        Self { child, address: address.to_owned(), query, _stdout: stdout }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/{}", self.address, self.query)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // The test may have ended it already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Program for the game, for `--reward` and `--obs`: its numbers differ from machine to machine and
/// from step to step, so a step that runs it twice is noticed.
pub(crate) const TASK: &str = "\
import gbxcule as gb
import warp as wp

SCRATCH = 1
OBS_DIM = 40

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    scratch[0] += 0.5
    return scratch[0] + wp.float32(gb.read(machine, 0xC006))

@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.action(machine) < wp.uint8(4)

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    for at in range(40):
        obs[at] = wp.float32(gb.read(machine, 0xC000 + at)) + scratch[0]
";

/// Makes PEARL_DRIFT with a number of machines, after a number of steps of random actions, as
/// `watch` runs it by default.
pub(crate) fn expected_swarm(num_envs: usize, frames_per_step: u32, steps: u64) -> NativeSwarm {
    let mut swarm = fresh_swarm(num_envs, frames_per_step, Programs::default());
    for step in 0..steps {
        step_randomly(&mut swarm, step);
    }
    swarm
}

pub(crate) fn fresh_swarm(
    num_envs: usize,
    frames_per_step: u32,
    programs: Programs,
) -> NativeSwarm {
    fresh_swarm_of("PEARL_DRIFT", num_envs, frames_per_step, programs)
}

/// Writes a built-in game to a file. For a game that is given by its name, `watch` skips the title
/// and uses the buttons of the game's environments; for a file it does neither.
pub(crate) fn game_file(name: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".gb").tempfile().expect("a file");
    let game = gbxcule_assembler::by_name(name).expect("the game");
    std::fs::write(file.path(), game.bytes()).expect("a ROM");
    file
}

/// Makes AMBER_ROAD, a game for the Color, as [`expected_swarm`] makes PEARL_DRIFT.
pub(crate) fn expected_colors(num_envs: usize, frames_per_step: u32, steps: u64) -> NativeSwarm {
    let mut swarm = fresh_swarm_of("AMBER_ROAD", num_envs, frames_per_step, Programs::default());
    for step in 0..steps {
        step_randomly(&mut swarm, step);
    }
    swarm
}

pub(crate) fn fresh_swarm_of(
    rom: &str,
    num_envs: usize,
    frames_per_step: u32,
    programs: Programs,
) -> NativeSwarm {
    // `watch` presses a game that is given by its name as the game says: PEARL_DRIFT for a third of
    // the step.
    let press = if rom == "PEARL_DRIFT" { frames_per_step.div_ceil(3) } else { 8 };
    let rom = Rom::new(gbxcule_assembler::by_name(rom).expect("the game").bytes());
    let config = SwarmConfig {
        schedule: Schedule::new(frames_per_step, press).expect("a schedule"),
        stage: if programs.is_built_in() { Stage::RewardOnly } else { Stage::FullStep },
        programs,
        draw_last: true,
        ..SwarmConfig::new(num_envs)
    };
    NativeSwarm::new(rom.expect("a ROM"), config).expect("a swarm")
}

pub(crate) fn step_randomly(swarm: &mut NativeSwarm, step: u64) {
    let mut actions = vec![0; swarm.config().num_envs];
    ActionSource::Random.fill(&Codec::default(), 0, step, &mut actions);
    swarm.step(&actions).expect("a step");
}
